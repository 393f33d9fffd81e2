"""Arguments of experiments: what a value may be, its default, and how it is described to a user interface.

A processor has ``default()`` (raises `DefaultMissing` if there is none), ``process(x)`` (checks and converts a
submitted value) and ``describe()`` (a dictionary with the class name under ``ty``). Values are in SI units;
``scale`` concerns their display only, and ``min`` and ``max`` are hints that are not enforced.
"""

from .language import units

__all__ = [
    "NoDefault",
    "DefaultMissing",
    "CancelledArgsError",
    "PYONValue",
    "BooleanValue",
    "EnumerationValue",
    "NumberValue",
    "StringValue",
]


class NoDefault:
    """Marks an argument or a dataset without a default value."""


class DefaultMissing(Exception):
    """An argument without a default was not given."""


class CancelledArgsError(Exception):
    """The user cancelled the request for interactive arguments."""


def unit_scale(unit: str) -> float:
    """Size of `unit` in SI base units; 1 for no unit, KeyError for an unknown one."""
    if unit == "":
        return 1.0
    if unit not in units.__all__:
        raise KeyError(f"Unit {unit} is unknown, you must specify the scale manually")
    return getattr(units, unit)


class _Processor:
    def __init__(self, default=NoDefault):
        if default is NoDefault:
            return
        if isinstance(default, list):
            raise NotImplementedError(f"{type(self).__name__} does not take a list of defaults")
        self.default_value = self.process(default)

    def default(self):
        if not hasattr(self, "default_value"):
            raise DefaultMissing
        return self.default_value

    def process(self, x):
        return x

    def describe(self) -> dict:
        description = {"ty": type(self).__name__}
        if hasattr(self, "default_value"):
            description["default"] = self.default_value
        return description


class PYONValue(_Processor):
    """Any value that PYON can express, lists included."""

    def __init__(self, default=NoDefault):
        if default is not NoDefault:
            self.default_value = default

    def process(self, x):
        from . import pyon

        return pyon.decode(x) if isinstance(x, str) else x

    def describe(self):
        from . import pyon

        description = {"ty": "PYONValue"}
        if hasattr(self, "default_value"):
            description["default"] = pyon.encode(self.default_value)
        return description


class BooleanValue(_Processor):
    """True or False, and nothing that merely looks like it."""

    def process(self, x):
        if not isinstance(x, bool):
            raise ValueError("Invalid BooleanValue value")
        return x


class EnumerationValue(_Processor):
    """One of the strings in `choices`."""

    def __init__(self, choices, default=NoDefault, quickstyle=False):
        self.choices = choices
        self.quickstyle = quickstyle
        super().__init__(default)

    def process(self, x):
        if x not in self.choices:
            raise ValueError("Invalid EnumerationValue value")
        return x

    def describe(self):
        return {**super().describe(), "choices": self.choices, "quickstyle": self.quickstyle}


class NumberValue(_Processor):
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
        if ndecimals is not None:
            precision = ndecimals
        if scale is None:
            scale = unit_scale(unit)
        if step is None:
            step = scale / 10.0
        self.unit, self.scale, self.step, self.min, self.max = unit, scale, step, min, max
        self.precision, self.type = precision, type
        integers_only = precision == 0 and int(step) == step and scale == 1
        if type not in ("auto", "int", "float"):
            raise TypeError('type must be "auto", "int" or "float"')
        if type == "int" and not integers_only:
            raise ValueError("An int NumberValue needs precision 0, an integer step and scale 1")
        self._is_int = type == "int" or (type == "auto" and integers_only)
        super().__init__(default)

    def process(self, x):
        return int(x) if self._is_int else float(x)

    def describe(self):
        names = ("unit", "scale", "step", "min", "max", "precision", "type")
        return {**super().describe(), **{name: getattr(self, name) for name in names}}


class StringValue(_Processor):
    """Text."""
