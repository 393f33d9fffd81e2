"""Gate sets: gates by name, in the tables of a core, and the words that program and run them."""

import runpy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy

from .. import _native
from ..contracts import pulse as facts
from ..errors import UsageError
from .gates import Pulse, PulseError

__all__ = ["Branch", "Core", "GateSet", "PulseError", "TableUse", "checked_gates", "load"]


@dataclass(frozen=True)
class Core:
    """Parameters of a core; the defaults are the reference core. `clock` in Hz, tables in entries."""

    clock: float = float(facts.CLOCK_HZ)
    samples_per_cycle: int = facts.SAMPLES_PER_CYCLE
    channels: int = facts.CHANNELS
    gates: int = facts.RUN_NO_GATE
    map: int = 1 << facts.MLUT_ADDRESS_BITS
    pulses: int = 1 << facts.PLUT_ADDRESS_BITS

    @property
    def sample_rate(self) -> float:
        """Samples in a second."""
        return self.clock * self.samples_per_cycle


@dataclass(frozen=True)
class Branch:
    """A measurement result selects which of `cases` is played; each is a list of gate names, played
    in order."""

    cases: tuple[tuple[str, ...], ...]

    def __post_init__(self):
        cases = self.cases
        for case in [cases] if isinstance(cases, str) or not isinstance(cases, Iterable) else cases:
            if isinstance(case, str) or not isinstance(case, Iterable) or not all(isinstance(n, str) for n in case):
                raise PulseError(
                    f"a branch: {case!r} is no case; a case is a list of names of gates, as in "
                    "Branch((('x',), ('x', 'y')))"
                )


@dataclass(frozen=True)
class TableUse:
    """Resources of a gate on a channel.

    `cycles` of the core's clock, `segments` (one for each parameter that takes it), `entries` of
    the memory map, and `streamed`, its number of words without tables. `in_tables`: whether it fits
    into the tables. `error`: maximum deviation from samples that it follows, in the parameter's
    unit.
    """

    gate: str
    channel: int
    cycles: int
    segments: int
    entries: int
    streamed: int
    in_tables: bool
    error: float


def _words(content: bytes) -> numpy.ndarray:
    return numpy.frombuffer(content, dtype=numpy.uint8).reshape(-1, facts.WORD_BYTES)


def checked_gates(gates: Mapping[str, Iterable[Pulse]]) -> dict[str, list[Pulse]]:
    """Return gates as lists. PulseError if something else than pulses is given."""
    if not isinstance(gates, Mapping):
        raise PulseError(f"gates are given by name, as {{'x': [Pulse(…)]}}, not as {type(gates).__name__}")
    found = {}
    for name, pulses in gates.items():
        if not isinstance(name, str) or not name.isprintable():
            raise PulseError(f"gate {name!r}: the name of a gate is a text of one line")
        if isinstance(pulses, str | Mapping) or not isinstance(pulses, Iterable):
            raise PulseError(f"gate {name}: a gate is a list of pulses, not {_kind(pulses)}")
        found[name] = list(pulses)
        for pulse in found[name]:
            if not isinstance(pulse, Pulse):
                raise PulseError(f"gate {name}: a gate is a list of pulses; it has {_kind(pulse)} in it")
    return found


def _kind(value) -> str:
    """Return the kind of a value, for messages."""
    return "a single Pulse" if isinstance(value, Pulse) else f"{type(value).__name__} ({value!r:.40})"


def _native_pulse(gate: str, pulse: Pulse, core: Core) -> dict:
    try:
        return pulse.native(core.clock)
    except PulseError as error:
        raise PulseError(f"gate {gate}, {error}") from None


def _steps(steps: Iterable) -> list:
    """Return the steps of a sequence. PulseError if one is neither a name, nor names, nor a branch."""
    if isinstance(steps, str) or not isinstance(steps, Iterable):
        raise PulseError(f"a sequence is a list of steps, not {_kind(steps)}: ['x', 'y']")
    found = list(steps)
    for step in found:
        names = step if isinstance(step, tuple | list) else [step]
        if not isinstance(step, Branch) and not all(isinstance(name, str) for name in names):
            raise PulseError(
                f"a sequence: {_kind(step)} is no step; steps are names of gates, tuples of names of gates that run "
                "in parallel, and Branch"
            )
    return found


class GateSet:
    """Named gates, each a list of :class:`Pulse`; compiled on construction. PulseError if one
    cannot be compiled.

    `sequence` is the sequence that the file's author wants shown and played: names of gates, tuples
    of names of gates that run in parallel, and :class:`Branch`.
    """

    def __init__(self, gates: Mapping[str, Iterable[Pulse]], sequence: Iterable = (), core: Core | None = None):
        self.core = core or Core()
        self.gates = checked_gates(gates)
        self.steps = _steps(sequence)
        core = self.core
        room = [core.gates, core.map, core.pulses]
        self._image = _native.pulse.Image(self._native_gates(), core.clock, core.samples_per_cycle, core.channels, room)

    def _native_gates(self) -> list:
        return [(name, [_native_pulse(name, p, self.core) for p in pulses]) for name, pulses in self.gates.items()]

    def programming(self) -> numpy.ndarray:
        """Return the words that program the tables: an array of bytes, 32 per row."""
        return _words(self._image.programming())

    def sequence(self, steps: Iterable | None = None, channels: int | None = None, close: bool = True) -> numpy.ndarray:
        """Return the words that run a sequence, by default the file's, on the channels of the mask,
        by default those of the gates.

        An array of bytes, 32 per row. Pauses that it needs are added to the tables: call
        `programming` afterwards. `close`: end with zeros that wait for the trigger.
        """
        return self.timed_sequence(steps, channels, close)[0]

    def timed_sequence(
        self, steps: Iterable | None = None, channels: int | None = None, close: bool = True
    ) -> tuple[numpy.ndarray, list[int]]:
        """Return the result of `sequence`, and for each word the cycle of the sequence in which its
        content starts."""
        mask = channels
        if mask is None:
            used = {pulse.channel for pulses in self.gates.values() for pulse in pulses}
            mask = sum(1 << channel for channel in used)
        every = (1 << self.core.channels) - 1
        if not isinstance(mask, int) or not 0 <= mask <= every:
            raise PulseError(
                f"channels: {mask!r} is no mask of channels 0 to {self.core.channels - 1}: 0 to {every:#x}"
            )
        native = []
        for step in self.steps if steps is None else _steps(steps):
            if isinstance(step, Branch):
                native.append(("branch", [list(case) for case in step.cases]))
            else:
                native.append(("gates", [step] if isinstance(step, str) else list(step)))
        words, starts = self._image.sequence(native, mask, close)
        return _words(words), starts

    def words(self, steps: Iterable | None = None, channels: int | None = None, close: bool = True) -> numpy.ndarray:
        """Return the words that program the tables and then run a sequence, as in `sequence`:
        bytes, 32 per row."""
        run = self.sequence(steps, channels, close)
        return numpy.concatenate([self.programming(), run])

    def successor(self, gates: Mapping[str, Iterable[Pulse]], sequence: Iterable | None = None) -> "GateSet":
        """Return a gate set with other gates, placed so that few words change these into those: see
        `changes`. `sequence`: the file's, by default that of this gate set."""
        new = GateSet({}, self.steps if sequence is None else sequence, self.core)
        new.gates = checked_gates(gates)
        new._image = self._image.successor(new._native_gates())
        return new

    def changes(self, old: "GateSet") -> numpy.ndarray:
        """Return the words that change an older gate set in the core into this one: an array of
        bytes, 32 per row."""
        return _words(self._image.changes(old._image))

    def adjustable(self, gate: str) -> list[tuple[int, int, int, numpy.ndarray]]:
        """Return the :class:`Adjustable` segments of a gate, those of each channel and parameter in
        playing order: channel, parameter, address in the pulse table, and the word that writes it
        there (an array of bytes).

        PulseError if there is no such gate, or it does not fit into the tables.
        """
        rows = self._image.owned(gate)
        if rows is None:
            raise PulseError(f"gate {gate}: there is no such gate")
        if self._image.places(gate) is None:
            raise PulseError(f"gate {gate}: it does not fit into the tables, so it cannot be adjusted")
        return [(channel, p, address, _words(word)[0]) for channel, p, address, word in rows]

    def places(self, gate: str) -> list[tuple[int, int, int]]:
        """Return where a gate is in the tables of each of its channels: channel, id, and first entry of the memory
        map. PulseError if it does not fit into them."""
        found = self._image.places(gate)
        if found is None:
            raise PulseError(f"gate {gate}: it does not fit into the tables")
        return found

    def channel_cycles(self, gate: str) -> dict[int, int]:
        """Return the length of a gate in cycles of the core's clock on each channel it uses.
        PulseError if there is no such gate."""
        if gate not in self.gates:
            raise PulseError(f"gate {gate}: there is no such gate")
        lengths: dict[int, int] = {}
        for pulse in self.gates[gate]:
            lengths[pulse.channel] = lengths.get(pulse.channel, 0) + pulse.length(self.core.clock)
        return lengths

    def cycles(self, gate: str) -> int:
        """Return the length of a gate on its longest channel."""
        return max(self.channel_cycles(gate).values(), default=0)

    def stats(self) -> list[TableUse]:
        """Return the resources of each gate on each channel."""
        return [TableUse(*row) for row in self._image.gate_stats()]

    def tables(self) -> list[list[int]]:
        """Return the entries used, for each channel: [of the gate table, of the memory map, of the
        pulse table]."""
        return self._image.table_stats()


def load(path) -> GateSet:
    """Load the gate set that a Python file defines: the only :class:`GateSet` among its names, else
    UsageError."""
    if not Path(path).is_file():
        raise UsageError(f"{path}: there is no such file")
    names = runpy.run_path(str(path))
    found = {id(value): value for value in names.values() if isinstance(value, GateSet)}
    if len(found) != 1:
        raise UsageError(f"{path} defines {len(found)} gate sets; define one kairos.pulse.GateSet")
    return next(iter(found.values()))
