"""Jaqal circuits as gate sets: their gates come from pulse definitions (:mod:`.definitions`).

:func:`circuit` reads a circuit, with the parser of the package ``jaqalpaq``; :func:`load` reads a
file with one, with the definitions named by its lines ``from MODULE usepulses *``.
"""

import importlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from .definitions import Finder, PulseData, install
from .gates import Pulse
from .gateset import Branch, Core, GateSet

__all__ = ["Finder", "PulseData", "circuit", "install", "load"]

SHORTEST = 4
"""Cycles: shorter pulses are left out, as such definitions expect."""
OF_ALL = ("prepare_all", "measure_all")
"""Gates of all qubits: their definitions receive the number of channels, if they have a parameter
for it."""


def load(path, core: Core | None = None) -> GateSet:
    """Load the gate set of a file with a Jaqal circuit. Definitions are found from the file's
    directory: ``usepulses`` names a module, or a class in one. UsageError if one is missing."""
    return circuit(Path(path).read_text(), None, core, Path(path).parent)


def circuit(text: str, definition=None, core: Core | None = None, folder=None) -> GateSet:
    """Return the gate set of a Jaqal circuit, with the circuit as its sequence. `definition`: an
    object with ``gate_NAME`` methods; None: those named by the circuit, found from `folder`.
    UsageError if `jaqalpaq` is missing, or a gate has no definition.
    """
    try:
        from jaqalpaq.core import branch  # an optional package, needed only for circuits
        from jaqalpaq.error import JaqalError  # likewise
        from jaqalpaq.parser import parse_jaqal_string  # likewise
    except ImportError:
        raise UsageError("Jaqal circuits are read by the package jaqalpaq: pip install jaqalpaq") from None
    branch.USE_EXPERIMENTAL_BRANCH = True
    options = {"expand_macro": True, "expand_let": True, "autoload_pulses": False}
    try:
        parsed, extra = parse_jaqal_string(text, return_usepulses=True, **options)
    except JaqalError as error:
        raise UsageError(f"the circuit: {error}") from None
    if definition is None:
        definitions = [_definition(str(name), folder or Path()) for name in extra["usepulses"]]
    else:
        definitions = [definition]
    reading = _Reading(definitions, core or Core())
    steps = list(reading.steps(parsed.body))
    return GateSet(reading.gates, steps, reading.core)


def _definition(name: str, folder: Path):
    """Return an instance of the class named by a circuit's usepulses line."""
    install()
    place = name.lstrip(".")
    module, _, last = place.rpartition(".")
    sys.path.insert(0, str(folder.resolve()))
    try:
        for candidate, inside in [(place, None), (module, last)]:
            try:
                found = importlib.import_module(candidate) if candidate else None
            except ModuleNotFoundError as error:
                if error.name is None or not place.startswith(error.name):
                    raise UsageError(f"{name}: {error}") from None
                continue
            classes = [kind for kind in vars(found or object).values() if inspect.isclass(kind) and _gates(kind)]
            chosen = [kind for kind in classes if inside in (None, kind.__name__)]
            if len(chosen) == 1:
                return chosen[0]()
    finally:
        sys.path.remove(str(folder.resolve()))
    raise UsageError(f"from {name} usepulses: no such module or class with gates next to the circuit")


def _gates(kind) -> bool:
    return any(name.startswith("gate_") for name in dir(kind))


@dataclass
class _Reading:
    """Conversion of a circuit to a gate set, with the gates found so far."""

    definitions: list
    core: Core
    gates: dict[str, list[Pulse]] = field(default_factory=dict)

    def steps(self, statement) -> Iterator[tuple[str, ...] | Branch]:
        """Yield names of gates that begin together, one group after another; loops are unrolled."""
        if hasattr(statement, "gate_def"):
            yield (self.gate(statement.name, statement.parameters_linear),)
        elif hasattr(statement, "cases"):
            cases = {int(case.state): self.names(case.statements) for case in statement.cases}
            yield Branch(tuple(cases.get(state, ()) for state in range(max(cases, default=-1) + 1)))
        elif getattr(statement, "parallel", False) is True:
            yield self.filled([self.one(part) for part in statement.statements])
        elif getattr(statement, "subcircuit", False) is True:
            for _ in range(int(statement.iterations)):
                yield (self.gate(OF_ALL[0], []),)
                for part in statement.statements:
                    yield from self.steps(part)
                yield (self.gate(OF_ALL[1], []),)
        elif hasattr(statement, "iterations") and not isinstance(statement.statements, list):
            for _ in range(int(statement.iterations)):
                yield from self.steps(statement.statements)
        else:
            for part in statement.statements:
                yield from self.steps(part)

    def names(self, statement) -> tuple[str, ...]:
        """Return the gates of a statement in order, for use as a case of a branch."""
        return tuple(self.together(step) for step in self.steps(statement))

    def one(self, statement) -> str:
        """Combine a statement into one gate."""
        names = self.names(statement)
        if len(names) == 1:
            return names[0]
        channels = {pulse.channel for name in names for pulse in self.gates[name]}
        pulses = [pulse for name in names for pulse in self.padded(self.gates[name], channels)]
        return self.add("{" + "; ".join(names) + "}", pulses)

    def together(self, step) -> str:
        """Combine gates that begin together into one gate."""
        if isinstance(step, Branch):
            raise UsageError("a branch within a parallel block or within a branch")
        if len(step) == 1:
            return step[0]
        return self.add("<" + " | ".join(step) + ">", [pulse for name in step for pulse in self.gates[name]])

    def filled(self, names: list[str]) -> tuple[str, ...]:
        """Pad gates that begin together with pauses so that all end together. As in JaqalPaw, the
        first tone keeps its frequency during the pauses."""
        most = max((n for name in names for n in self.lengths(self.gates[name]).values()), default=0)
        return tuple(self.with_pauses(name, most) for name in names)

    def with_pauses(self, name: str, most: int) -> str:
        """Return a gate all of whose channels last for `most` cycles."""
        pulses = self.gates[name]
        last = {pulse.channel: _last(pulse.freq0) for pulse in pulses}
        short = {c: most - n for c, n in self.lengths(pulses).items() if most - n >= SHORTEST}
        if not short:
            return name
        pauses = [Pulse(channel=c, cycles=cycles, freq0=last[c]) for c, cycles in short.items()]
        return self.add(f"{name} to {most}", [*pulses, *pauses])

    def lengths(self, pulses: list[Pulse], channels=()) -> dict[int, int]:
        """Return the cycles of each channel that the pulses use, and of `channels`."""
        lengths = dict.fromkeys(sorted(channels), 0)
        for pulse in pulses:
            lengths[pulse.channel] = lengths.get(pulse.channel, 0) + self.cycles(pulse)
        return lengths

    def padded(self, pulses: list[Pulse], channels: set[int]) -> list[Pulse]:
        """Return a gate's pulses with pauses, so that all of these channels end together."""
        lengths = self.lengths(pulses, channels)
        most = max(lengths.values())
        return [*pulses, *(Pulse(channel=c, cycles=most - length) for c, length in lengths.items() if length < most)]

    def cycles(self, pulse: Pulse) -> int:
        return int(pulse.duration * self.core.clock) if pulse.cycles is None else pulse.cycles

    def add(self, name: str, pulses: list[Pulse]) -> str:
        self.gates.setdefault(name, pulses)
        return name

    def gate(self, name: str, parameters) -> str:
        """Add a gate with its arguments, under a name that contains both."""
        arguments = [value.resolve_qubit()[1] if hasattr(value, "resolve_qubit") else value for value in parameters]
        methods = (getattr(definition, f"gate_{name}", None) for definition in self.definitions)
        method = next(filter(None, methods), None)
        if method is None:
            asked = ", ".join(type(definition).__name__ for definition in self.definitions) or "the circuit"
            raise UsageError(f"{asked} does not define gate_{name}, which the circuit uses")
        label = f"{name}({', '.join(map(repr, arguments))})"
        if name in OF_ALL and not arguments and inspect.signature(method).parameters:
            arguments = [self.core.channels]
        pulses = [pulse for pulse in method(*arguments) or [] if self.cycles(pulse) >= SHORTEST]
        return self.add(label, pulses)


def _last(course) -> float:
    """Return the final value of a parameter's course."""
    while isinstance(course, tuple | list):
        course = course[-1]
    return float(course)
