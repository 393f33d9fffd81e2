"""Host-side state of a compiled kernel: the objects and strings that the device refers to by number."""

import itertools
import math
from typing import Any

import numpy

from ..contracts.exceptions import PREALLOCATED

__all__ = ["EmbeddingMap"]


class EmbeddingMap:
    """Numbers for host objects (from 1) and for strings (from 0, the first ones fixed)."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._object_keys: dict[int, int] = {}
        self._next_object = itertools.count(1)
        self._contents: dict[int, Any] = {}
        self._memories: dict[int, bytes] = {}
        self._attributes: dict[tuple[int, str], Any] = {}
        self.assigned: frozenset[str] = frozenset()
        """Names of the attributes that the kernel assigns to."""
        self._strings: list[str] = list(PREALLOCATED)
        self._string_keys: dict[str, int] = {text: key for key, text in enumerate(PREALLOCATED)}

    def store_object(self, obj: Any) -> int:
        """Number of an object; the same object always has the same one."""
        key = self._object_keys.get(id(obj))
        if key is None:
            key = next(self._next_object)
            # Kept alive here, so that the identity stays its own.
            self._objects[key] = obj
            self._object_keys[id(obj)] = key
        return key

    def retrieve_object(self, key: int) -> Any:
        """The object with this number; KeyError if there is none."""
        return self._objects[key]

    def store_sequence(self, sequence: Any) -> int:
        """Number of a list, or of an array of text, whose elements the device gets as they are now."""
        key = self.store_object(sequence)
        self._contents.setdefault(key, sequence.copy())
        return key

    def store_array(self, array: numpy.ndarray, elements: numpy.dtype) -> int:
        """Number of an array of numbers, which the device gets as they are now, with elements of another type."""
        key = self.store_object(array)
        if key not in self._memories:
            memory = array.astype(elements, copy=False).tobytes()
            self._memories[key] = memory
            self._contents[key] = numpy.ndarray(array.shape, elements, memory)
        return key

    def memory(self, key: int) -> bytes:
        """Elements of an array in row-major order, as the device gets them; KeyError if there is no such array."""
        return self._memories[key]

    def remember_attribute(self, key: int, name: str, value: Any) -> None:
        """Notes what the attribute of an object was when the kernel was compiled, if it has elements."""
        if isinstance(value, list | tuple | bytearray | numpy.ndarray):
            self._attributes[key, name] = value

    def write_back(self, obj: Any, name: str, value: Any) -> None:
        """Gives the attribute of an object the value that it had on the device when the kernel ended.

        Elements that the kernel has changed are stored into the very list or array that it was
        given, wherever else the host refers to it; what host functions have stored to the others
        meanwhile stays. A list or array that the kernel has replaced by another one is a new one
        here too.
        """
        if isinstance(value, bytearray) and isinstance(getattr(obj, name, None), bytes):
            value = bytes(value)  # both arrive as what can be changed
        known = self._attributes.get((self._object_keys.get(id(obj), 0), name))
        if known is None or (name in self.assigned and not self._is_unchanged(known, value)):
            setattr(obj, name, value)
        else:
            self._update(known, value)

    def _original(self, sequence: Any) -> Any:
        """Elements of a list, array or tuple as the device got them."""
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
        # Host functions may have made the list shorter.
        for index, (old, new) in enumerate(zip(self._original(sequence), value, strict=True)):
            if isinstance(old, list | tuple | numpy.ndarray):
                if len(old) == len(new):
                    self._update(old, new)
                elif index < len(sequence):
                    sequence[index] = new
            elif index < len(sequence) and not _same(old, new):
                sequence[index] = new

    def store_str(self, text: str) -> int:
        """Number of a string."""
        key = self._string_keys.get(text)
        if key is None:
            key = len(self._strings)
            self._strings.append(text)
            self._string_keys[text] = key
        return key

    def retrieve_str(self, key: int) -> str:
        """The string with this number; IndexError if there is none."""
        if key < 0:
            raise IndexError(f"no string has the key {key}")
        return self._strings[key]


def _same(a: Any, b: Any) -> bool:
    """Whether two elements are equal; not a number is equal to itself here, and the zeros are two."""
    if a is b or (a != a and b != b):
        return True
    return bool(a == b) and (not isinstance(a, float) or a != 0 or math.copysign(1, a) == math.copysign(1, b))


def _changed(original: numpy.ndarray, value: numpy.ndarray) -> numpy.ndarray:
    """Which elements are not the same, as `_same` has it."""
    changed = (original != value) & ~((original != original) & (value != value))
    if value.dtype.kind == "f":
        changed |= (value == 0) & (numpy.signbit(original) != numpy.signbit(value))
    return changed
