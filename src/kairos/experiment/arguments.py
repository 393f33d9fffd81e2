"""Arguments of experiments: permitted values, defaults, and descriptions for user interfaces.

A kind of argument is declared by three things: the values it accepts, their conversion, and the
fields that describe it to a user interface. Defaults and descriptions are derived from these in
:class:`Processor`. Values are in SI units; ``scale`` concerns their display only. The limits
``min`` and ``max`` hold for what a person types; a program that submits may give other values, as in ARTIQ.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .. import pyon
from ..language import units

__all__ = [
    "ArgumentError",
    "BooleanValue",
    "CancelledArgsError",
    "DefaultMissing",
    "EnumerationValue",
    "NoDefault",
    "NumberValue",
    "PYONValue",
    "Processor",
    "StringValue",
    "beyond",
    "display_of",
    "quantity",
]


class NoDefault:
    """Marks an argument or a dataset without a default value."""


class ArgumentError(ValueError):
    """An argument was given a value that is not permitted."""


class DefaultMissing(Exception):
    """An argument without a default was not given."""


class CancelledArgsError(Exception):
    """The user cancelled the request for interactive arguments."""


def display_of(unit: str, scale, step, precision, ndecimals) -> dict[str, Any]:
    """Return the display settings of a number: `scale`, `step` and `precision`.

    Defaults for None: the scale of the unit (KeyError for an unknown one), and a tenth of the scale
    for the step. `ndecimals` is the former name of `precision`.
    """
    if scale is None:
        if unit not in ("", *units.__all__):
            raise KeyError(f"Unit {unit} is unknown, you must specify the scale manually")
        scale = getattr(units, unit) if unit else 1.0
    return {
        "scale": scale,
        "step": scale / 10.0 if step is None else step,
        "precision": precision if ndecimals is None else ndecimals,
    }


class Processor:
    """Base of the kinds of arguments. `offer` holds the fields for a user interface, also set as
    attributes.

    Subclasses define validation in :meth:`accepts` and conversion in :meth:`converted`.
    """

    def __init__(self, default=NoDefault, **offer):
        vars(self).update(offer)
        self._offer = tuple(offer)
        self._defaults = () if default is NoDefault else self._read_default(default)

    def _read_default(self, default) -> tuple:
        """Return the defaults, the initial one first; most kinds have one."""
        if isinstance(default, list):
            raise NotImplementedError(f"{type(self).__name__} does not take a list of defaults")
        return (self.process(default),)

    def accepts(self, x) -> bool:
        """Return whether `x` is a value of this kind."""
        return True

    def converted(self, x):
        """Convert the value `x` for the experiment."""
        return x

    def process(self, x):
        """Validate and convert a given value; ValueError if it is not accepted."""
        if not self.accepts(x):
            raise ValueError(f"Invalid {type(self).__name__} value")
        return self.converted(x)

    def typed(self, text: str):
        """Parse `text` from a command line, for :meth:`process`: PYON. ValueError if it is invalid, or
        beyond the limits of the argument."""
        try:
            return pyon.typed(text)
        except pyon.TooLarge:
            raise
        except ValueError:
            raise ValueError("it is not a PYON value; text needs quotes, as in '\"text\"'") from None

    def hint(self) -> str:
        """Return a hint on the input format for a prompt; empty if it is obvious."""
        return ""

    def default(self):
        """Return the default value; `DefaultMissing` if there is none."""
        for value in self._defaults:
            return value
        raise DefaultMissing

    def describe(self) -> dict:
        """Return a description for a user interface: the class name as ``ty``, ``default`` if any,
        and the fields."""
        default = {"default": self._shown_default()} if self._defaults else {}
        return {"ty": type(self).__name__, **default, **{name: getattr(self, name) for name in self._offer}}

    def _shown_default(self):
        return self._defaults[0]


class PYONValue(Processor):
    """Any value that PYON can express, including lists. Text is decoded, a default is used
    unchanged."""

    def _read_default(self, default):
        return (default,)

    def converted(self, x):
        return pyon.decode(x) if isinstance(x, str) else x

    def _shown_default(self):
        return pyon.encode(self._defaults[0])


class BooleanValue(Processor):
    """True or False; values that merely compare equal to them are rejected."""

    def accepts(self, x):
        return isinstance(x, bool)

    def typed(self, text):
        """Parse ``true`` or ``false``, in the spelling of PYON or Python."""
        words = {"true": True, "false": False}
        if text.strip().lower() not in words:
            raise ValueError(f"it is {self.hint()}")
        return words[text.strip().lower()]

    def hint(self):
        return "true or false"


class EnumerationValue(Processor):
    """One of the strings in `choices`."""

    def __init__(self, choices, default=NoDefault, quickstyle=False):
        super().__init__(default, choices=choices, quickstyle=quickstyle)

    def accepts(self, x):
        return x in self.choices

    def process(self, x):
        if not self.accepts(x):
            raise ValueError(f"Invalid {type(self).__name__} value: it is one of {', '.join(map(str, self.choices))}")
        return x

    def typed(self, text):
        return text if text in self.choices else _text(text)

    def hint(self):
        return ", ".join(map(str, self.choices))


class NumberValue(Processor):
    """A number; an int for ``type="int"``, or if ``type="auto"`` and precision, step and scale leave only integers."""

    def __init__(
        self,
        default=NoDefault,
        unit="",
        *,
        scale=None,
        step=None,
        min=None,
        max=None,
        precision=2,
        type="auto",
        ndecimals=None,
    ):
        display = display_of(unit, scale, step, precision, ndecimals)
        self._number = _number_type(type, **display)
        super().__init__(default, unit=unit, **display, min=min, max=max, type=type)

    def typed(self, text):
        number = quantity(text, self.unit)
        if isinstance(number, int | float) and (problem := beyond(number, self.min, self.max, self.scale, self.unit)):
            raise ValueError(f"it is {problem}")
        return number

    def hint(self):
        return f"in {self.unit}: 2{self.unit}" if self.unit else ""

    def converted(self, x):
        number = self._number(x)
        if self._number is int and number != x:
            raise ValueError(f"{x} is not an integer")
        return number


ROUNDED = 1e-12
"""A share of a limit by which a number may miss it: it has been multiplied by its scale."""


def beyond(number, low, high, scale, unit: str) -> str:
    """Return which of the limits `low` and `high` (None: there is none) a number misses, such as ``above
    60 us``; empty if it keeps them."""

    def shown(limit) -> str:
        return f"{limit / scale:.12g} {unit}".rstrip()

    if low is not None and number < low - abs(low) * ROUNDED:
        return f"below {shown(low)}"
    if high is not None and number > high + abs(high) * ROUNDED:
        return f"above {shown(high)}"
    if number != number and not (low is None and high is None):
        return "not a number that can be compared with its limits"
    return ""


def _number_type(wanted: str, scale, step, precision) -> Callable:
    """Return the conversion for numbers of the type `wanted`: "auto", "int" or "float"."""
    integers_only = not precision and scale == 1 and step == int(step)
    makers = {"auto": int if integers_only else float, "int": int, "float": float}
    if wanted not in makers:
        raise TypeError('type must be "auto", "int" or "float"')
    if wanted == "int" and not integers_only:
        raise ValueError("An int NumberValue needs precision 0, an integer step and scale 1")
    return makers[wanted]


class StringValue(Processor):
    """Text."""

    def typed(self, text):
        return _text(text)


def _text(text: str):
    """Return typed text, without surrounding quotes if there are any."""
    try:
        value = pyon.decode(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


_QUANTITY = re.compile(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*\*?\s*([A-Za-z]+)")


def quantity(text: str, like: str = ""):
    """Parse a number that may have a unit: ``5``, ``-2.5e3``, ``20 us``, ``80*MHz``. ValueError if it is invalid, or in
    a unit of another kind than `like`."""
    try:
        return pyon.typed(text)
    except pyon.TooLarge:
        raise
    except ValueError:
        pass  # with a unit, then
    if match := _QUANTITY.fullmatch(text.strip()):
        number, unit = match.groups()
        if unit not in units.__all__:
            raise ValueError(f"'{unit}' is not a unit; use one of {', '.join(units.__all__)}")
        if units.base_of(like) not in (None, units.base_of(unit)):
            raise ValueError(f"{unit} is no unit for a value in {like}")
        with suppress(ValueError):
            return float(pyon.typed(number)) * getattr(units, unit)
    raise ValueError("it is not a number with an optional unit, such as 20us")
