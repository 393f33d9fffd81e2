"""The levels of the pins over time.

Times are nanoseconds since the first change of a pin in the recording (`origin_ns` is that instant
in device time), so that two runs of an experiment compare equal even if one device had been
switched on longer before.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from .wave import Wave

__all__ = ["Channel", "Clock", "Pulse", "Recording"]

CLOCK_CHANGES = 100
"""A clock with more changes is stored and shown as a clock, not as pulses."""


@dataclass
class Channel:
    """One pin. A level is 0, 1, or None while the pin is not driven."""

    name: str
    number: int | None
    """RTIO channel."""
    initial: int | None
    changes: list[tuple[int, int | None]] = field(default_factory=list)
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

    def parts(self) -> Iterator[tuple[list[tuple[int, int | None]], Wave | None]]:
        """Yield the activity in order: changes, and the wave that follows them; None after the last
        changes."""
        position = 0
        for wave in self.waves:
            end = bisect_left(self.changes, wave.time_of(0), position, key=itemgetter(0))
            yield self.changes[position:end], wave
            position = end
        yield self.changes[position:], None

    def pulses(self) -> Iterator["Pulse"]:
        """Yield all pulses except those of clocks, in order."""
        start = None
        for changes, wave in self.parts():
            for time, level in changes:
                if level == 1 and start is None:
                    start = time
                elif level != 1 and start is not None:
                    yield Pulse(self.name, start, time)
                    start = None
            if wave is not None:
                # A pulse that ends with the clock's first change, or begins with its last one,
                # belongs to the clock.
                start = None
        if start is not None:
            yield Pulse(self.name, start, None)


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
        earlier, events = trace["events"][:first_event], trace["events"][first_event:]
        waves = []
        for wave in trace.get("waves", ()):
            past, wave = wave.before(start_ns), wave.since(start_ns)
            if past.changes:
                earlier.append((past.time_of(past.changes - 1), wave.pad, past.final))
            if wave.changes > CLOCK_CHANGES:
                waves.append(wave)
            else:
                events += [(time, wave.pad, level) for time, level in wave.edges()]
        for _, pad, level in sorted(earlier, key=itemgetter(0)):
            pads[pad].initial = level
        firsts = [event[0] for event in events] + [wave.time_of(0) for wave in waves]
        origin = min(firsts, default=0)
        for time, pad, level in sorted(events, key=itemgetter(0)):
            pads[pad].changes.append((time - origin, level))
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
