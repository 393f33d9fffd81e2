"""The levels of the pins over time.

Times are nanoseconds since the first change of a pin in the recording (`origin_ns` is that moment in device time), so
that two runs of an experiment compare equal although one device may have been switched on a little longer before.
"""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Channel", "Pulse", "Recording"]


@dataclass
class Channel:
    """One pin. A level is 0, 1, or None while the pin is not driven."""

    name: str
    number: int | None
    """RTIO channel."""
    initial: int | None
    changes: list[tuple[int, int | None]] = field(default_factory=list)
    """(time in ns, new level), in order."""

    @property
    def board(self) -> int:
        """Destination of the board on which the pin is; 0: the master, or the only one."""
        return 0 if self.number is None else self.number >> 16


@dataclass(frozen=True)
class Pulse:
    """A time during which a pin was high. `end_ns` is None if it still was when the recording ended."""

    channel: str
    start_ns: int
    end_ns: int | None

    @property
    def width_ns(self) -> int | None:
        """How long it was high; None if it has no end."""
        return None if self.end_ns is None else self.end_ns - self.start_ns


@dataclass
class Recording:
    """The channels of a device, in order of their number, and where the time axis begins."""

    channels: list[Channel]
    origin_ns: int = 0

    @classmethod
    def from_trace(cls, trace: dict, first_event: int = 0, names: dict[int, str] | None = None) -> "Recording":
        """The recording of an emulator's `trace`; the events before number `first_event` give the initial levels.

        `names` maps RTIO channels to device names. Channels without one, and those with several pads, are called as the
        gateware calls the pads.
        """
        pads_of = Counter(pad["channel"] for pad in trace["pads"])
        names = {channel: name for channel, name in (names or {}).items() if pads_of[channel] == 1}
        pads = {
            pad["index"]: Channel(names.get(pad["channel"], pad["name"]), pad["channel"], None) for pad in trace["pads"]
        }
        for _, pad, level in trace["events"][:first_event]:
            pads[pad].initial = level
        events = trace["events"][first_event:]
        origin = min((event[0] for event in events), default=0)
        for time, pad, level in sorted(events, key=lambda event: event[0]):
            pads[pad].changes.append((time - origin, level))
        order = sorted(pads.values(), key=lambda channel: (channel.number is None, channel.number, channel.name))
        return cls(order, origin)

    def board_names(self) -> dict[int, str]:
        """Name of each board that has a pin, by its destination."""
        boards = sorted({channel.board for channel in self.channels})
        return {board: f"satellite{board}" if board else "master" if len(boards) > 1 else "pins" for board in boards}

    @property
    def event_count(self) -> int:
        """Changes of all channels, initial levels not counted."""
        return sum(len(channel.changes) for channel in self.channels)

    @property
    def duration_ns(self) -> int:
        """Time of the last change, 0 if there is none."""
        return max((channel.changes[-1][0] for channel in self.channels if channel.changes), default=0)

    def active(self) -> list[Channel]:
        """The channels that changed."""
        return [channel for channel in self.channels if channel.changes]

    def pulses(self) -> list[Pulse]:
        """All pulses, in order of their start, then of their channel."""
        found = []
        for position, channel in enumerate(self.channels):
            start = None
            for time, level in channel.changes:
                if level == 1 and start is None:
                    start = time
                elif level != 1 and start is not None:
                    found.append((start, position, Pulse(channel.name, start, time)))
                    start = None
            if start is not None:
                found.append((start, position, Pulse(channel.name, start, None)))
        return [pulse for _, _, pulse in sorted(found, key=lambda entry: entry[:2])]
