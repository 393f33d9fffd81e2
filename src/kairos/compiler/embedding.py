"""Host-side state of a compiled kernel: the objects and strings that the device refers to by number."""

import itertools
import math
import sys
from enum import Enum
from typing import Any

from ..contracts.exceptions import PREALLOCATED
from ..exceptions.names import classes_of_firmware, device_class
from ..numeric import generic, ndarray, numpy
from .storages import Storage, overlap, part_of, same_place, storages_of

__all__ = ["EmbeddingMap", "ImpossibleValue"]

_HOST_EXCEPTIONS = 32
"""How many exceptions of host functions are kept: more than a kernel can have in flight (10)."""


class ImpossibleValue(ValueError):
    """A value that was sent to be written back, which no kernel sends."""


class EmbeddingMap:
    """Numbers for host objects (from 1) and for strings (from 0, the first ones predefined)."""

    _warned: set[str] = set()
    """Warnings that this process has given: an experiment may run a kernel many times."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._object_keys: dict[int, int] = {}
        self._next_object = itertools.count(1)
        self._contents: dict[int, Any] = {}
        self._memories: dict[int, bytes] = {}
        self._storages: dict[int, int] = {}
        """The storage of each array that shares memory with others, by number."""
        self._owners: dict[int, list[int]] = {}
        """Numbers of the arrays whose memory is that of one object, by its `id`."""
        self._attributes: dict[tuple[int, str], Any] = {}
        self._made: dict[Any, Any] = {}
        """Lists and arrays that the kernel has made, by the numbers with which they are described."""
        self.errors: list[Exception] = []
        """Errors of writing back, which must be raised when the kernel has ended."""
        self.calls_host = False
        """Whether the kernel may call host functions, which have numbers of NumPy as arguments."""
        self._strings: list[str] = list(PREALLOCATED)
        self._string_keys: dict[str, int] = {text: key for key, text in enumerate(PREALLOCATED)}
        self._exceptions: dict[int, type] = dict(enumerate(classes_of_firmware()))
        """Classes of the exceptions that the kernel names, and of those of the firmware, by key."""
        self._by_base: tuple[int, dict[type | None, list[int]]] = 0, {}
        """The keys of these by each of their base classes, for so many of them."""
        self._caught: dict[type | None, int] = {}
        """Classes in `except` clauses, with numbers."""
        self._host_exceptions: dict[tuple[int, int], BaseException] = {}
        """The newest exceptions of host functions, by the keys of their name and message."""

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

    def store_array(self, array: ndarray, elements: "numpy.dtype") -> int:
        """Return the number of a numeric array, and store a copy of the elements that the device
        gets, converted to the given type."""
        key = self.store_object(array)
        if key not in self._memories:
            memory = array.astype(elements, copy=False).tobytes()
            self._memories[key] = memory
            self._contents[key] = numpy.ndarray(array.shape, elements, memory)
            self._owners.setdefault(_owner(array), []).append(key)
        return key

    def memory(self, key: int) -> bytes:
        """Return the elements of an array in row-major order, or of a storage, as sent to the device;
        KeyError if there is no such array."""
        return self._memories[key]

    def shared(self, keys: list[int], strided: bool) -> list[tuple[int, int, int, list[int] | None]]:
        """Return those of the arrays that share memory, with the numbers of their storages, the positions of
        their first elements there, and the strides of those that are not contiguous (see `storages_of`)."""
        self._storages = {}
        arrays = {key: self._objects[key] for key in keys}
        alike = {key: array for key, array in arrays.items() if array.dtype == self._contents[key].dtype}
        found = []
        for storage in storages_of(alike, strided):
            number = self.store_object(storage)
            self._memories[number] = storage.memory
            for key, array in storage.arrays.items():
                self._storages[key] = number
                found.append((key, number, *storage.place(array)))
        return found

    def parts(self, key: int) -> list[int]:
        """Return the arrays that are parts of a storage."""
        found = self._objects.get(key)
        return list(found.arrays) if isinstance(found, Storage) else []

    def remember_attribute(self, key: int, name: str, value: Any) -> None:
        """Record the value of an object's attribute at compile time, if it has elements."""
        if isinstance(value, (list, tuple, bytearray, ndarray)):
            self._attributes[key, name] = value

    def write_back(self, target: Any, name: str, value: Any, tag: bytes | None = None) -> None:
        """Do on the host what a kernel did: give the attribute of an object its value on the device at
        the end of the kernel, or, without a name, store the elements of a list, array or bytearray.

        With a tag, lists and arrays in the value are described by the numbers of the host's: see
        `described_tag` of the compiler's `emit/write_back.rs`. Only what the kernel has changed is
        stored, so that values which host functions have stored meanwhile are kept. Errors, of a
        property for instance, are kept in `errors`; ImpossibleValue for a value that no kernel sends.
        """
        try:
            if name:
                self._set(target, name, value, tag)
            else:
                self._update(target, self._contents_of(value, tag))
        except (IndexError, TypeError, ValueError) as error:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            if place is not None and place.tb_frame.f_code.co_filename == __file__:
                raise ImpossibleValue(f"{name or 'a list'} cannot have the value that was sent ({error})") from None
            self.errors.append(error)
        except Exception as error:
            self.errors.append(error)

    def _set(self, target: Any, name: str, value: Any, tag: bytes | None) -> None:
        if tag is not None:
            value, _ = self._resolved(value, tag, 0)
            known = self._attributes.get((self._object_keys.get(id(target), 0), name), _GONE)
            if _has_gone(value) or _identical(known, value):
                return
        elif isinstance(value, bytearray) and isinstance(getattr(target, name, None), bytes):
            value = bytes(value)  # both arrive as a mutable type
        elif isinstance(value, (int, generic)) and isinstance(member := getattr(target, name, None), Enum):
            value = _member(type(member), value)
        setattr(target, name, value)

    def _contents_of(self, value: Any, tag: bytes) -> Any:
        if isinstance(value, list):
            return [self._resolved(element, tag, 1)[0] for element in value]
        return value

    def _resolved(self, value: Any, tag: bytes, at: int) -> tuple[Any, int]:
        """Return a described value with the host's lists and arrays, and the position after its tag,
        which begins at `at`."""
        kind = tag[at : at + 1]
        if kind == b"t":
            members, at = [], at + 2
            for member in value:
                resolved, at = self._resolved(member, tag, at)
                members.append(resolved)
            return tuple(members), at
        if kind == b"l":
            number, elements = value
            known = self._known(number)
            if known is None:
                known = self._made[number] = []
                for element in elements:
                    known.append(self._resolved(element, tag, at + 1)[0])
            return known, _end(tag, at)
        if kind == b"A":
            number, content = value
            known = self._known(number)
            return (self._once(number, content) if known is None else known), at + 1
        if kind == b"a":
            number, first, shape, *strides, content = value
            known = self._known(number)
            if known is not None and known is not _GONE:
                known = part_of(known, first, shape, strides[0] if strides else None)
            elif known is None:
                known = self._once((number, tuple(shape), *strides), content)
            return known, _end(tag, at)
        return value, _end(tag, at)

    def _known(self, number: int) -> Any:
        """Return the host's list or array of a number, or a new list that has been made; None for another new
        one."""
        if number < _GONE_NUMBER:
            return self._made.get(number)
        return self._objects[number] if number >= 0 else _GONE

    def _once(self, number: Any, content: Any) -> Any:
        """Return the one object that stands for new contents at a place in memory."""
        # Those without elements take no memory, so that others may be at the same place.
        return self._made.setdefault(number, content) if len(content) else content

    def _update(self, sequence: Any, value: Any) -> None:
        if isinstance(sequence, Storage):
            for key, part in sequence.parts(value):
                self._update_array(sequence.arrays[key], self._contents[key], part)
            return
        original = self._contents.get(self._object_keys[id(sequence)], sequence)
        if isinstance(sequence, ndarray):
            self._update_array(sequence, original, value)
            return
        for index, (old, new) in enumerate(zip(original, value, strict=True)):
            # Host functions may have shortened the list.
            if index < len(sequence) and not _has_gone(new) and not _identical(old, new):
                sequence[index] = new

    def _update_array(self, array: ndarray, original: ndarray, value: ndarray) -> None:
        changed = _changed(original, value)
        if not array.flags.writeable:
            changed &= _changed(array, value)  # unless it has been written to as a part of another one
        if not changed.any():
            return
        if not array.flags.writeable:
            name = self._name_of(self._object_keys[id(array)])
            self.errors.append(ValueError(f"assignment destination is read-only: a kernel stored in {name}"))
            return
        self._warn_of_views(array)
        if array.dtype.kind in "iu":
            limits = numpy.iinfo(array.dtype)
            wrong = changed & ((value < limits.min) | (value > limits.max))
            if wrong.any():
                # What fits is kept, as on the host.
                text = f"Python integer {value[wrong][0]} out of bounds for {array.dtype}"
                self.errors.append(OverflowError(f"{text}: a kernel stored it in the host's array"))
                changed &= ~wrong
        array[changed] = value[changed]

    def _warn_of_views(self, array: ndarray) -> None:
        """Warn if a kernel that has stored in this array also has another view of its memory: on the device
        they are separate arrays."""
        own = self._object_keys[id(array)]
        for key in self._owners.get(_owner(array), ()):
            other = self._objects[key]
            together = key == own or own in self._storages and self._storages[own] == self._storages.get(key)
            if not together and overlap(array, other):
                one, two = sorted((self._name_of(own), self._name_of(key)))
                text = (
                    f"warning: {one} and {two} share memory on the host, but a kernel has them as separate arrays: "
                    "what it stored in one, it did not see in the other; keep the whole array and slice it in the "
                    "kernel"
                )
                if text not in self._warned:
                    self._warned.add(text)
                    print(text, file=sys.stderr)

    def _name_of(self, key: int) -> str:
        """Return the attribute that holds an array."""
        array = self._objects[key]
        for (holder, name), value in self._attributes.items():
            if value is array:
                return f"{type(self._objects[holder]).__name__}.{name}"
        return f"an array of shape {array.shape}"

    def store_str(self, text: str) -> int:
        """Return the number of a string."""
        key = self._string_keys.get(text)
        if key is None:
            key = len(self._strings)
            self._strings.append(text)
            self._string_keys[text] = key
        return key

    def store_exception(self, name: str, cls: type) -> int:
        """Return the key of an exception class that the kernel names, as the string `name`."""
        key = self.store_str(name)
        self._exceptions.setdefault(key, cls)
        return key

    def exception_class(self, key: int) -> type | None:
        """Return the class of this key, if the kernel names it or the firmware raises it."""
        return device_class(PREALLOCATED[key]) if 0 <= key < len(PREALLOCATED) else self._exceptions.get(key)

    def keep_host_exception(self, name: int, message: int, error: BaseException) -> None:
        """Keep the exception of a host function, which the kernel may raise again."""
        kept = self._host_exceptions
        kept.pop((name, message), None)
        kept[name, message] = error
        if len(kept) > _HOST_EXCEPTIONS:
            del kept[next(iter(kept))]

    def host_exception(self, name: int, message: int) -> BaseException | None:
        """Return the newest exception of a host function that was sent with these keys."""
        return self._host_exceptions.get((name, message))

    def caught(self, key: int | None) -> tuple[list[int] | None, int]:
        """Return what `except` with the class of this key catches: keys of the known classes, or
        None for all exceptions, and the class's number in `classes_caught`.

        Without a key: what `except Exception` does not catch.
        """
        cls = None if key is None else self._exceptions[key]
        number = self._caught.setdefault(cls, len(self._caught))
        if cls is BaseException:
            return None, number
        return self._caught_by(cls), number

    def _caught_by(self, cls: type | None) -> list[int]:
        """Return the keys of the exceptions that are caught with a class."""
        # A program may have many classes and many clauses.
        known, found = self._by_base
        for key in list(self._exceptions)[known:] if known < len(self._exceptions) else ():
            bases = self._exceptions[key].__mro__
            for base in bases if Exception in bases else (*bases, None):
                found.setdefault(base, []).append(key)
        self._by_base = len(self._exceptions), found
        return list(found.get(cls, ()))

    def classes_caught(self, cls: type) -> tuple[int, int, int]:
        """Return, as bits of three 64-bit integers, the numbers of the classes that the kernel
        catches and of which `cls` is a subclass."""
        bits = sum(1 << number for base, number in self._caught.items() if _is_caught(cls, base))
        words = (bits >> 64 * place & (1 << 64) - 1 for place in range(3))
        return tuple(word - (word >> 63 << 64) for word in words)

    def retrieve_str(self, key: int) -> str:
        """Return the string with this number; IndexError if there is none."""
        if key < 0:
            raise IndexError(f"no string has the key {key}")
        return self._strings[key]


def _member(cls: type[Enum], value: Any) -> Any:
    """Return the member of this number, which kernels have in its place; a number that is none as it is."""
    try:
        return cls(value)
    except ValueError:
        return value


def _is_caught(cls: type, base: type | None) -> bool:
    """Return whether a class is a subclass of another one, or, without one, none of `Exception`."""
    return Exception not in cls.__mro__ if base is None else base in cls.__mro__


_VALUES = (int, float, str, bytes, range, generic)
"""Types whose values have no identity for a kernel."""


_GONE_NUMBER = -1
"""What a list of a kernel that ended in an exception is described with; new ones have numbers below."""


class _Gone:
    """Stands for a list of a kernel that ended in an exception."""


_GONE = _Gone()


def _has_gone(value: Any) -> bool:
    return value is _GONE or (isinstance(value, tuple | list) and any(map(_has_gone, value)))


def _identical(a: Any, b: Any) -> bool:
    """Return whether two elements are the same: the same object, or equal if they have no identity."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_identical, a, b))
    return a is b or (isinstance(a, _VALUES) and isinstance(b, _VALUES) and _same(a, b)) or same_place(a, b)


def _owner(array: Any) -> int:
    """Return the `id` of the object that has the memory of an array, of which it may be a view."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return id(array)


def _end(tag: bytes, at: int) -> int:
    """Return the position after the type that begins at `at` of a tag."""
    kind = tag[at : at + 1]
    if kind in b"lr":
        return _end(tag, at + 1)
    if kind == b"a":
        return _end(tag, at + 2)
    if kind == b"t":
        end = at + 2
        for _ in range(tag[at + 1]):
            end = _end(tag, end)
        return end
    return at + 1


def _same(a: Any, b: Any) -> bool:
    """Return whether two elements are equal; here NaN equals itself, and the two zeros differ."""
    if a is b or (a != a and b != b):
        return True
    return bool(a == b) and (not isinstance(a, float) or a != 0 or math.copysign(1, a) == math.copysign(1, b))


def _changed(original: ndarray, value: ndarray) -> ndarray:
    """Return a mask of the elements that differ in the sense of `_same`."""
    changed = (original != value) & ~((original != original) & (value != value))
    if value.dtype.kind == "f":
        changed |= (value == 0) & (numpy.signbit(original) != numpy.signbit(value))
    return changed
