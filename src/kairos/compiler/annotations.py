"""Converts type annotations of host functions to the compiler's tuples."""

import types
import typing
from collections.abc import Callable
from typing import Any

from kairos.language.types import KernelType
from kairos.numeric import int32, int64, stand_in

__all__ = ["QuotingError", "read_annotation"]


class QuotingError(Exception):
    """A host object cannot be used in a kernel; the text is a sentence for the user."""


_PLAIN = {None: "none", type(None): "none", bool: "bool", float: "float", str: "str", bytes: "bytes"}
_PLAIN |= {bytearray: "bytearray", int32: "int32", int64: "int64"}


def read_annotation(annotation: Any, function: Callable, subject: str) -> tuple:
    """Convert an annotation of `function` to a tuple; `subject` names the annotated object in errors."""
    if isinstance(annotation, str):
        try:
            value = eval(annotation, function.__globals__)
        except Exception as error:
            raise QuotingError(
                f"type annotation for {subject}, '{annotation}', cannot be evaluated: {error}"
            ) from error
        return read_annotation(value, function, subject)
    if isinstance(annotation, types.FunctionType) and annotation.__module__ == KernelType.__module__:
        annotation = annotation()  # `TList` for `TList()`
    if isinstance(annotation, KernelType):
        dims = (annotation.num_dims,) if annotation.kind == "array" else ()
        return (annotation.kind, *(read_annotation(arg, function, subject) for arg in annotation.args), *dims)
    if annotation is int:
        raise QuotingError(
            f"type annotation for {subject}, 'int' cannot be used as an ARTIQ type. Use numpy's int32 or int64 instead."
        )
    try:
        if (plain := stand_in(annotation)) in _PLAIN:
            return (_PLAIN[plain],)
    except TypeError:
        pass
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (list, tuple) and args and Ellipsis not in args:
        return (origin.__name__, *(read_annotation(arg, function, subject) for arg in args))
    raise QuotingError(f"type annotation for {subject}, '{annotation!r}', is not an ARTIQ type")
