"""Jaqal circuits as gate sets: their gates come from pulse definitions (:mod:`.definitions`).

:func:`circuit` reads a circuit, with the parser of the package ``jaqalpaq``; :func:`load` reads a
file with one, with the definitions named by its lines ``from MODULE usepulses *``.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from ..errors import KairosError, UsageError
from ..files import read
from .definitions import REFUSALS, Choice, Finder, Loop, Parallel, PulseData, install
from .gates import Adjustable, Follow, Mixed, Pulse, PulseError
from .gateset import Branch, Core, GateSet
from .usepulses import definition_of

__all__ = ["Finder", "PulseData", "circuit", "install", "load"]

MOST = 1_000_000
"""Gates that a circuit plays, or times that it repeats something."""
RESULTS = 16
"""Of a measurement."""
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
    try:
        text = read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text in UTF-8: {error.reason} at byte {error.start}") from None
    return circuit(text, None, core, Path(path).parent)


def circuit(text: str, definition=None, core: Core | None = None, folder=None) -> GateSet:
    """Return the gate set of a Jaqal circuit, with the circuit as its sequence. `definition`: an
    object with ``gate_NAME`` methods; None: those named by the circuit, found from `folder`.
    UsageError if `jaqalpaq` is missing, or a gate has no definition.
    """
    try:
        from jaqalpaq.core import branch  # an optional package, needed only for circuits
        from jaqalpaq.error import JaqalError  # likewise
        from jaqalpaq.parser import parse_jaqal_string  # likewise
        from sly.lex import LexError  # of its lexer
    except ImportError:
        raise UsageError("Jaqal circuits are read by the package jaqalpaq: pip install jaqalpaq") from None
    branch.USE_EXPERIMENTAL_BRANCH = True
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # of other editors
    options = {"expand_macro": True, "expand_let": True, "autoload_pulses": False}
    try:
        parsed, extra = parse_jaqal_string(_with_sizes(text), return_usepulses=True, **options)
    except JaqalError as error:
        raise UsageError(f"the circuit: {error}") from None
    except LexError as error:
        line = text.count("\n", 0, error.error_index) + 1
        raise UsageError(f"the circuit, line {line}: no circuit contains {error.text[:1]!r} here") from None
    except RecursionError:
        raise UsageError("the circuit has too many blocks within one another") from None
    except IndexError:
        raise UsageError("the circuit: a macro has fewer arguments than parameters, or others") from None
    except Exception as error:  # of the parser, which names no place
        raise UsageError(f"the circuit cannot be read: {type(error).__name__}: {error}") from None
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
    added: int = 0
    """How many gates have been added, known ones too."""
    known: dict[tuple, str] = field(default_factory=dict)
    """Gates that were given a name with another content than the first one, by that name and by their content."""
    versions: dict[str, int] = field(default_factory=dict)
    """Of gates that were given one name with several contents, the number of the last."""
    methods: dict[str, tuple] = field(default_factory=dict)
    """Those that define gates, by the gates' names."""

    def steps(self, statement) -> Iterator[tuple[str, ...] | Branch]:
        """Yield names of gates that begin together, one group after another; loops are unrolled."""
        if hasattr(statement, "gate_def"):
            yield from self.called(statement.name, statement.parameters_linear)
        elif hasattr(statement, "cases"):
            yield _branch((case.state, self.names(case.statements)) for case in statement.cases)
        elif getattr(statement, "parallel", False) is True:
            yield self.filled([self.one(part) for part in statement.statements])
        elif getattr(statement, "subcircuit", False) is True:
            for _ in range(_times(statement.iterations, "subcircuit")):
                yield from self.called(OF_ALL[0], [])
                for part in statement.statements:
                    yield from self.steps(part)
                yield from self.called(OF_ALL[1], [])
        elif hasattr(statement, "iterations") and not isinstance(statement.statements, list):
            for _ in range(_times(statement.iterations, "loop")):
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
        """Add a gate; returns its name, which is another one if the definition has made other pulses before."""
        self.added += 1
        if self.added > MOST:
            raise UsageError(f"the circuit plays more than {MOST:,} gates")
        if self.gates.setdefault(name, pulses) == pulses:
            return name
        content = name, _content(pulses)
        if content not in self.known:
            own = name
            while own in self.gates:
                self.versions[name] = self.versions.get(name, 1) + 1
                own = f"{name} #{self.versions[name]}"
            self.gates[own] = pulses
            self.known[content] = own
        return self.known[content]

    def called(self, name: str, parameters) -> Iterator[tuple[str, ...] | Branch]:
        """Yield the steps of a gate, which may be a macro of the definitions, with its arguments."""
        arguments = [self.argument(name, value) for value in parameters]
        label = f"{name}({', '.join(map(repr, arguments))})"
        kind, method, signature = self.method(name)
        if name in OF_ALL and not arguments and signature.parameters:
            arguments = [self.core.channels]
        try:
            signature.bind(*arguments)
        except TypeError as error:
            raise UsageError(f"gate {label}: {error}; its definition is {kind}{name}{signature}") from None
        with _naming(label):
            found = method(*arguments)
            pulses = self.pulses(found, f"{kind}{name}") if kind == GATE else []
            found = list(found) if kind == MACRO and isinstance(found, Iterator) else found
        if kind == MACRO:
            yield from self.of_macro(found or [], label)
        else:
            yield (self.add(label, pulses),)

    def argument(self, gate: str, value):
        """Return what the definition of a gate receives: the number of a qubit, or a number."""
        if not hasattr(value, "resolve_qubit"):
            return value
        if not hasattr(value, "alias_index"):
            raise UsageError(f"gate {gate}: {value.name} is a register: name one qubit, as {value.name}[0]")
        return value.resolve_qubit()[1]

    def method(self, name: str):
        """Return the method that defines a gate, after its prefix, and its signature: a macro, if there are both."""
        if name not in self.methods:
            self.methods[name] = self.searched(name)
        return self.methods[name]

    def searched(self, name: str):
        for definition in self.definitions:
            for kind in (MACRO, GATE):
                if method := getattr(definition, f"{kind}{name}", None):
                    return kind, method, inspect.signature(method)
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
            if wrong := [case for case in item if not hasattr(case, "state")]:
                raise UsageError(f"macro {label}: a Branch consists of Case, not {type(wrong[0]).__name__}")
            yield _branch((case.state, self.in_order(self.of_macro(case, f"{label}: {case.state}"))) for case in item)
        elif isinstance(item, Loop):
            for _ in range(_times(item.repeats, f"macro {label}: Loop")):
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
    except KairosError:
        raise
    except Exception as error:
        error.add_note(f"This is the definition of gate {gate}.")
        raise


def _branch(pairs: Iterable) -> Branch:
    """Return the branch with these cases: (state, names of gates)."""
    cases: dict[int, tuple[str, ...]] = {}
    for state, names in pairs:
        number = _whole(state)
        if number is None or number >= RESULTS:
            raise UsageError(f"a branch has a case for {state!r}: results are numbers from 0 to {RESULTS - 1}")
        if number in cases:
            raise UsageError(f"a branch has two cases for the result {number}")
        cases[number] = names
    return Branch(tuple(cases.get(state, ()) for state in range(max(cases, default=-1) + 1)))


def _whole(value) -> int | None:
    """Return a number that is whole and not negative, of any type; None if it is none."""
    try:
        return int(value) if int(value) == value >= 0 else None
    except (TypeError, ValueError, OverflowError):
        return None


def _times(value, what: str) -> int:
    """Return how often something is repeated; UsageError."""
    number = _whole(value)
    if number is None or number > MOST:
        raise UsageError(f"{what} {value!r}: it is repeated a whole number of times, 0 to {MOST:,}")
    return number


def _content(value):
    """Return something that is equal for equal pulses, and has a hash; of what is no value (functions), that same
    object."""
    if isinstance(value, list | tuple):
        return type(value), *map(_content, value)
    if isinstance(value, Pulse | Follow | Adjustable):
        return type(value), *(_content(part) for part in vars(value).values())
    if isinstance(value, numpy.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


_SIZED = re.compile(r"(?m)((?:^|;)\s*register\s+\w+\s*\[\s*)([A-Za-z_]\w*)(?=\s*\])")
_COMMENT = re.compile(r"(?s)//[^\n]*|/\*.*?\*/")


def _with_sizes(text: str) -> str:
    """Return a circuit in which the size of a register is a number if it was one of `let`, which the parser's
    registers do not take."""
    said = _COMMENT.sub(" ", text)

    def sized(found: re.Match) -> str:
        number = re.search(rf"(?m)(?:^|;)\s*let\s+{found[2]}\s+(\d+)\s*(?:$|;)", said)
        return found[1] + (number[1] if number else found[2])

    return _SIZED.sub(sized, text)


def _held(course) -> float:
    """Return the frequency that a tone keeps in a pause after this course."""
    listed = isinstance(course, tuple | list) and not isinstance(course, Mixed) and course
    if not listed or any(isinstance(part, tuple | list) for part in course):
        return 0.0
    return float(course[-1])
