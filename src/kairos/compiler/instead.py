"""What to use in kernels instead of functions that they lack."""

from typing import Any

from kairos import _native

__all__ = ["not_in_kernels"]

_INSTEAD = {"power": "the operator **", "pow": "the operator **"}
_INSTEAD |= {"round": "round(…)", "around": "round(…)", "amin": "numpy.min", "amax": "numpy.max"}
_INSTEAD |= {"degrees": "x * 180 / numpy.pi", "radians": "x * numpy.pi / 180", "gamma": "scipy.special.gamma"}
_INSTEAD |= {"lgamma": "scipy.special.gammaln", "fmod": "the operator %"}
"""Replacements for functions that kernels lack."""


def not_in_kernels(function: Any, name: str) -> str:
    """Return the message for a call of a function that computes, which kernels do not have."""
    module = (getattr(function, "__module__", None) or "numpy").partition(".")[0]
    text = f"{module}.{name} is not supported in kernels"
    supported = {attribute: f"{where}.{attribute}" for where, attribute, _ in _native.host_objects()}
    # `asin` of `math` is `arcsin` in NumPy.
    instead = supported.get(name) or supported.get(f"arc{name[1:]}") or _INSTEAD.get(name)
    if instead is None:
        import difflib  # imported late: needed for a message only

        near = difflib.get_close_matches(name, supported, 1, 0.85)
        instead = supported[near[0]] if near else None
    return f"{text}: use {instead.removeprefix('builtins.')}" if instead else f"{text}: compute it on the host"
