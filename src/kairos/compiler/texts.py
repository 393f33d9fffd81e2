"""Strings formatted on the host for kernels, exactly as by Python: f-strings and `str()`."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

__all__ = ["call_with_texts", "text_function"]


def text_function(template: str) -> Callable[..., str]:
    """A function that puts values into a template of `str.format`: what an f-string calls."""

    def format(*values: Any) -> str:
        return template.format(*map(_plain, values))

    return format


def call_with_texts(target: Callable, templates: Sequence[tuple[str, int] | None]) -> Callable:
    """A function that calls `target` with arguments of which those with a template are made of so many values."""

    def call(*values: Any, **keywords: Any) -> Any:
        left = iter(values)
        args = []
        for text in templates:
            if text is None:
                args.append(next(left))
            else:
                template, count = text
                args.append(template.format(*map(_plain, itertools.islice(left, count))))
        return target(*args, **keywords)

    return call


def _plain(value: Any) -> Any:
    """A number as Python writes it: the width of an integer is no part of its text."""
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value
