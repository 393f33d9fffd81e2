"""The part of a recording that a table or a picture shows."""

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass, replace

from .recording import OPEN, Channel, Recording

__all__ = ["WHOLE", "Window"]


@dataclass(frozen=True)
class Window:
    """Pulses from `start_ns` to `end_ns` (None: no limit), of these `channels` (None: all).
    `last`: only so many of them, the latest, or with `last_ns` those in so many ns before the end."""

    start_ns: int | None = None
    end_ns: int | None = None
    channels: Collection[str] | None = None
    last: int | None = None
    last_ns: int | None = None
    skipped: str = ""
    """Why what is before `start_ns` is not shown, if the user has not asked for that."""

    @property
    def is_asked(self) -> bool:
        """Whether the user has chosen times."""
        return not self.skipped and (self.start_ns, self.end_ns, self.last_ns, self.last) != (None,) * 4

    def has(self, name: str) -> bool:
        """Return whether a channel is shown. ``spi0`` stands for all pads of that bus, too."""
        return self.channels is None or any(name == one or name.startswith(f"{one}_") for one in self.channels)

    def resolved(self, recording: Recording) -> "Window":
        """Return the window with `last_ns` as a start."""
        if self.last_ns is None:
            return self
        end = recording.duration_ns if self.end_ns is None else self.end_ns
        return replace(self, start_ns=max(end - self.last_ns, self.start_ns or 0), last_ns=None)

    def chosen(self, starts, ends):
        """Return a mask of the intervals, arrays with the end `OPEN` where there is none, that are
        partly inside."""
        import numpy as np  # imported late: it takes 0.15 s, in which a device boots

        found = np.ones(len(starts), bool)
        if self.start_ns is not None:
            found &= (ends >= self.start_ns) | (ends == OPEN)
        if self.end_ns is not None:
            found &= starts <= self.end_ns
        return found

    def part(self, recording: Recording) -> Recording:
        """Return the recording of the shown channels and times; times count as before. With `last`
        it begins with the first of the last pulses."""
        channels = [channel for channel in recording.channels if self.has(channel.name)]
        start, end = self.start_ns, self.end_ns
        if self.last is not None:
            found = sorted(
                first
                for channel in channels
                for first in channel.spans()[0][self.chosen(*channel.spans())][-self.last :].tolist()
            )
            start = max(found[-self.last :][:1] + [start or 0])
        if (start, end) != (None, None):
            channels = [_cut(channel, start, end) for channel in channels]
        return Recording(channels, recording.origin_ns)


WHOLE = Window()
"""Everything."""


def _cut(channel: Channel, start: int | None, end: int | None) -> Channel:
    """Return the activity of a channel within some time."""
    times = [time for time, _ in channel.changes] if isinstance(channel.changes, list) else channel.changes.times
    first = 0 if start is None else bisect_left(times, start)
    last = len(times) if end is None else bisect_left(times, end + 1)
    waves, initial = [], channel.initial if first == 0 else channel.changes[first - 1][1]
    before = channel.changes[first - 1][0] if first else None
    for wave in channel.waves:
        past = wave.before(start) if start is not None else wave._replace(changes=0)
        if past.changes and (before is None or past.time_of(past.changes - 1) > before):
            initial = past.final
        wave = wave if start is None else wave.since(start)
        wave = wave if end is None else wave.before(end + 1)
        if wave.changes:
            waves.append(wave)
    return Channel(channel.name, channel.number, initial, channel.changes[first:last], waves)
