"""Calibrations: experiments that measure parameters of a laboratory, which are persistent datasets.

An experiment declares in ``build`` which parameters it sets, how long their values are valid, and by
which rule a new value is accepted. A laboratory executes calibrations in the order in which they
need one another (`kairos.lab.calibrations`); without one the rule is applied at once.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

__all__ = ["ON_FAILURE", "Calibration", "Parameters", "Rule", "condition"]

ON_FAILURE = ("stop", "continue", "end")
"""What becomes of calibrations that need one which has failed: they are not run; they are run with
the old value; no further calibration is run, even those that do not need it."""

_CONDITION = r"\s*([^\s<>=!]+)\s*(<=|>=|!=|==|=|<|>)\s*([^<>=!\s].*?)\s*"
_COMPARISONS: dict[str, Callable] = {
    "=": lambda one, other: one == other,
    "==": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class Rule(NamedTuple):
    """By which rule a new value of a parameter is accepted."""

    validity: float | None = None
    """Seconds for which a value is valid; None: without limit."""
    minimum: float | None = None
    maximum: float | None = None
    change: float | None = None
    """Largest change, as a fraction of the value before."""
    by_hand: bool = False
    """Whether every value waits until a person accepts it."""

    def objection(self, value, before=None) -> str | None:
        """Return why a value is not accepted without a person; None if it is. `before`: the value
        before, None if there is none."""
        if self.by_hand:
            return "it is accepted by hand only"
        if self.minimum is None and self.maximum is None and self.change is None:
            return None
        number = _number(value)
        if number is None:
            return "it is no number"
        if self.minimum is not None and number < self.minimum:
            return f"it is below {self.minimum:g}"
        if self.maximum is not None and number > self.maximum:
            return f"it is above {self.maximum:g}"
        known = _number(before)
        if self.change is not None and known is not None and abs(number - known) > self.change * abs(known):
            by = f"by {abs(number - known) / abs(known):.3g} of it" if known else "from 0"
            return f"it has changed {by}, more than {self.change:g}"
        return None


def _number(value) -> float | None:
    """Return a finite number, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class Calibration:
    """What an experiment declares about the parameters that it sets."""

    def __init__(
        self,
        sets: dict[str, Rule] | None = None,
        needs: list[str] | None = None,
        when: list[str] | None = None,
        on_failure: str = "stop",
        attempts: int = 1,
    ) -> None:
        self.sets, self.on_failure = sets or {}, on_failure
        self.needs = needs or []
        """Parameters that it reads."""
        self.when = when or []
        """Conditions on parameters, see `condition`, all of which must hold."""
        self.attempts = attempts
        """How often it is run until it succeeds."""

    def add(self, key: str, **rule):
        """Declare a parameter; ValueError for an unusable rule."""
        made = Rule(**rule)
        for name in ("validity", "change"):
            given = getattr(made, name)
            if given is not None and (_number(given) is None or given < 0):
                raise ValueError(f"{name} of {key} is {given!r}: it must be a number from 0")
        self.sets[key] = made

    def describe(self) -> dict:
        """Return what a laboratory knows of it: as for `described`."""
        lists = {"needs": [*self.needs], "when": [*self.when]}
        return {**vars(self), **lists, "sets": {key: rule._asdict() for key, rule in self.sets.items()}}

    @classmethod
    def described(cls, entry: dict) -> "Calibration":
        """Return the calibration that `describe` has described."""
        return cls(**{**entry, "sets": {key: Rule(**rule) for key, rule in entry["sets"].items()}})


def condition(text: str) -> tuple[str, Callable[[object], bool]]:
    """Return the parameter that a condition such as ``ion_count>=1`` names, and whether it holds for
    a value; ValueError. Texts may have quotes."""
    found = re.fullmatch(_CONDITION, text)
    if found is None:
        raise ValueError(f"'{text}' is no condition: write a parameter, one of = != < <= > >=, and a value")
    name, sign, wanted = found.groups()
    number = {"true": True, "false": False}.get(wanted.lower(), _number(wanted))
    compared = wanted.strip("'\"") if number is None else number

    def holds(value) -> bool:
        try:
            return bool(_COMPARISONS[sign](value, compared))
        except (TypeError, ValueError):
            return False

    return name, holds


class Parameters:
    """The parameters as attributes, or by name in brackets: read, they are datasets of the
    laboratory; set, they persist with their unit. One that does not exist raises AttributeError, by
    name KeyError."""

    def __init__(self, environment):
        vars(self)["_environment"] = environment

    def __getitem__(self, key: str):
        return self._environment.get_dataset(key)

    def __setitem__(self, key: str, value):
        environment = self._environment
        metadata = environment.get_dataset_metadata(key, {})
        environment.set_dataset(key, value, broadcast=True, persist=True, **metadata)

    def __getattr__(self, key: str):
        if key.startswith("__"):
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"there is no parameter '{key}': set it, or calibrate it") from None

    def __setattr__(self, key: str, value):
        self[key] = value


def checked_policy(on_failure: str, attempts: int, when: Iterable[str]):
    """Raise ValueError for what a calibration cannot declare."""
    if on_failure not in ON_FAILURE:
        raise ValueError(f"on_failure is {on_failure!r}: it must be one of {', '.join(ON_FAILURE)}")
    if not isinstance(attempts, int) or attempts < 1:
        raise ValueError(f"attempts is {attempts!r}: it must be a number from 1")
    for each in when:
        condition(each)
