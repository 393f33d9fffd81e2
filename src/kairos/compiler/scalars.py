"""Numbers of the host that kernels load as data, so that one library serves for all their values.

By default an attribute is a constant of the kernel. One that had another value when a kernel of the same
core device was compiled before is data from then on, and so are the numbers among the arguments of a
call, and attributes that kernels assign. Which numbers are data depends only on the calls of this
process, not on what the cache holds: the same program always runs the same code.
"""

import struct
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from kairos.numeric import bool_, floating, generic, integer

__all__ = [
    "EVERY_NUMBER",
    "Changing",
    "ScalarSlot",
    "changing_of",
    "data_names",
    "every_number",
    "is_number",
    "kind_of",
    "numbers_given",
    "numbers_as_data",
    "patched",
]

_KINDS = ("bool", "int", "int32", "int64", "float")
"""Kinds of quoted numbers."""
EVERY_NUMBER = "*"
"""Stands for all numbers of an object, as `EVERY_NUMBER` of the compiler's `host.rs`."""
_WORD = range(-(1 << 31), 1 << 31)

_every_number = False


def numbers_as_data() -> None:
    """From now on all numbers in attributes of the user's objects are data, except declared kernel
    invariants: for a process that computes one of many calls, such as a point of a sweep, so that all have
    one library."""
    global _every_number
    _every_number = True


def every_number() -> bool:
    """Return whether `numbers_as_data` was called."""
    return _every_number


def is_number(value: Any) -> bool:
    """Return whether a value of the host is one number."""
    # Most values are none, and `generic` is asked faster than three classes.
    return isinstance(value, (int, float)) or (
        isinstance(value, generic) and isinstance(value, (bool_, integer, floating))
    )


class ScalarSlot(NamedTuple):
    """A number in a library on which nothing else in it depends."""

    object: int
    """Number of the object in the embedding map; 0: an argument of the call."""
    name: str
    """The attribute, or the number of the parameter."""
    offset: int
    code: str
    """Its format, as in `struct`."""

    @property
    def question(self) -> tuple[str, tuple]:
        """The query of the compiler that gives the number."""
        return ("attribute", (self.object, self.name)) if self.object else ("argument", (int(self.name),))


class Changing:
    """The attributes of objects that differ from call to call."""

    def __init__(self) -> None:
        self._read: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        """Object (kept alive, so that its identity stays unique), attribute, and last value."""
        self._changed: dict[int, set[str]] = {}

    def note_changes(self) -> None:
        """Note which attributes have another value than when a kernel was compiled last."""
        for (key, name), (obj, _, before) in self._read.items():
            if name in self._changed.get(key, ()):
                continue
            try:
                now = getattr(obj, name)
            except Exception:
                continue  # the compilation will report it
            if type(now) is type(before) and repr(now) != repr(before):
                self._changed.setdefault(key, set()).add(name)

    def remember(self, bridge: Any, places: Iterable[ScalarSlot]) -> None:
        """Note the values that a compilation has read, but for the numbers at `places`, which are data
        already."""
        free = {(place.object, place.name) for place in places}
        for (handle, name), value in bridge.read.items():
            if (handle, name) not in free:
                obj = bridge.embedding.retrieve_object(handle)
                self._read[id(obj), name] = (obj, name, value)

    def names(self, obj: Any) -> set[str]:
        """Return the attributes of an object that have changed."""
        return self._changed.get(id(obj), set())


def changing_of(core: Any) -> Changing:
    """Return the record of a core device; a fresh one if the object takes no attributes."""
    try:
        return vars(core).setdefault("_changing_numbers", Changing())
    except TypeError:
        return Changing()


def kind_of(answer: Any) -> tuple | None:
    """Return what a program depends on of a quoted number that is data; None for other values."""
    if not isinstance(answer, tuple) or not answer or answer[0] not in _KINDS:
        return None
    if answer[0] == "int":  # its width follows from the value
        value = answer[1]
        return ("int", 32 if value in _WORD else 33 if 0 <= value < 1 << 32 else 64)
    return answer[:1]


def patched(library: bytes, places: list[ScalarSlot], answers: dict[tuple, tuple]) -> bytes:
    """Return a library with other numbers: the answers of the host by query."""
    if not places:
        return library
    data = bytearray(library)
    for place in places:
        value = answers[place.question][1]
        if place.code == "i":
            value = (int(value) + (1 << 31)) % (1 << 32) - (1 << 31)
        struct.pack_into(f"<{place.code}", data, place.offset, value)
    return bytes(data)


def data_names(obj: Any, invariants: list[str], changing: Changing, libraries: tuple[str, ...]) -> list[str]:
    """Return the attributes of an object whose numbers are data. Those that the user has declared as
    invariants are not; `setattr_argument` has made arguments such, which does not count. `libraries`:
    folders of code that is not the user's."""
    arguments = getattr(obj, "__dict__", {}).get("_kernel_arguments", frozenset())
    if every_number():
        return [] if _is_of_library(type(obj), libraries) else [EVERY_NUMBER, *sorted(arguments)]
    return sorted(name for name in changing.names(obj) if name in arguments or name not in invariants)


def numbers_given(function: Any, first: int, args: list[tuple], kwargs: list[tuple[str, tuple]]) -> dict[int, tuple]:
    """Return the numbers among the quoted arguments of a function, by the number of the parameter; that of
    the first argument is `first`."""
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    given = [*enumerate(args, first), *((names.index(name), value) for name, value in kwargs if name in names)]
    return {number: value for number, value in given if kind_of(value)}


def _is_of_library(cls: type, libraries: tuple[str, ...]) -> bool:
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return isinstance(file, str) and file.startswith(libraries)
