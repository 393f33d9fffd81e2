"""PYON: Python objects as text, an extended JSON with tuples, bytes, sets and NumPy arrays.

Version 2 is JSON in which ``{"__jsonclass__": [name, arguments]}`` represents types that JSON
lacks. Version 1, Python literals, is still accepted, because people type it on a command line:
``(1, 2)``, ``'text'``, ``True``.
"""

import ast
import base64
import json
from collections import OrderedDict
from fractions import Fraction

import numpy

__all__ = ["encode", "decode"]


def _wrap(name, *arguments):
    return {"__jsonclass__": [name, list(arguments)]}


def _to_json(value):
    if isinstance(value, numpy.generic):
        return _wrap("npscalar", value.dtype.str, base64.b64encode(value.data).decode())
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
        return _wrap("bytes", base64.b64encode(value).decode())
    if isinstance(value, slice):
        return _wrap("slice", value.start, value.stop, value.step)
    if isinstance(value, Fraction):
        return _wrap("Fraction", value.numerator, value.denominator)
    if isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
        data = base64.b64encode(numpy.ascontiguousarray(value).tobytes()).decode()
        return _wrap("nparray", list(value.shape), value.dtype.str, data)
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be written as PYON")


def _pairs(items):
    return [(key, value) for key, value in items]


_CLASSES = {
    "tuple": lambda items: tuple(items),
    "dict": lambda items: dict(_pairs(items)),
    "OrderedDict": lambda items: OrderedDict(_pairs(items)),
    "set": lambda items: set(items),
    "complex": complex,
    "bytes": lambda text: base64.b64decode(text),
    "slice": slice,
    "Fraction": Fraction,
    "nparray": lambda shape, dtype, data: numpy.frombuffer(base64.b64decode(data), dtype=dtype).reshape(shape).copy(),
    "npscalar": lambda dtype, data: numpy.frombuffer(base64.b64decode(data), dtype=dtype)[0],
}


def _object_hook(value):
    marker = value.get("__jsonclass__")
    if marker is None:
        return value
    name, arguments = marker
    try:
        constructor = _CLASSES[name]
    except KeyError:
        raise ValueError(f"unknown PYON class {name!r}") from None
    return constructor(*arguments)


def encode(value) -> str:
    """Return `value` as PYON version 2 text; TypeError if part of it cannot be represented."""
    return json.dumps(_to_json(value))


def decode(text: str):
    """Return the value of PYON text, version 2 or 1; ValueError if it is neither."""
    try:
        return json.loads(text, object_hook=_object_hook)
    except json.JSONDecodeError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(f"not a PYON value: {text}") from None
