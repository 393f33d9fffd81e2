"""PYON: Python objects as text, an extended JSON with tuples, bytes, sets and NumPy arrays.

Version 2 is JSON in which ``{"__jsonclass__": [name, arguments]}`` represents types that JSON
lacks. Version 1 consists of Python literals and calls of a few names: ``(1, 2)``, ``'text'``,
``slice(0, 4, null)``, ``nparray((2, ), "<f8", b"...")``. It is what people type on a command line,
and what ARTIQ up to version 8 speaks.
"""

import contextlib
import itertools
import json
import math
import os
import re
import sys
from binascii import a2b_base64, b2a_base64
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..numeric import generic, ndarray, numpy
from .literals import number_of, value_of

__all__ = ["TooLarge", "beginning", "decode", "encode", "load_file", "store_file", "typed"]


SHOWN = 200
"""Maximum number of characters of invalid text in an error."""


def _named(value) -> str:
    """Return a value with its type; only the type if the value cannot be shown."""
    try:
        return f"{value!r} of type {type(value).__name__}"
    except Exception:  # of the user's __repr__
        return f"a value of type {type(value).__name__}"


def _wrap(name, *arguments):
    return {"__jsonclass__": [name, list(arguments)]}


_PLAIN = frozenset((type(None), bool, int, float, str))


def _to_json(value):
    if type(value) is list and _PLAIN.issuperset(map(type, value)):
        return value  # there may be millions
    if isinstance(value, generic):
        return _wrap("npscalar", value.dtype.str, _base64(value.data))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    if isinstance(value, tuple):
        return _wrap("tuple", [_to_json(item) for item in value])
    if isinstance(value, OrderedDict):
        return _wrap("OrderedDict", [[_to_json(k), _to_json(v)] for k, v in value.items()])
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and "__jsonclass__" not in value:
            return {key: _to_json(item) for key, item in value.items()}
        return _wrap("dict", [[_to_json(k), _to_json(v)] for k, v in value.items()])
    if isinstance(value, set):
        return _wrap("set", [_to_json(item) for item in value])
    if isinstance(value, complex):
        return _wrap("complex", value.real, value.imag)
    if isinstance(value, bytes | bytearray):
        return _wrap("bytes", _base64(value))
    if isinstance(value, slice):
        return _wrap("slice", value.start, value.stop, value.step)
    if _is_fraction(value):
        return _wrap("Fraction", value.numerator, value.denominator)
    if isinstance(value, ndarray) and not value.dtype.hasobject:
        data = _base64(numpy.ascontiguousarray(value).tobytes())
        return _wrap("nparray", list(value.shape), value.dtype.str, data)
    raise TypeError(f"{_named(value)} cannot be written as PYON")


def _to_json_cut(value, left: list[int]):
    """As `_to_json`, of so many parts that their text has more than `left` characters, if there are as many: what is
    lacking comes after those. Each part counts as the least that it may be."""
    left[0] -= 1

    def cut(items):
        for item in items:
            if left[0] < 0:
                return
            yield _to_json_cut(item, left)

    if isinstance(value, generic):
        return _to_json(value)
    if isinstance(value, str):
        text, left[0] = value[: max(left[0], 0) + 1], left[0] - len(value)
        return text
    if isinstance(value, list):
        return list(cut(value))
    if isinstance(value, tuple | set):
        return _wrap("tuple" if isinstance(value, tuple) else "set", list(cut(value)))
    if isinstance(value, dict):
        parts = list(cut(part for item in value.items() for part in item))
        items = list(itertools.zip_longest(parts[::2], parts[1::2]))
        if isinstance(value, OrderedDict) or "__jsonclass__" in value or not all(isinstance(key, str) for key in value):
            return _wrap("OrderedDict" if isinstance(value, OrderedDict) else "dict", [list(item) for item in items])
        return dict(items)
    if isinstance(value, bytes | bytearray):
        data, left[0] = value[: 3 * max(left[0], 1)], left[0] - len(value)
        return _wrap("bytes", _base64(data))
    if isinstance(value, ndarray) and not value.dtype.hasobject and value.nbytes > 3 * max(left[0], 1):
        first = value.flat[: max(left[0], 1) * 3].tobytes()  # each has a byte
        data, left[0] = first[: len(first) // 3 * 3], -1
        return _wrap("nparray", list(value.shape), value.dtype.str, _base64(data))
    return _to_json(value)


def _pairs(items):
    return [(key, value) for key, value in items]


def _integer(value):
    # Not text: that of a power of ten may stand for a number that fills the memory.
    if isinstance(value, int):
        return value
    raise TypeError(f"{type(value).__name__} where an integer is expected")


def _elements(dtype, data):
    elements = numpy.frombuffer(a2b_base64(data), dtype=dtype)
    if elements.dtype.kind in "UV":
        try:
            elements.tolist()
        except SystemError as error:  # a number that is no character
            raise ValueError(str(error)) from None
    return elements


_CLASSES = {
    "tuple": lambda items: tuple(items),
    "dict": lambda items: dict(_pairs(items)),
    "OrderedDict": lambda items: OrderedDict(_pairs(items)),
    "set": lambda items: set(items),
    "complex": lambda real, imaginary: complex(number_of(real), number_of(imaginary)),
    "bytes": lambda text: a2b_base64(text),
    "slice": slice,
    "Fraction": lambda numerator, denominator: _fraction(numerator, denominator),
    "nparray": lambda shape, dtype, data: _elements(dtype, data).reshape(shape).copy(),
    "npscalar": lambda dtype, data: _elements(dtype, data)[0],
}


def _object_hook(value):
    marker = value.get("__jsonclass__")
    if marker is None:
        return value
    match marker:
        case [str(name), list(arguments)] if name in _CLASSES:
            return _CLASSES[name](*arguments)
        case [name, *_]:
            raise ValueError(f"unknown PYON class {name!r}")
    raise ValueError(f"invalid PYON class {marker!r}")


def encode(value, version: int = 2, pretty: bool = False) -> str:
    """Return `value` as PYON text; TypeError if part of it cannot be represented.

    pretty: on several lines, for readers; version 1 has one line.
    """
    try:
        return _to_literal(value) if version == 1 else json.dumps(_to_json(value), indent=4 if pretty else None)
    except RecursionError:
        raise TypeError("a value that contains itself, or is nested too deeply, cannot be written as PYON") from None
    except ValueError as error:  # an integer of thousands of digits
        raise TypeError(f"cannot be written as PYON: {error}") from None


def beginning(value, count: int) -> str:
    """Return the first `count` characters of `encode(value)`, or all if it has fewer, without encoding the rest. For
    values that can be encoded."""
    return json.dumps(_to_json_cut(value, [count]))[:count]


def _items(values) -> str:
    return ", ".join(map(_to_literal, values))


def _base64(data: bytes | bytearray | memoryview) -> str:
    return b2a_base64(data, newline=False).decode()


def _bytes(data: bytes) -> str:
    return f'b"{_base64(data)}"'


def _is_fraction(value) -> bool:
    known = sys.modules.get("fractions")  # imported by whatever has made one
    return known is not None and isinstance(value, known.Fraction)


def _fraction(numerator, denominator):
    from fractions import Fraction  # imported late: it takes as long as all else here

    return Fraction(_integer(numerator), _integer(denominator))


def _quoted(text: str) -> str:
    """Return a literal in ASCII. JSON writes what is beyond 16 bits as two characters, which Python does not join."""
    if text.isascii() or max(text) <= "\uffff":
        return json.dumps(text)
    return '"' + "".join(json.dumps(c)[1:-1] if c <= "\uffff" else f"\\U{ord(c):08x}" for c in text) + '"'


_LITERALS: dict[type, Callable[[Any], str]] = {
    type(None): lambda value: "null",
    bool: lambda value: "true" if value else "false",
    int: repr,
    float: repr,
    complex: repr,
    str: lambda value: _quoted(value),
    bytes: repr,
    bytearray: lambda value: repr(bytes(value)),
    list: lambda value: f"[{_items(value)}]",
    tuple: lambda value: f"({_items(value)}, )" if value else "()",
    set: lambda value: f"{{{_items(value)}}}" if value else "set()",
    OrderedDict: lambda value: f"OrderedDict({_to_literal(list(value.items()))})",
    dict: lambda value: "{" + ", ".join(f"{_to_literal(k)}: {_to_literal(v)}" for k, v in value.items()) + "}",
    slice: lambda value: f"slice({_items((value.start, value.stop, value.step))})",
}
"""Texts of version 1, by type; of several types that fit a value, the first counts."""


def _to_literal(value) -> str:
    if isinstance(value, generic):
        return f"npscalar({json.dumps(value.dtype.str)}, {_bytes(value.tobytes())})"
    if isinstance(value, ndarray) and not value.dtype.hasobject:
        return f"nparray({_to_literal(value.shape)}, {json.dumps(value.dtype.str)}, {_bytes(value.tobytes())})"
    if _is_fraction(value):
        return f"Fraction({value.numerator}, {value.denominator})"
    text = _LITERALS.get(type(value)) or next(
        (text for kind, text in _LITERALS.items() if isinstance(value, kind)), None
    )
    if text is None:
        raise TypeError(f"{_named(value)} cannot be written as PYON")
    return text(value)


_TEXTS = re.compile(r"'[^']*'|\"[^\"]*\"")
_FRACTIONS = re.compile(r"(?<![\w.])(?=[\d_]*[.eE])[\d_]+\.?[\d_]*(?:[eE][+-]?\d+)?")


class TooLarge(ValueError):
    """A number such as 1e999 was typed, which is too large for a float and would be infinity."""


def typed(text: str):
    """Return the value of PYON text that a person has typed, as `decode`. ValueError, TooLarge."""
    for number in _FRACTIONS.findall(_TEXTS.sub("", text)):
        if _is_too_large(number):
            raise TooLarge(f"{number} is too large for a float; infinity is 'inf'")
    return decode(text)


def _is_too_large(number: str) -> bool:
    try:
        return math.isinf(float(number))
    except ValueError:
        return False  # as 1.2.3, which is none


def decode(text: str):
    """Return the value of PYON text, version 2 or 1; ValueError if it is neither."""
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "..."
    try:
        return json.loads(text, object_hook=_object_hook)
    except json.JSONDecodeError:
        pass
    except Exception as error:  # of a type whose arguments do not fit
        raise ValueError(f"not a PYON value: {shown} ({error})") from None
    try:
        return value_of(text, _NAMES, _CALLS)
    except (ValueError, SyntaxError, TypeError, LookupError, ArithmeticError, MemoryError, RecursionError):
        raise ValueError(f"not a PYON value: {shown}") from None


def store_file(filename, value):
    """Write `value` to a file, which is replaced only when all is written; TypeError, as of `encode`, or OSError."""
    text = encode(value, pretty=True)
    new = f"{os.fspath(filename)}.{os.getpid()}.new"
    try:
        with open(new, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
        os.replace(new, filename)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(new)
        raise


def load_file(filename):
    """Return the value in a file; ValueError if it is no PYON, OSError if the file cannot be read."""
    with open(filename, encoding="utf-8") as file:
        return decode(file.read())


_NAMES = {
    **dict.fromkeys(("null", "None"), None),
    **dict.fromkeys(("true", "True"), True),
    **dict.fromkeys(("false", "False"), False),
    "nan": float("nan"),
    "inf": float("inf"),
}
_CALLS = {
    "set": set,
    "slice": slice,
    "Fraction": _CLASSES["Fraction"],
    "OrderedDict": OrderedDict,
    "nparray": _CLASSES["nparray"],
    "npscalar": _CLASSES["npscalar"],
}
