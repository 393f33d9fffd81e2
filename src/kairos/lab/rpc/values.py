"""Values as messages, and as text for people."""

import json
import math
import numbers
from typing import Any

import numpy

from ... import pyon
from ...language import units
from ..values import encoded
from .protocol import message

__all__ = ["argument", "dataset", "from_json", "in_unit", "number", "text_of", "value"]

SHORT = 1024
"""Bytes up to which a value is sent without having been asked for."""
MOST_DIGITS = 100
TEXT = 80
"""Characters of a value's text."""


def value(given):
    """Return the message Value."""
    kind, dtype, shape, data = encoded(given)
    if not isinstance(dtype, str):
        # A structure, which a page cannot show otherwise.
        return message("Value", kind="repr", data=repr(given).encode(errors="replace"))
    return message("Value", kind=kind, dtype=dtype, shape=shape, data=data)


def text_of(given) -> str:
    """Return a value as a short text: itself, or type and shape if it is long."""
    if isinstance(given, numpy.ndarray):
        if given.size > 8:
            return f"{given.dtype}[{' × '.join(map(str, given.shape))}]"
        given = given.tolist()
    if isinstance(given, list | tuple | dict | set) and len(given) > 8:
        return f"{type(given).__name__} of {len(given)}"
    if isinstance(given, numpy.generic):
        given = given.item()
    text = given if isinstance(given, str) else f"{given:.9g}" if isinstance(given, float) else repr(given)
    return text if len(text) <= TEXT else text[: TEXT - 1] + "…"


def dataset(entry, whole: bool, rid: int | None = None):
    """Return the message Dataset for (persist, value, metadata); `whole`: with the value, however
    long it is; `rid`: of the run that has set it."""
    persist, given, metadata = entry
    found = message(
        "Dataset",
        persist=bool(persist),
        text=text_of(given),
        unit=str(metadata.get("unit") or ""),
        scale=number(metadata.get("scale"), 0.0),
        precision=_digits(number(metadata.get("precision"), -1.0)),
        shape=_shape(given),
        rid=rid,
    )
    if whole or _is_short(given):
        made = value(given)
        if whole or len(made.data) <= SHORT:
            found.value.CopyFrom(made)
    return found


def _shape(given) -> tuple[int, ...]:
    """Return the shape of numbers; a list counts as such if its first element does, which may be a list."""
    if isinstance(given, numpy.ndarray):
        return given.shape if given.dtype.kind in "biuf" else ()
    if isinstance(given, list):
        inner = _shape(given[0]) if given else ()
        return (len(given), *inner) if inner or not given or isinstance(given[0], numbers.Real) else ()
    return ()


def _is_short(given) -> bool:
    """Return whether a value may be short, without encoding a long one."""
    if isinstance(given, numpy.ndarray):
        return given.nbytes <= SHORT
    return not hasattr(given, "__len__") or len(given) <= SHORT


def number(given, default):
    """Return a number, or `default` for what is none."""
    try:
        return default if given is None else float(given)
    except (TypeError, ValueError, OverflowError):
        return default


def _digits(precision: float) -> int:
    """Return a number of digits, -1 for none that makes sense."""
    return int(precision) if 0 <= precision <= MOST_DIGITS else -1


def in_unit(metadata: dict, unit: str) -> dict:
    """Return the metadata of a dataset in another unit: with the scale of that, or none if it is unknown."""
    kept = dict(metadata)
    if unit != kept.get("unit"):
        kept.pop("scale", None)
        if unit in units.__all__:
            kept["scale"] = getattr(units, unit)
    return {**kept, "unit": unit}


def argument(name: str, described: dict, group, tooltip):
    """Return the message Argument."""
    return message(
        "Argument",
        name=name,
        description=json.dumps(_plain(described), allow_nan=False),
        group=group or "",
        tooltip=tooltip or "",
    )


def _plain(given) -> Any:
    """Return what JSON can express of a description."""
    if isinstance(given, numpy.ndarray):
        given = given.tolist()
    if isinstance(given, numpy.generic):
        given = given.item()
    if isinstance(given, float) and not math.isfinite(given):
        return None
    if given is None or isinstance(given, bool | int | float | str):
        return given
    if isinstance(given, dict):
        return {str(key): _plain(part) for key, part in given.items()}
    if isinstance(given, list | tuple | set | range):
        return [_plain(part) for part in given]
    try:
        return pyon.encode(given)
    except TypeError:
        return repr(given)


def from_json(arguments) -> dict:
    """Return arguments that were given as JSON by name, in the order of their names: those of a message have none.
    ValueError that names a wrong one."""
    found = {}
    for name, text in sorted(arguments.items()):
        try:
            found[name] = json.loads(text)
        except ValueError as error:
            raise ValueError(f"argument {name} is no JSON: {error}") from None
    return found
