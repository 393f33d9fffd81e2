"""A gate set for kernels: gates and sequences of gates with the words that play them, ready to be sent at exact
times by `kairos.coredevice.pulse`.

Between gates all channels rest: their output is zero and they wait for the trigger. A played gate
therefore ends in a rest, and begins with the preceding one, which takes REST_CYCLES from the
trigger to the first gate.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy
from numpy import int32, int64

from ..contracts import pulse as facts
from ..contracts.pulse import Mode
from .gates import NAMES, Adjustable, Pulse, Room
from .gateset import Branch, Core, GateSet, PulseError, checked_gates
from .tables import Entry, in_order, touching

__all__ = ["Mark", "PARAMETERS", "PlayableGate", "PlayableSequence", "Program", "REST_CYCLES", "set_name"]

REST = "rest"
REST_CYCLES = facts.SEGMENT_CYCLES_MIN
PARAMETERS = {name: number for number, name in enumerate(NAMES)}
"""Numbers of parameters by their names in pulses."""
QUEUED = facts.INPUT_FIFO - 16
"""Maximum number of words sent ahead of their due time, per channel."""
START_CYCLES = REST_CYCLES + 1
"""Cycles from the trigger to the first value of a gate: the rest, and the latency from engine to
output."""
LARGEST_FACTOR = 1e6
SLOTS_CYCLES = 8
"""Cycles between words that program tables: more than the longest takes."""
LEAD_CYCLES = 48
"""Cycles by which the first word is sent ahead of its start; each further word adds to this."""


_SETS: dict[int, str] = {}
"""Names of the gate sets that this process has defined, by their numbers."""


def set_name(number: int) -> str:
    """Return what a message calls the gate set with this number: its name and first gates, if this
    process has defined it."""
    return _SETS.get(number, f"{number:08x} (of another program)")


def _number(content: bytes, start: int = 0) -> int32:
    """Return a number for content of the core, which kernels compare: equal if that is equal, and
    never 0."""
    return int32(zlib.crc32(content, start) & 0x7FFFFFFF or 1)


@dataclass(frozen=True)
class Mark:
    """Interval of a gate in a sequence: on `channel` from `begin_mu` to before `end_mu`, in machine
    units."""

    name: str
    channel: int
    begin_mu: int
    end_mu: int


def int32s(words: numpy.ndarray) -> list:
    """Convert words (bytes, 32 per row) to the form that kernels send: eight int32 per word, lowest
    first."""
    return [int32(part) for part in numpy.ascontiguousarray(words).reshape(-1).view("<i4")]


class PlayableGate:
    """A gate of a :class:`Program`, for `Pulse.play` and `Pulse.update`. Times in machine units."""

    kernel_invariants = {"words", "lead_mu", "duration_mu", "changed_mu", "adjustable", "gates", "number"}
    kernel_invariants |= {"room", "channels"}

    def __init__(self, name, words, cycles, adjustable, cycle_mu, places=()):
        self.name = name
        self.words = int32s(words)
        self.gates = int32(0)
        """Number of its gate set; and its own number."""
        self.number = int32(0)
        self.duration_mu = int64(cycles * cycle_mu)
        self.lead_mu = int64((LEAD_CYCLES + len(words)) * cycle_mu)
        # Each parameter may have one segment per four cycles, and one is read per cycle.
        filled = min(2 * cycles, facts.PARAMETERS * facts.SEGMENT_FIFO)
        self.changed_mu = int64((LEAD_CYCLES + len(words) + filled + START_CYCLES + cycles) * cycle_mu)
        """Time from an event that changes the gate to its latest possible end."""
        self.adjustable = adjustable
        self.room = [int32(cycles if places else 0)]
        """Its length in cycles, and its places in the tables for a pulse that a kernel makes; only 0 if it has no room
        for one."""
        for channel, number, first, addresses in places:
            self.room += [int32(value) for value in (channel, number, first, len(addresses), *addresses)]
        self.channels = int32(sum(1 << channel for channel, *_ in places))
        """The channels on which it has room."""

    def belongs_to(self, gates: int32):
        """Set the number of its gate set."""
        self.gates = gates
        self.number = _number(numpy.array(self.words, "<i4").tobytes(), int(gates))

    def __repr__(self):
        return f"<gate {self.name}>"


def _numbers(value: float) -> list:
    """Encode a double as a list of int32, in the form that the kernels' firmware reads."""
    return list(numpy.array([value], "<f8").view("<i4"))


def _greatest_factor(parameter: int, word: numpy.ndarray) -> float:
    """Return the maximum factor of a segment: an amplitude or frequency must stay in its range."""
    value = int.from_bytes(word.tobytes(), "little")
    size = 1 << facts.VALUE_BITS
    parts = [value >> at & (size - 1) for at in (facts.U0_AT, facts.U1_AT, facts.U2_AT, facts.U3_AT)]
    u = [part - size if part >> (facts.VALUE_BITS - 1) else part for part in parts]
    cycles = value >> facts.TAU_AT & ((1 << facts.TAU_BITS) - 1)
    shift = value >> facts.SHIFT_AT & ((1 << facts.SHIFT_BITS) - 1)
    d = [part / 2.0 ** (n * shift) for n, part in enumerate(u)]
    # As a polynomial of the cycle: Newton's form, with differences at 0.
    powers = [d[0], d[1] - d[2] / 2 + d[3] / 3, d[2] / 2 - d[3] / 2, d[3] / 6]
    course = numpy.polynomial.Polynomial(powers)
    turns = [x.real for x in course.deriv().roots() if abs(x.imag) < 1e-9 and 0 < x.real < cycles] if any(u[1:]) else []
    peak = max(abs(course(x)) for x in [0.0, float(cycles), *turns])
    return min(LARGEST_FACTOR, float(size // 2 - 1) / peak) if peak else LARGEST_FACTOR


class PlayableSequence:
    """A sequence of a :class:`Program`, for `Pulse.play_sequence`. Times in machine units, from its
    start."""

    kernel_invariants = {"words", "times_mu", "ahead", "duration_mu", "gates", "tables"}

    def __init__(self, program, words, starts, marks, cycle_mu):
        self._program, self._marks = program, marks
        self.gates = program.gates
        cycles = marks[-1].end_mu // cycle_mu
        self.words = int32s(words)
        times = _times(words, starts)
        self.times_mu = [int64(time * cycle_mu) for time in times]
        self.ahead = int32(sum(time < 0 for time in times))
        """Number of words sent before the trigger."""
        self.duration_mu = int64(cycles * cycle_mu)

    @property
    def tables(self) -> int32:
        """The number of the tables that it needs: those of its program with all sequences so far."""
        return self._program.tables

    def find(self, name: str) -> int64:
        """Return the start time of the first gate of this name. PulseError if there is none."""
        for mark in self._marks:
            if mark.name == name:
                return int64(mark.begin_mu)
        names = dict.fromkeys(mark.name for mark in self._marks)
        raise PulseError(f"gate {name}: the sequence does not have it; it has {', '.join(names)}")

    def marks(self, begin_mu: int = 0) -> list[Mark]:
        """Return the interval of each gate if the sequence begins at `begin_mu`; a branch as a
        whole, with channel -1."""
        return [Mark(mark.name, mark.channel, begin_mu + mark.begin_mu, begin_mu + mark.end_mu) for mark in self._marks]


def _times(words, starts) -> list[int]:
    """Return the send times of words, in cycles: late enough for the queue to hold the preceding
    unplayed words."""
    masks = words[:, facts.CHANNEL_MASK_AT // 8].tolist()
    before: dict[int, list[int]] = {channel: [] for channel in range(facts.CHANNELS)}
    times = []
    for start, mask in zip(starts, masks, strict=True):
        earliest = None
        for channel, known in before.items():
            if mask >> channel & 1:
                if len(known) >= QUEUED:
                    earliest = max(earliest or 0, known[-QUEUED + 1])
                known.append(start)
        times.append(earliest)
    ahead = sum(time is None for time in times)
    # Words sent ahead come first: later words must not overtake them.
    ordered, last = [], -(LEAD_CYCLES + 2 * ahead)
    for time in times:
        last = last + 2 if time is None else max(last + 2, time, 2)
        ordered.append(last)
    return ordered


class Program:
    """The gates of `gates` on `core`, in the form that kernels play.

    `program[name]` is a gate, `program.sequence(steps)` a sequence of names, of tuples of names
    that run in parallel, and of :class:`Branch`. `Pulse.load` transfers everything to the device,
    so build sequences before. PulseError if something cannot be compiled, or if a gate has a
    reserved name. `name` is for messages. A gate may be :class:`Room`, in which kernels make one.
    """

    kernel_invariants = {"programming", "known", "rest", "channels", "gates", "tables"}
    kernel_invariants |= {"previous", "previous_tables", "changes", "changes_back"}

    def __init__(
        self,
        gates: Mapping[str, Iterable[Pulse] | Room],
        core: Core,
        cycle_mu: int = 8,
        name: str = "",
        previous: "Program | None" = None,
    ):
        self._open, gates = _open_gates(gates)
        if REST in gates:
            raise PulseError(f"gate {REST}: this name is reserved for the pause between gates")
        # A channel that waits shows what it showed last, so zeros come before.
        pauses = [(channel, wait) for channel in range(core.channels) for wait in (False, True)]
        rest = [Pulse(channel=channel, cycles=REST_CYCLES, wait=wait) for channel, wait in pauses]
        every = {REST: rest, **gates}
        self._previous = previous
        self.gate_set = GateSet(every, core=core) if previous is None else previous.gate_set.successor(every)
        self.cycle_mu = cycle_mu
        self.channels = int32((1 << core.channels) - 1)
        self.rest = int32s(self._words([REST])[0])
        self._branches = False
        self._changeable: set[Entry] = set()
        self._gates = {gate: self._gate(gate) for gate in gates}
        self.gates = _number(self.gate_set.programming().tobytes())
        """A number for its gates, the same for all programs with equal ones."""
        for gate in self._gates.values():
            gate.belongs_to(self.gates)
        self.name = " ".join([name, f"({', '.join([*list(gates)[:3], *['…'] * (len(gates) > 3)])})"]).strip()
        _SETS[int(self.gates)] = self.name

    def __repr__(self):
        return f"<gate set {self.name}>"

    def successor(self, gates: Mapping[str, Iterable[Pulse]], name: str = "") -> "Program":
        """Return a program with other gates, placed so that few words change this one into it: see
        `Pulse.change`. Equal segments are shared, so it has nothing adjustable. PulseError as for
        this class."""
        if any(isinstance(gate, Room) for gate in dict(gates).values()):
            raise PulseError("a successor of a gate set has no room for gates made by kernels: define it by itself")
        pulses = (pulse for of_gate in checked_gates(gates).values() for pulse in of_gate)
        if any(isinstance(getattr(pulse, field), Adjustable) for pulse in pulses for field in NAMES):
            raise PulseError("a successor of a gate set has nothing adjustable: define its gates without Adjustable")
        return Program(gates, self.gate_set.core, self.cycle_mu, name, self)

    @property
    def previous(self) -> int32:
        """The number of the gates that this program succeeds; 0 for none."""
        return int32(0) if self._previous is None else self._previous.gates

    @property
    def previous_tables(self) -> int32:
        """The number of their tables."""
        return int32(0) if self._previous is None else self._previous.tables

    @property
    def changes(self) -> list:
        """The words that change the tables of the program that this one succeeds into its own."""
        return [] if self._previous is None else int32s(self._changes_from(self._previous))

    @property
    def changes_back(self) -> list:
        """The words that change them back."""
        return [] if self._previous is None else int32s(self._previous._changes_from(self))

    def _changes_from(self, other: "Program") -> numpy.ndarray:
        """Return the words that change the tables of a predecessor, or successor, into those of this program, whatever
        kernels have changed in them."""
        changeable = self._changeable | other._changeable
        words = self.gate_set.programming()
        return in_order(numpy.concatenate([self.gate_set.changes(other.gate_set), words[touching(words, changeable)]]))

    @property
    def known(self) -> list:
        """Those of the words `programming` whose entries no kernel changes."""
        words = in_order(self.gate_set.programming())
        return int32s(words[~touching(words, self._changeable)])

    @property
    def tables(self) -> int32:
        """A number for the contents of its tables, which sequences may have added pauses to."""
        return _number(self.gate_set.programming().tobytes())

    def _words(self, steps):
        return self.gate_set.timed_sequence(steps, int(self.channels), close=False)

    def _gate(self, name) -> PlayableGate:
        words, _ = self._words([name, REST])
        if len(words) > QUEUED:
            raise PulseError(f"gate {name}: {len(words)} words are more than can be queued at once; use a sequence")
        pulses = self.gate_set.gates[name]
        adjustable = _numbers(self.gate_set.core.clock * self.gate_set.core.samples_per_cycle)
        places: list = []
        if name in self._open:
            places = self._places(name)
        elif any(isinstance(getattr(pulse, field), Adjustable) for pulse in pulses for field in NAMES):
            # Those of a parameter and channel are consecutive, in playing order.
            for channel, parameter, _, word in sorted(self.gate_set.adjustable(name), key=lambda row: (row[1], row[0])):
                shaped = self._is_shaped(name, channel, parameter)
                adjustable.append(int32(parameter | shaped * facts.ADJUSTABLE_SHAPED))
                adjustable += [*int32s(word), *_numbers(_greatest_factor(parameter, word))]
            self._changeable |= {(row[0], Mode.PROGRAM_PLUT, row[2]) for row in self.gate_set.adjustable(name)}
        return PlayableGate(name, words, self.gate_set.cycles(name), adjustable, self.cycle_mu, places)

    def _places(self, name) -> list:
        """Return the places of a gate that kernels make, on each channel: its number, id, first entry of the map, and
        the addresses of its segments."""
        segments = self.gate_set.adjustable(name)
        found = []
        for channel, number, first in self.gate_set.places(name):
            addresses = [row[2] for row in segments if row[0] == channel]
            found.append((channel, number, first, addresses))
            self._changeable |= {(channel, Mode.PROGRAM_PLUT, address) for address in addresses}
            self._changeable |= {(channel, Mode.PROGRAM_MLUT, first + n) for n in range(len(addresses))}
            self._changeable.add((channel, Mode.PROGRAM_GLUT, number))
        return found

    def _is_shaped(self, name, channel, parameter) -> bool:
        of_channel = [pulse for pulse in self.gate_set.gates[name] if pulse.channel == channel]
        values = [getattr(pulse, NAMES[parameter]) for pulse in of_channel]
        shapes = [value.shape for value in values if isinstance(value, Adjustable)]
        shaped = {not isinstance(shape, int | float | numpy.number) for shape in shapes}
        if len(shaped) != 1:
            raise PulseError(
                f"gate {name}, channel {channel}: {NAMES[parameter]} is adjustable both as a number and as a shape"
            )
        return shaped.pop()

    def __getitem__(self, name: str) -> PlayableGate:
        try:
            return self._gates[name]
        except KeyError:
            raise PulseError(f"gate {name}: there is no such gate") from None

    def sequence(self, steps: Iterable) -> PlayableSequence:
        """Build a sequence. PulseError if it cannot be compiled, or has branches although another
        one has."""
        steps = list(steps)
        branches = any(isinstance(step, Branch) for step in steps)
        if branches and self._branches:
            raise PulseError("two sequences of a program have branches; combine them into one")
        self._branches |= branches
        words, starts = self._words([*steps, REST])
        return PlayableSequence(self, words, starts, self._marks(steps), self.cycle_mu)

    def _marks(self, steps) -> list[Mark]:
        """Return the intervals of gates, starting at 0; the last mark ends with the sequence."""
        marks, at = [], 0
        for step in steps:
            if isinstance(step, Branch):
                end = at + max((sum(map(self.gate_set.cycles, case)) for case in step.cases), default=0)
                marks.append(self._mark("branch", -1, at, end))
            else:
                names = [step] if isinstance(step, str) else list(step)
                end = at + max(map(self.gate_set.cycles, names), default=0)
                for name in names:
                    lengths = self.gate_set.channel_cycles(name)
                    marks += [self._mark(name, channel, at, at + length) for channel, length in lengths.items()]
            at = end
        marks.append(self._mark("end", -1, at, at))
        return marks

    def _mark(self, name, channel, begin, end) -> Mark:
        return Mark(name, channel, begin * self.cycle_mu, end * self.cycle_mu)

    @property
    def programming(self) -> list:
        """The words that kernels send to program the tables."""
        return int32s(in_order(self.gate_set.programming()))


def _open_gates(gates: Mapping) -> tuple[dict[str, Room], dict[str, list[Pulse]]]:
    """Return the gates that have room, and all gates as pulses."""
    found = {name: gate for name, gate in gates.items() if isinstance(gate, Room)} if isinstance(gates, Mapping) else {}
    pulses = {}
    for name, room in found.items():
        try:
            pulses[name] = room.pulses()
        except PulseError as error:
            raise PulseError(f"gate {name}: {error}") from None
    return found, checked_gates({**gates, **pulses} if found else gates)
