"""Strings formatted on the host for kernels, exactly as by Python: f-strings, `str()`, and what is printed."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from kairos.numeric import generic

__all__ = ["call_with_texts", "printed", "text_function"]


def printed(*values: Any, **options: Any) -> None:
    """`print` of a kernel."""
    print(*map(_plain, values), **options)


printed.__name__ = printed.__qualname__ = "print"


def text_function(template: str) -> Callable[..., str]:
    """Return a function that inserts values into a template of `str.format`: the implementation of
    an f-string."""

    def format(*values: Any) -> str:
        return template.format(*map(_plain, values))

    return format


def call_with_texts(target: Callable, templates: Sequence[tuple[str, int] | None]) -> Callable:
    """Return a function that calls `target`; arguments with a template are formatted from the given
    number of values."""

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
    """Convert numbers to plain Python numbers: the width of an integer is not part of its text."""
    if isinstance(value, generic):
        return value.item()
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value
