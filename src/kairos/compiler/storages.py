"""Host arrays that share memory, such as views of one array: the device has that memory once, too.

A `Storage` is the memory of arrays that overlap; each of them is a part of it. What a kernel has stored
there is in all of them, and a part of it that a kernel gives to an attribute is again a view.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..numeric import ndarray, numpy

__all__ = ["Storage", "overlap", "part_of", "same_place", "storages_of"]

_ALWAYS = 1 << 16
_FACTOR = 4
_MOST = 4 << 20
"""Bytes of a storage: at most those of its arrays together, or `_ALWAYS`, or up to `_MOST` `_FACTOR` times those of
its arrays, since a view with large steps has most of its memory between its elements."""
_COMPARISONS = 10_000
"""Number of pairs of arrays of which is found out whether they have an element in common. All others whose
memory is intertwined are put together, which is right, too."""


class _Span(NamedTuple):
    """The memory of an array: addresses of its first and after its last byte."""

    key: int
    array: ndarray
    begin: int
    end: int


class Storage(NamedTuple):
    """Memory that several arrays share, as sent to the device."""

    begin: int
    memory: bytes
    arrays: dict[int, ndarray]
    """The arrays by number."""

    def place(self, array: ndarray) -> tuple[int, list[int] | None]:
        """Return the position of an array's first element, and its strides, in elements; None for the
        strides of one that is contiguous in row-major order."""
        strides = None if array.flags.c_contiguous else [step // array.itemsize for step in array.strides]
        return (_address(array) - self.begin) // array.itemsize, strides

    def parts(self, memory: Any) -> Iterator[tuple[int, ndarray]]:
        """Yield the number of each array with its elements in `memory`; arrays that may be written to first."""
        for key, array in sorted(self.arrays.items(), key=lambda item: not item[1].flags.writeable):
            offset = _address(array) - self.begin
            yield key, numpy.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def storages_of(arrays: dict[int, ndarray], strided: bool) -> list[Storage]:
    """Return the storages of those arrays that share elements with others. All their elements must be as
    the device has them. Without `strided`, arrays that are not contiguous in row-major order are apart."""
    alike: dict[tuple, list[_Span]] = {}
    for key, array in arrays.items():
        whole = all(step % array.itemsize == 0 for step in array.strides)
        if array.size and whole and (strided or array.flags.c_contiguous):
            begin, end = _bounds(array)
            alike.setdefault((array.dtype, begin % array.itemsize), []).append(_Span(key, array, begin, end))
    groups = itertools.chain.from_iterable(map(_overlapping, alike.values()))
    return [made for group in groups if (made := _storage(group)) is not None]


def _overlapping(spans: list[_Span]) -> list[list[_Span]]:
    """Return the groups of at least two arrays that are connected by common elements."""
    spans.sort(key=lambda span: (span.begin, -span.end))
    comparisons = itertools.count()
    groups: list[list[_Span]] = []
    current: list[tuple[list[_Span], list[_Span]]] = []
    # Groups that reach to the present place, each with its members that do.
    for span in spans:
        met, others = ([span], [span]), []
        for group, members in current:
            near = (other for other in reversed(members) if other.end > span.begin)
            if any(next(comparisons) > _COMPARISONS or overlap(other.array, span.array) for other in near):
                met = (_joined(group, met[0]), _joined(members, met[1]))
            elif members := [other for other in members if other.end > span.begin]:
                others.append((group, members))
            else:
                groups.append(group)
        current = [*others, met]
    return [group for group in itertools.chain(groups, (group for group, _ in current)) if len(group) > 1]


def _joined(one: list[_Span], two: list[_Span]) -> list[_Span]:
    """Return the members of two lists, in the larger of them."""
    large, small = (one, two) if len(one) >= len(two) else (two, one)
    large.extend(small)
    return large


def _storage(group: list[_Span]) -> Storage | None:
    """Return the storage of a group; None if it were too large."""
    begin, end = min(span.begin for span in group), max(span.end for span in group)
    own = sum(span.array.nbytes for span in group)
    if end - begin > max(own, _ALWAYS, min(_MOST, _FACTOR * own)):
        return None
    memory = bytearray(end - begin)
    storage = Storage(begin, b"", {span.key: span.array for span in group})
    for key, part in storage.parts(memory):
        part[...] = storage.arrays[key]
    return Storage(begin, bytes(memory), storage.arrays)


def overlap(one: ndarray, other: ndarray) -> bool:
    """Return whether two arrays have an element in common; True if that is too hard to tell."""
    try:
        return numpy.shares_memory(one, other, max_work=1000)
    except numpy.exceptions.TooHardError:
        return True


def part_of(known: ndarray | Storage, first: int, shape: tuple, strides: tuple | None) -> ndarray:
    """Return the part of a host array or storage that a kernel refers to: one of the host's arrays, or a view.
    The position of its first element, and its strides, count elements of the device's memory."""
    first, shape = int(first), tuple(map(int, shape))  # 32 bits are too few for addresses
    if strides is None:
        strides = tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))
    strides = tuple(map(int, strides))
    if isinstance(known, Storage):
        arrays = list(known.arrays.values())
        size = arrays[0].itemsize
        address, steps = known.begin + first * size, tuple(stride * size for stride in strides)
    else:
        arrays = [known]
        address, steps = _host_place(known, first, shape, strides)
    for array in arrays:
        if _place(array) == _normal(address, shape, steps, array.dtype):
            return array
    return _view(arrays, address, shape, steps)


def _host_place(known: ndarray, first: int, shape: tuple, strides: tuple) -> tuple[int, tuple]:
    """Return the address and the strides in bytes of a part of an array, of which the device has a copy in
    row-major order."""
    if not known.size:
        return _address(known), (known.itemsize,) * len(shape)

    def offset(position: int) -> int:
        place = numpy.unravel_index(position, known.shape)
        return sum(int(index) * step for index, step in zip(place, known.strides, strict=True))

    start = offset(first)
    steps = [
        offset(first + stride) - start if length > 1 else known.itemsize
        for length, stride in zip(shape, strides, strict=True)
    ]
    return _address(known) + start, tuple(steps)


def _view(arrays: list[ndarray], address: int, shape: tuple, steps: tuple) -> ndarray:
    """Return a view of memory that arrays have. Its base is theirs, if that is an array."""

    def has(array: ndarray) -> bool:
        begin, end = _bounds(array)
        return begin <= address < end

    array = next(filter(has, arrays), arrays[0])
    while isinstance(array.base, ndarray):
        array = array.base
    if array.flags.c_contiguous:
        return numpy.ndarray(shape, array.dtype, array, address - _address(array), steps)
    return numpy.asarray(_Memory(array, address, shape, steps))


class _Memory:
    """What NumPy makes a view of."""

    def __init__(self, base: ndarray, address: int, shape: tuple, steps: tuple) -> None:
        place = {"data": (address, not base.flags.writeable), "shape": shape, "strides": steps}
        self.__array_interface__ = {**base.__array_interface__, **place}
        self.base = base


def same_place(one: Any, other: Any) -> bool:
    """Return whether two objects are arrays of the same elements in memory."""
    arrays = isinstance(one, ndarray) and isinstance(other, ndarray)
    return arrays and one.size > 0 and _place(one) == _place(other)


def _place(array: ndarray) -> tuple:
    return _normal(_address(array), array.shape, array.strides, array.dtype)


def _normal(address: int, shape: tuple, steps: tuple, dtype: "numpy.dtype") -> tuple:
    """Return what describes a place in memory; strides of single elements mean nothing."""
    return address, shape, tuple(step if length > 1 else 0 for length, step in zip(shape, steps, strict=True)), dtype


def _bounds(array: ndarray) -> tuple[int, int]:
    """Return the addresses of the first byte of an array, and after its last."""
    reach = [step * (length - 1) for length, step in zip(array.shape, array.strides, strict=True)]
    begin = _address(array)
    return begin + sum(step for step in reach if step < 0), begin + sum(
        step for step in reach if step > 0
    ) + array.itemsize


def _address(array: ndarray) -> int:
    return array.__array_interface__["data"][0]
