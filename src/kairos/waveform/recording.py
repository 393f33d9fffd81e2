"""The levels of the pins over time.

Times are nanoseconds since the first change of a pin in the recording (`origin_ns` is that instant
in device time), so that two runs of an experiment compare equal even if one device had been
switched on longer before.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from .changes import FLOATING, Change, Changes, Edges
from .wave import Wave

__all__ = ["OPEN", "Channel", "Clock", "Pulse", "Recording"]

OPEN = -(1 << 63)
"""End of a pulse that was still high at the end of the recording, in an array."""
CLOCK_CHANGES = 100
"""A clock with more changes is stored and shown as a clock, not as pulses."""


@dataclass
class Channel:
    """One pin. A level is 0, 1, or None while the pin is not driven."""

    name: str
    number: int | None
    """RTIO channel."""
    initial: int | None
    changes: Sequence[Change] = field(default_factory=list)
    """(time in ns, new level), in order, without those of `waves`."""
    waves: list[Wave] = field(default_factory=list)
    """Long runs of a clock, in order; no other change occurs within one."""

    @property
    def board(self) -> int:
        """Destination of the pin's board; 0: the master, or the only board."""
        return 0 if self.number is None else self.number >> 16

    @property
    def change_count(self) -> int:
        """Total number of changes."""
        return len(self.changes) + sum(wave.changes for wave in self.waves)

    @property
    def last_ns(self) -> int:
        """Time of the last change, 0 if there is none."""
        ends = [self.changes[-1][0]] if self.changes else []
        return max(ends + [wave.time_of(wave.changes - 1) for wave in self.waves[-1:]], default=0)

    def parts(self) -> Iterator[tuple[Sequence[Change], Wave | None]]:
        """Yield the activity in order: changes, and the wave that follows them; None after the last
        changes."""
        position = 0
        for wave in self.waves:
            end = bisect_left(self.changes, wave.time_of(0), position, key=itemgetter(0))
            yield self.changes[position:end], wave
            position = end
        yield self.changes[position:], None

    def spans(self) -> tuple:
        """Return start and end of each pulse except those of clocks, in order, as arrays; the end
        is `OPEN` if there is none."""
        import numpy as np  # imported late

        starts, ends = [], []
        for part, wave in self.parts():
            changes = Changes.of(part)
            high = changes.levels == 1
            before = np.concatenate(([False], high[:-1])) if len(high) else high
            first, after = changes.times[high & ~before], changes.times[before & ~high]
            if len(first) > len(after):
                # A pulse that ends with a clock's first change belongs to the clock, as does one
                # that begins with its last one.
                first, after = (first, np.append(after, OPEN)) if wave is None else (first[:-1], after)
            starts.append(first)
            ends.append(after)
        return np.concatenate(starts), np.concatenate(ends)

    def pulses(self) -> Iterator["Pulse"]:
        """Yield all pulses except those of clocks, in order."""
        for start, end in zip(*(column.tolist() for column in self.spans()), strict=True):
            yield Pulse(self.name, start, None if end == OPEN else end)


@dataclass(frozen=True)
class Clock:
    """A long run of a clock: its first and last change, their number, and its mean frequency."""

    channel: str
    start_ns: int
    end_ns: int
    changes: int
    frequency_hz: float


@dataclass(frozen=True)
class Pulse:
    """An interval in which a pin was high. `end_ns` is None if it was still high at the end of the
    recording."""

    channel: str
    start_ns: int
    end_ns: int | None

    @property
    def width_ns(self) -> int | None:
        """Duration of the pulse; None if it has no end."""
        return None if self.end_ns is None else self.end_ns - self.start_ns


@dataclass
class Recording:
    """The channels of a device, ordered by number, and the origin of the time axis."""

    channels: list[Channel]
    origin_ns: int = 0

    @classmethod
    def from_trace(
        cls, trace: dict, first_event: int = 0, names: dict[int, str] | None = None, start_ns: int = 0
    ) -> "Recording":
        """Build the recording from an emulator's `trace`; the events before number `first_event`,
        and clock activity before `start_ns`, determine the initial levels.

        `names` maps RTIO channels to device names. Channels without one, and those with several
        pads, have the gateware's names of the pads.
        """
        pads_of = Counter(pad["channel"] for pad in trace["pads"])
        names = {channel: name for channel, name in (names or {}).items() if pads_of[channel] == 1}
        pads = {
            pad["index"]: Channel(names.get(pad["channel"], pad["name"]), pad["channel"], None) for pad in trace["pads"]
        }
        edges = Edges.of(trace["events"])
        earlier = _last(edges.part(slice(first_event)))
        events, waves = [edges.part(slice(first_event, None))], []
        for wave in trace.get("waves", ()):
            past, wave = wave.before(start_ns), wave.since(start_ns)
            if past.changes:
                earlier.append((past.time_of(past.changes - 1), wave.pad, past.final))
            if wave.changes > CLOCK_CHANGES:
                waves.append(wave)
            else:
                events.append(Edges.of([(time, wave.pad, level) for time, level in wave.edges()]))
        for _, pad, level in sorted(earlier, key=itemgetter(0)):
            pads[pad].initial = None if level == FLOATING else level
        recorded = Edges.joined(events)
        firsts = [int(recorded.times.min())] if len(recorded.times) else []
        origin = min(firsts + [wave.time_of(0) for wave in waves], default=0)
        for pad, changes in _by_pad(recorded, origin):
            pads[pad].changes = changes
        for wave in sorted(waves, key=lambda wave: wave.time_ns):
            pads[wave.pad].waves.append(wave.moved(-origin))
        order = sorted(pads.values(), key=lambda channel: (channel.number is None, channel.number, channel.name))
        return cls(order, origin)

    def board_names(self) -> dict[int, str]:
        """Return the name of each board with a pin, by its destination."""
        boards = sorted({channel.board for channel in self.channels})
        return {board: f"satellite{board}" if board else "master" if len(boards) > 1 else "pins" for board in boards}

    @property
    def event_count(self) -> int:
        """Changes of all channels, without initial levels."""
        return sum(channel.change_count for channel in self.channels)

    @property
    def duration_ns(self) -> int:
        """Time of the last change, 0 if there is none."""
        return max((channel.last_ns for channel in self.channels), default=0)

    def active(self) -> list[Channel]:
        """Return the channels that changed."""
        return [channel for channel in self.channels if channel.change_count]

    def pulses(self) -> list[Pulse]:
        """Return all pulses except those of clocks, ordered by start, then by channel."""
        found = [pulse for channel in self.channels for pulse in channel.pulses()]
        # Stable: simultaneous ones stay in the order of their channels.
        return sorted(found, key=lambda pulse: pulse.start_ns)

    def clocks(self) -> list[Clock]:
        """Return the long runs of clocks, ordered by start, then by channel."""
        found = [
            Clock(channel.name, wave.time_of(0), wave.time_of(wave.changes - 1), wave.changes, wave.frequency_hz)
            for channel in self.channels
            for wave in channel.waves
        ]
        return sorted(found, key=lambda clock: clock.start_ns)


def _last(edges: Edges) -> list[tuple[int, int, int]]:
    """Return the last edge of each pad: time, pad, level."""
    import numpy as np  # imported late

    _, back = np.unique(edges.pads[::-1], return_index=True)
    last = edges.part(len(edges.pads) - 1 - back)
    return list(zip(*(column.tolist() for column in last), strict=True))


def _by_pad(edges: Edges, origin_ns: int) -> Iterator[tuple[int, Changes]]:
    """Yield each pad with its changes, whose times count from `origin_ns`."""
    import numpy as np  # imported late

    if np.any(np.diff(edges.times) < 0):
        edges = edges.part(np.argsort(edges.times, kind="stable"))
    # Numbers of 16 bits are sorted in a time that is proportional to their number.
    edges = edges.part(np.argsort(edges.pads.astype(np.uint16), kind="stable"))
    begins = np.flatnonzero(np.diff(edges.pads, prepend=-1))
    ends = np.append(begins[1:], len(edges.pads))[: len(begins)]
    for pad, begin, end in zip(edges.pads[begins].tolist(), begins, ends, strict=True):
        yield pad, Changes(edges.times[begin:end] - origin_ns, edges.levels[begin:end])
