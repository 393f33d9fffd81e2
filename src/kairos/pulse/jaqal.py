"""Jaqal circuits as gate sets: their gates come from pulse definitions (:mod:`.definitions`).

:func:`circuit` reads a circuit, with the parser of the package ``jaqalpaq``; :func:`load` reads a
file with one, with the definitions named by its lines ``from MODULE usepulses *``.
"""

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UsageError
from .definitions import REFUSALS, Choice, Finder, Loop, Parallel, PulseData, install
from .gates import Mixed, Pulse, PulseError
from .gateset import Branch, Core, GateSet
from .usepulses import definition_of

__all__ = ["Finder", "PulseData", "circuit", "install", "load"]

SHORTEST = 4
"""Cycles: shorter pulses are left out, as such definitions expect."""
GATE, MACRO = "gate_", "macro_"
"""Prefixes of the methods of a definition: a gate is a list of pulses, a macro a list of gates."""
OF_ALL = ("prepare_all", "measure_all")
"""Gates of all qubits: their definitions receive the number of channels, if they have a parameter
for it."""


def load(path, core: Core | None = None) -> GateSet:
    """Load the gate set of a file with a Jaqal circuit. Definitions are found from the file's
    directory (:mod:`.usepulses`). UsageError if one is missing."""
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
        definitions = [definition_of(str(name), folder or Path()) for name in extra["usepulses"]]
    else:
        definitions = [definition]
    reading = _Reading(definitions, core or Core())
    steps = list(reading.steps(parsed.body))
    return GateSet(reading.gates, steps, reading.core)


@dataclass
class _Reading:
    """Conversion of a circuit to a gate set, with the gates found so far."""

    definitions: list
    core: Core
    gates: dict[str, list[Pulse]] = field(default_factory=dict)

    def steps(self, statement) -> Iterator[tuple[str, ...] | Branch]:
        """Yield names of gates that begin together, one group after another; loops are unrolled."""
        if hasattr(statement, "gate_def"):
            yield from self.called(statement.name, statement.parameters_linear)
        elif hasattr(statement, "cases"):
            yield _branch((case.state, self.names(case.statements)) for case in statement.cases)
        elif getattr(statement, "parallel", False) is True:
            yield self.filled([self.one(part) for part in statement.statements])
        elif getattr(statement, "subcircuit", False) is True:
            for _ in range(int(statement.iterations)):
                yield from self.called(OF_ALL[0], [])
                for part in statement.statements:
                    yield from self.steps(part)
                yield from self.called(OF_ALL[1], [])
        elif hasattr(statement, "iterations") and not isinstance(statement.statements, list):
            for _ in range(int(statement.iterations)):
                yield from self.steps(statement.statements)
        else:
            for part in statement.statements:
                yield from self.steps(part)

    def names(self, statement) -> tuple[str, ...]:
        """Return the gates of a statement in order, for use as a case of a branch."""
        return self.in_order(self.steps(statement))

    def in_order(self, steps: Iterable) -> tuple[str, ...]:
        """Return gates that follow one another, each in place of a step."""
        return tuple(self.together(step) for step in steps)

    def one(self, statement) -> str:
        """Combine a statement into one gate."""
        return self.united(self.steps(statement))

    def united(self, steps: Iterable) -> str:
        """Combine steps into one gate."""
        names = self.in_order(steps)
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
        """Pad gates that begin together with pauses so that all end together. As in JaqalPaw, a tone
        whose frequency was a list or a spline keeps its last one during the pause, so that it arrives
        there with the same phase; others have frequency 0."""
        owners: dict[int, str] = {}
        for name in names:
            for channel in self.lengths(self.gates[name]):
                if channel in owners:
                    raise PulseError(f"gate {name}, channel {channel}: gate {owners[channel]} beside it uses it, too")
                owners[channel] = name
        most = max((n for name in names for n in self.lengths(self.gates[name]).values()), default=0)
        return tuple(self.with_pauses(name, most) for name in names)

    def with_pauses(self, name: str, most: int) -> str:
        """Return a gate all of whose channels last for `most` cycles."""
        pulses = self.gates[name]
        last = {pulse.channel: (_held(pulse.freq0), _held(pulse.freq1)) for pulse in pulses}
        short = {c: most - n for c, n in self.lengths(pulses).items() if most - n >= SHORTEST}
        if not short:
            return name
        pauses = [Pulse(channel=c, cycles=n, freq0=last[c][0], freq1=last[c][1]) for c, n in short.items()]
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
        return pulse.length(self.core.clock)

    def add(self, name: str, pulses: list[Pulse]) -> str:
        self.gates.setdefault(name, pulses)
        return name

    def called(self, name: str, parameters) -> Iterator[tuple[str, ...] | Branch]:
        """Yield the steps of a gate, which may be a macro of the definitions, with its arguments."""
        arguments = [value.resolve_qubit()[1] if hasattr(value, "resolve_qubit") else value for value in parameters]
        label = f"{name}({', '.join(map(repr, arguments))})"
        kind, method = self.method(name)
        signature = inspect.signature(method)
        if name in OF_ALL and not arguments and signature.parameters:
            arguments = [self.core.channels]
        try:
            signature.bind(*arguments)
        except TypeError as error:
            raise UsageError(f"gate {label}: {error}; its definition is {kind}{name}{signature}") from None
        with _naming(label):
            found = method(*arguments)
            pulses = self.pulses(found, f"{kind}{name}") if kind == GATE else []
        if kind == MACRO:
            yield from self.of_macro(found or [], label)
        else:
            yield (self.add(label, pulses),)

    def method(self, name: str):
        """Return the method that defines a gate, after its prefix: a macro, if there are both."""
        for definition in self.definitions:
            for kind in (MACRO, GATE):
                if method := getattr(definition, f"{kind}{name}", None):
                    return kind, method
        asked = ", ".join(type(definition).__name__ for definition in self.definitions) or "the circuit"
        raise UsageError(f"{asked} does not define {GATE}{name}, which the circuit uses")

    def pulses(self, found, place: str) -> list[Pulse]:
        """Return the pulses of a gate without those that are too short. UsageError if it has something
        else."""
        if isinstance(found, Pulse) or not isinstance(found, Iterable | None):
            raise UsageError(f"{place} returns {type(found).__name__} instead of a list of PulseData")
        pulses = list(found or [])
        for pulse in pulses:
            if not isinstance(pulse, Pulse):
                raise UsageError(f"{place} returns a list with {type(pulse).__name__} instead of PulseData in it")
        return [pulse for pulse in pulses if self.cycles(pulse) >= SHORTEST]

    def of_macro(self, items, label: str) -> Iterator[tuple[str, ...] | Branch]:
        """Yield the steps of a macro: its gates, lists of PulseData, one after another."""
        if isinstance(items, Pulse) or not isinstance(items, list | tuple):
            raise UsageError(f"macro {label} returns {type(items).__name__} instead of a list of gates")
        for number, item in enumerate(items):
            yield from self.of_item(item, f"{label}[{number}]")

    def of_item(self, item, label: str) -> Iterator[tuple[str, ...] | Branch]:
        """Yield the steps of an item of a macro: a gate, or gates in a Loop, Parallel, Sequential or
        Branch."""
        if isinstance(item, Parallel):
            yield self.filled([self.united(self.of_item(part, f"{label}[{n}]")) for n, part in enumerate(item)])
        elif isinstance(item, Choice):
            yield _branch((case.state, self.in_order(self.of_macro(case, f"{label}: {case.state}"))) for case in item)
        elif isinstance(item, Loop):
            for _ in range(int(item.repeats)):
                yield from self.of_macro(item, label)
        elif isinstance(item, list | tuple) and any(isinstance(part, list | tuple) for part in item):
            yield from self.of_macro(item, label)
        else:
            with _naming(label):
                pulses = self.pulses(item, f"macro {label}")
            yield (self.add(label, pulses),)


@contextmanager
def _naming(gate: str):
    """Name the gate in what definitions refuse to make, and in pulses that cannot be."""
    try:
        yield
    except REFUSALS as error:
        raise type(error)(f"gate {gate}: {error}") from error
    except PulseError as error:
        raise PulseError(f"gate {gate}, {error}") from None


def _branch(pairs: Iterable) -> Branch:
    """Return the branch with these cases: (state, names of gates)."""
    cases: dict[int, tuple[str, ...]] = {}
    for state, names in pairs:
        if int(state) in cases:
            raise UsageError(f"a branch has two cases for the result {int(state)}")
        cases[int(state)] = names
    return Branch(tuple(cases.get(state, ()) for state in range(max(cases, default=-1) + 1)))


def _held(course) -> float:
    """Return the frequency that a tone keeps in a pause after this course."""
    listed = isinstance(course, tuple | list) and not isinstance(course, Mixed) and course
    if not listed or any(isinstance(part, tuple | list) for part in course):
        return 0.0
    return float(course[-1])
