"""The graph of calibrations: which experiment sets which parameter, which others it needs, and what is stale.

Only decisions, no action. An experiment that declares `calibrates` is a calibration; it needs the
calibrations that set the parameters it needs.
"""

from collections.abc import Callable
from typing import NamedTuple

from ..experiment.calibration import Calibration, condition
from .live import Written

__all__ = ["MISSING", "STALE", "VALID", "Graph", "ParameterState", "age_text", "states", "unmet"]

VALID, STALE, MISSING = "valid", "stale", "missing"


class ParameterState(NamedTuple):
    """The state of a parameter."""

    key: str
    state: str
    """`VALID`, `STALE` or `MISSING`."""
    reason: str
    """Why it is not valid; empty if it is."""
    calibration: str | None
    """The experiment that sets it; None if only people do."""
    validity: float | None
    """Seconds for which a value is valid; None: without limit."""
    written: Written | None


class Graph:
    """The calibrations among `experiments`, the entries of a repository by name."""

    def __init__(self, experiments: dict[str, dict]):
        self.calibrations: dict[str, Calibration] = {}
        """By name of the experiment."""
        self.checks: set[str] = set()
        """Those that can check whether their parameters are still good."""
        self.setters: dict[str, str] = {}
        """The calibration that sets each parameter."""
        self.problems: list[str] = []
        for name in sorted(experiments):
            described = experiments[name].get("calibration")
            if described is not None:
                self._add(name, dict(described))
        self.order = self._ordered()

    def _add(self, name: str, described: dict):
        checks = described.pop("checks", False)
        made = Calibration.described(described)
        self.calibrations[name] = made
        if checks:
            self.checks.add(name)
        for key in made.sets:
            if self.setters.setdefault(key, name) != name:
                self.problems.append(f"{key} is set by '{self.setters[key]}' and '{name}': the first one is used")

    def needed(self, name: str) -> list[str]:
        """Return the calibrations that a calibration needs directly."""
        found = (self.setters.get(key) for key in self.calibrations[name].needs)
        return list(dict.fromkeys(each for each in found if each is not None and each != name))

    def _ordered(self) -> list[str]:
        """Return all calibrations, each after those that it needs. Of a loop, one edge is left out,
        and reported."""
        order: list[str] = []
        open_ones: list[str] = []

        def visit(name):
            if name in order:
                return
            if name in open_ones:
                loop = " → ".join([*open_ones[open_ones.index(name) :], name])
                self.problems.append(f"calibrations need one another in a loop: {loop}")
                return
            open_ones.append(name)
            for each in self.needed(name):
                visit(each)
            open_ones.pop()
            order.append(name)

        for name in self.calibrations:
            visit(name)
        return order

    def chosen(self, names: list[str]) -> list[str]:
        """Return the calibrations that are named by experiment, class of it, or parameter, and those
        that they need, in order; without names all. LookupError with the unknown name."""
        if not names:
            return list(self.order)
        wanted: set[str] = set()
        waiting = [self.named(name) for name in names]
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted.add(name)
                waiting.extend(self.needed(name))
        return [name for name in self.order if name in wanted]

    def named(self, name: str) -> str:
        """Return the calibration of this name, or the one that sets this parameter; LookupError."""
        if name in self.calibrations:
            return name
        if name in self.setters:
            return self.setters[name]
        raise LookupError(name)

    def parameters(self) -> list[str]:
        """Return the parameters that are set or needed by calibrations."""
        needed = (key for made in self.calibrations.values() for key in made.needs)
        return sorted({*self.setters, *needed})


def states(
    graph: Graph, keys, written: dict[str, Written], exists: Callable[[str], bool], now: float
) -> dict[str, ParameterState]:
    """Return the states of parameters. `written`: when they were; `exists`: whether there is a value;
    `now`: the time, in seconds of Unix time."""
    return {key: _state(graph, key, written, exists, now) for key in keys}


def _state(graph: Graph, key: str, written, exists, now: float) -> ParameterState:
    setter = graph.setters.get(key)
    last = written.get(key)
    rule = None if setter is None else graph.calibrations[setter].sets[key]
    validity = rule.validity if rule is not None else None if last is None else last.validity

    def parameter_state(state, reason=""):
        return ParameterState(key, state, reason, setter, validity, last)

    if not exists(key):
        return parameter_state(MISSING, "it has no value")
    if validity is not None and last is None:
        return parameter_state(STALE, "it is not known when it was set")
    # A clock that was set back makes a value no younger than new.
    if validity is not None and max(0.0, now - last.confirmed) > validity:
        return parameter_state(STALE, f"it is {age_text(now - last.confirmed)} old, and valid for {age_text(validity)}")
    if setter is not None and last is not None:
        for other in graph.calibrations[setter].needs:
            if other != key and other in written and written[other].changed > last.confirmed:
                return parameter_state(STALE, f"{other} has changed since")
    return parameter_state(VALID)


def unmet(calibration: Calibration, value: Callable[[str], object]) -> str | None:
    """Return which condition of a calibration does not hold; None if all do. `value`: returns the
    value of a parameter, or raises KeyError."""
    for text in calibration.when:
        name, holds = condition(text)
        try:
            if holds(value(name)):
                continue
            return f"{text} does not hold"
        except KeyError:
            return f"{text} does not hold: there is no {name}"
    return None


def age_text(seconds: float) -> str:
    """Return a duration as people say it: ``40 s``, ``12 min``, ``3.5 h``, ``2 days``."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            number = seconds / size
            return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"
