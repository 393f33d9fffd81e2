"""Host-side state of a compiled kernel: the objects and strings that the device refers to by number."""

import itertools
import math
from typing import Any

import numpy

from ..contracts.exceptions import PREALLOCATED

__all__ = ["EmbeddingMap"]


class EmbeddingMap:
    """Numbers for host objects (from 1) and for strings (from 0, the first ones predefined)."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._object_keys: dict[int, int] = {}
        self._next_object = itertools.count(1)
        self._contents: dict[int, Any] = {}
        self._memories: dict[int, bytes] = {}
        self._attributes: dict[tuple[int, str], Any] = {}
        self.assigned: frozenset[str] = frozenset()
        """Names of the attributes that the kernel assigns."""
        self._strings: list[str] = list(PREALLOCATED)
        self._string_keys: dict[str, int] = {text: key for key, text in enumerate(PREALLOCATED)}

    def store_object(self, obj: Any) -> int:
        """Return the number of an object; the same object always has the same number."""
        key = self._object_keys.get(id(obj))
        if key is None:
            key = next(self._next_object)
            # Kept alive here, so that its identity stays unique.
            self._objects[key] = obj
            self._object_keys[id(obj)] = key
        return key

    def retrieve_object(self, key: int) -> Any:
        """Return the object with this number; KeyError if there is none."""
        return self._objects[key]

    def store_sequence(self, sequence: Any) -> int:
        """Return the number of a list, or of an array of text, and store a copy of the elements
        that the device gets."""
        key = self.store_object(sequence)
        self._contents.setdefault(key, sequence.copy())
        return key

    def store_array(self, array: numpy.ndarray, elements: numpy.dtype) -> int:
        """Return the number of a numeric array, and store a copy of the elements that the device
        gets, converted to the given type."""
        key = self.store_object(array)
        if key not in self._memories:
            memory = array.astype(elements, copy=False).tobytes()
            self._memories[key] = memory
            self._contents[key] = numpy.ndarray(array.shape, elements, memory)
        return key

    def memory(self, key: int) -> bytes:
        """Return the elements of an array in row-major order, as sent to the device; KeyError if
        there is no such array."""
        return self._memories[key]

    def remember_attribute(self, key: int, name: str, value: Any) -> None:
        """Record the value of an object's attribute at compile time, if it has elements."""
        if isinstance(value, list | tuple | bytearray | numpy.ndarray):
            self._attributes[key, name] = value

    def write_back(self, obj: Any, name: str, value: Any) -> None:
        """Set the attribute of an object to its value on the device at the end of the kernel.

        Elements changed by the kernel are stored into the original list or array, so other
        references to it see them; elements that host functions have stored meanwhile are kept
        unless the kernel changed them. A list or array that the kernel has replaced is replaced on
        the host too.
        """
        if isinstance(value, bytearray) and isinstance(getattr(obj, name, None), bytes):
            value = bytes(value)  # both arrive as a mutable type
        known = self._attributes.get((self._object_keys.get(id(obj), 0), name))
        if known is None or (name in self.assigned and not self._is_unchanged(known, value)):
            setattr(obj, name, value)
        else:
            self._update(known, value)

    def _original(self, sequence: Any) -> Any:
        """Return the elements of a list, array or tuple as sent to the device."""
        return self._contents.get(self._object_keys.get(id(sequence), 0), sequence)

    def _is_unchanged(self, sequence: Any, value: Any) -> bool:
        if isinstance(sequence, list | tuple | bytearray):
            original = self._original(sequence)
            return len(original) == len(value) and all(map(self._is_unchanged, original, value))
        if isinstance(sequence, numpy.ndarray):
            original = self._original(sequence)
            return original.shape == numpy.shape(value) and not _changed(original, value).any()
        return _same(sequence, value)

    def _update(self, sequence: Any, value: Any) -> None:
        if isinstance(sequence, numpy.ndarray):
            changed = _changed(self._original(sequence), value)
            sequence[changed] = value[changed]
            return
        # Host functions may have shortened the list.
        for index, (old, new) in enumerate(zip(self._original(sequence), value, strict=True)):
            if isinstance(old, list | tuple | numpy.ndarray):
                if len(old) == len(new):
                    self._update(old, new)
                elif index < len(sequence):
                    sequence[index] = new
            elif index < len(sequence) and not _same(old, new):
                sequence[index] = new

    def store_str(self, text: str) -> int:
        """Return the number of a string."""
        key = self._string_keys.get(text)
        if key is None:
            key = len(self._strings)
            self._strings.append(text)
            self._string_keys[text] = key
        return key

    def retrieve_str(self, key: int) -> str:
        """Return the string with this number; IndexError if there is none."""
        if key < 0:
            raise IndexError(f"no string has the key {key}")
        return self._strings[key]


def _same(a: Any, b: Any) -> bool:
    """Return whether two elements are equal; here NaN equals itself, and the two zeros differ."""
    if a is b or (a != a and b != b):
        return True
    return bool(a == b) and (not isinstance(a, float) or a != 0 or math.copysign(1, a) == math.copysign(1, b))


def _changed(original: numpy.ndarray, value: numpy.ndarray) -> numpy.ndarray:
    """Return a mask of the elements that differ in the sense of `_same`."""
    changed = (original != value) & ~((original != original) & (value != value))
    if value.dtype.kind == "f":
        changed |= (value == 0) & (numpy.signbit(original) != numpy.signbit(value))
    return changed
