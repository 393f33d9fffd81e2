"""Values as a reader sees them: numbers in their unit, labels of axes, long lists abbreviated.

The only place that knows what ``unit``, ``scale`` and ``precision`` of a dataset mean.
"""

from decimal import Decimal
from typing import Any, NamedTuple

from .terminal_text import plain

__all__ = ["Quantity", "label", "readable"]

SHOWN = 8
"""Number of elements shown of a longer list on a terminal."""
SUMMARISED = 1000
"""Number of elements from which on NumPy abbreviates an array."""


def label(name: str, unit: str = "") -> str:
    """Return the label of an axis, as in ``time / µs``."""
    return f"{name} / {unit}" if unit else name


class Quantity(NamedTuple):
    """How numbers are displayed: divided by `scale`, with `precision` digits after the decimal
    point (None: as many as needed), followed by `unit`."""

    unit: str = ""
    scale: float = 1.0
    precision: int | None = None

    @classmethod
    def of(cls, metadata) -> "Quantity":
        """Return the quantity of a dataset with these metadata; those without a meaning are
        ignored."""
        found = {name: _item(metadata.get(name)) for name in cls._fields}
        scale, precision = found["scale"], found["precision"]
        return cls(
            found["unit"] if isinstance(found["unit"], str) else "",
            scale if isinstance(scale, int | float) and scale else 1.0,
            precision if isinstance(precision, int) and precision >= 0 else None,
        )

    def scaled(self, value):
        """Return a number or an array of numbers in the unit; anything else is unchanged."""
        if self.scale == 1.0:
            return value
        import numpy  # imported late: it takes 0.1 s, and few values have a scale

        try:
            return numpy.divide(value, self.scale)
        except (TypeError, ValueError):
            return value

    def unscaled(self, value):
        """Return a number that is given in the unit in base units. ValueError if it is no number."""
        number = _item(value)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError("a value in a unit is a number")
        if self.scale == 1.0:
            return value
        # By their decimal digits: 4 ns are 4e-09, and not the product of two roundings.
        return float(Decimal(repr(number)) * Decimal(repr(float(self.scale))))

    def label(self, name: str) -> str:
        """Return the label of an axis."""
        return label(name, self.unit)

    def text(self, value, brief: bool) -> str:
        """Return a value with its unit, as in ``48.5 us``. `brief`: long lists abbreviated, of which only the
        elements that are shown are looked at."""
        if brief and isinstance(value, list | tuple) and len(value) > SHOWN:
            plain_numbers = Quantity(scale=self.scale)
            parts = [plain_numbers.text(part, brief) for part in _ends(value, brief)]
            return f"{_abbreviated(value, parts)} {self.unit}".rstrip()
        if brief and self.scale != 1.0 and getattr(value, "size", 0) > SUMMARISED:
            return f"{self._summary(value)} {self.unit}".rstrip()
        shown = self.scaled(value)
        if self.scale != 1.0 and self.precision is None:
            shown = _rounded(shown)
        elif self.precision is not None and isinstance(_item(shown), float):
            return f"{shown:.{self.precision}f} {self.unit}".rstrip()
        return f"{readable(shown, brief)} {self.unit}".rstrip()

    def _summary(self, values) -> str:
        """Return the text of an array that NumPy abbreviates."""
        import numpy  # as above

        digits = numpy.get_printoptions()["precision"] if self.precision is None else self.precision
        try:
            numbers = {"all": lambda each: f"{each / self.scale:.{digits}g}"}
            return numpy.array2string(values, formatter=numbers)
        except (TypeError, ValueError):  # no numbers
            return readable(values, True)


def _item(value):
    """Return a NumPy number as a plain one."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _rounded(values):
    """Remove the digits that come from dividing by a scale."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list):
        return [_rounded(value) for value in values]
    return float(f"{values:.15g}") if isinstance(values, float) else values


def readable(value: Any, brief: bool) -> str:
    """Format a value for a reader: NumPy numbers as plain numbers. `brief`: long lists abbreviated.
    A value that cannot be formatted is named by its type; control characters are escaped."""
    try:
        return plain(_readable(value, brief))
    except Exception as error:  # raised by methods of the value: it may be anything
        return f"<{type(value).__name__}, which has no text: {type(error).__name__}>"


def _readable(value, brief: bool) -> str:
    if isinstance(value, list | tuple):
        left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
        parts = [_readable(part, brief) for part in _ends(value, brief)]
        if brief and len(value) > SHOWN:
            return _abbreviated(value, parts)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{left}{', '.join(parts)}{comma}{right}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_readable(part, brief)}" for key, part in value.items()) + "}"
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return repr(value.item())
    if hasattr(value, "tolist"):
        return str(value) if brief else _readable(value.tolist(), brief)
    return repr(value) if not isinstance(value, str) else value


def _abbreviated(value: list | tuple, parts: list[str]) -> str:
    """Return the text of a long list, of whose ends these are the texts."""
    left, right = ("[", "]") if isinstance(value, list) else ("(", ")")
    shown = [*parts[: SHOWN // 2], "...", *parts[SHOWN // 2 :]]
    return f"{left}{', '.join(shown)}{right} ({len(value):,} elements)"


def _ends(value, brief: bool):
    return value if not brief or len(value) <= SHOWN else [*value[: SHOWN // 2], *value[-SHOWN // 2 :]]
