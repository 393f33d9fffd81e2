"""Values in a journal: typed bytes wherever NumPy has a type, text otherwise.

A value is encoded as (kind, type, shape, bytes), so that a million points are neither converted to
text nor back. Decoding gives an equal value of the same Python type.
"""

import math
import numbers
from typing import Any, NamedTuple

import numpy
from numpy.lib.format import descr_to_dtype, dtype_to_descr

from .. import pyon

__all__ = ["Encoded", "Undecodable", "decoded", "encoded", "finite", "is_plain", "size_of"]

LARGEST = 1 << 63
"""Integers from here on have no type of NumPy."""


class Undecodable(ValueError):
    """The bytes of a journal are no value."""


class Encoded(NamedTuple):
    """A value as bytes."""

    kind: str
    """``array``, ``scalar``; ``floats``, ``ints``, ``bools``, ``scalars``: lists of one type;
    ``pyon`` and ``repr``: text."""
    dtype: Any
    """Description of the type, as in a NumPy file; empty for text."""
    shape: list[int]
    data: bytes


_LISTS = {float: ("floats", "<f8"), int: ("ints", "<i8"), bool: ("bools", "|b1")}
_ELEMENTS = {"floats": "f", "ints": "i", "bools": "b"}


def finite(value) -> float | None:
    """Return a number as databases have it; None for what is none, not finite, or an integer beyond all of them."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def is_plain(value) -> bool:
    """Return whether a value is a number that many of its kind may be appended with in one record."""
    return type(value) in _LISTS or isinstance(value, numpy.generic)


def size_of(value) -> int:
    """Return how many bytes an encoded value has at least, without encoding it."""
    if isinstance(value, numpy.ndarray):
        return 0 if value.dtype.hasobject else value.nbytes
    return len(value) if isinstance(value, str | bytes | list) else 0


def encoded(value) -> Encoded:
    """Encode a value. One that PYON cannot express becomes the text of its `repr`."""
    if isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
        return Encoded("array", dtype_to_descr(value.dtype), list(value.shape), value.tobytes())
    if isinstance(value, numpy.generic) and not value.dtype.hasobject:
        return Encoded("scalar", dtype_to_descr(value.dtype), [], value.tobytes())
    if type(value) is list and value and (typed := _list(value)) is not None:
        return typed
    try:
        return Encoded("pyon", "", [], pyon.encode(value).encode())
    except Exception:  # also by methods of the value
        return Encoded("repr", "", [], _described(value).encode(errors="backslashreplace"))


def _list(values: list) -> Encoded | None:
    """Encode a list whose elements have one type; None for others."""
    kind = type(values[0])
    if any(type(value) is not kind for value in values):
        return None
    if kind in _LISTS:
        name, dtype = _LISTS[kind]
        if kind is int and not all(-LARGEST <= value < LARGEST for value in values):
            return None
    elif isinstance(values[0], numpy.generic) and not values[0].dtype.hasobject:
        # Texts and structures of one class may differ in type.
        if any(value.dtype != values[0].dtype for value in values):
            return None
        name, dtype = "scalars", values[0].dtype
    else:
        return None
    array = numpy.array(values, dtype=dtype)
    return Encoded(name, dtype_to_descr(array.dtype), list(array.shape), array.tobytes())


def _described(value) -> str:
    try:
        return repr(value)
    except Exception as error:  # raised by the value
        return f"<{type(value).__name__} without text: {type(error).__name__}>"


def decoded(value: Encoded):
    """Decode a value; Undecodable."""
    try:
        return _decoded(value)
    except Undecodable:
        raise
    except Exception as error:  # whatever a library raises for bytes that make no sense
        raise Undecodable(f"{type(error).__name__}: {error}") from None


def _decoded(value: Encoded):
    if value.kind == "pyon":
        return pyon.decode(value.data.decode())
    if value.kind == "repr":
        return value.data.decode()
    array = numpy.frombuffer(value.data, descr_to_dtype(_description(value.dtype))).reshape(value.shape)
    if value.kind == "array":
        return array.copy()
    if value.kind == "scalar":
        return array[()]
    if value.kind == "scalars":
        return list(array)
    if value.kind in _ELEMENTS:
        return array.tolist()
    raise Undecodable(f"there is no kind of value {value.kind!r}")


def _description(dtype):
    """Return the description of a structure with tuples, which a journal stores as lists."""
    if isinstance(dtype, list):
        return [tuple(_description(part) if at == 1 else _shape(part) for at, part in enumerate(f)) for f in dtype]
    return dtype


def _shape(part):
    return tuple(part) if isinstance(part, list) else part
