"""What differs between two recordings: events that moved, appeared or vanished, channel by channel.

Times count from the first change of each recording. The events of a channel are matched in order;
where their numbers or levels differ, by their times, or by the times between them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from .changes import Changes
from .recording import Recording
from .table import format_duration

__all__ = ["Difference", "differences"]

MATCHED = 4000
"""Events of a channel that are matched by the times between them; of more, those at the same place."""


@dataclass(frozen=True)
class Difference:
    """Events of a channel, one after the other, that differ in the same way."""

    channel: str
    kind: str
    """``moved``, ``missing`` (only in the first recording), ``new`` (only in the second), ``clock``"""
    count: int
    first_ns: int
    """Time of the first one, in the recording that has it."""
    last_ns: int
    shift_ns: int = 0
    """By how much they come later in the second recording."""

    @property
    def text(self) -> str:
        """Describe it in one line."""
        events = f"{self.count:,} event{'' if self.count == 1 else 's'}"
        place = f"at {format_duration(self.first_ns)}"
        if self.count > 1:
            place = f"from {format_duration(self.first_ns)} to {format_duration(self.last_ns)}"
        if self.kind == "moved":
            later = "later" if self.shift_ns > 0 else "earlier"
            return f"{self.channel}: {events} {place} {format_duration(abs(self.shift_ns))} {later}"
        what = {"missing": "only in the first", "new": "only in the second", "clock": "another clock"}[self.kind]
        return f"{self.channel}: {events} {place} {what}"


def differences(one: Recording, other: Recording) -> list[Difference]:
    """Return what differs, by channel, in the order of time."""
    first = {(channel.board, channel.name): channel for channel in one.channels}
    second = {(channel.board, channel.name): channel for channel in other.channels}
    found = []
    for key in dict.fromkeys([*first, *second]):
        a, b = first.get(key), second.get(key)
        name = (a or b).name
        changes = [Changes.of([] if channel is None else channel.changes) for channel in (a, b)]
        found += _of_channel(name, *changes)
        waves = [[] if channel is None else channel.waves for channel in (a, b)]
        if [wave[1:] for wave in waves[0]] != [wave[1:] for wave in waves[1]]:
            different = waves[0] or waves[1]
            found.append(
                Difference(name, "clock", sum(wave.changes for wave in different), different[0].time_ns,
                           different[-1].time_of(max(different[-1].changes - 1, 0)))
            )  # fmt: skip
    return found


def _of_channel(name: str, a: Changes, b: Changes) -> Iterator[Difference]:
    import numpy as np  # imported late, as in `changes`

    if len(a) == len(b) and (a.levels == b.levels).all():
        yield from _moved(name, a.times, b.times)
        return
    # What they begin and end with in common leaves less to match.
    short = min(len(a), len(b))
    same = (a.times[:short] == b.times[:short]) & (a.levels[:short] == b.levels[:short])
    start = short if same.all() else int(np.argmin(same))
    a, b = Changes(a.times[start:], a.levels[start:]), Changes(b.times[start:], b.levels[start:])
    if max(len(a), len(b)) > MATCHED:
        both = min(len(a), len(b))
        yield from _moved(name, a.times[:both], b.times[:both])
        yield from _only(name, "missing", a.times[both:])
        yield from _only(name, "new", b.times[both:])
        return
    # By time, or by the times between them, whichever fits better: events were added, or everything after one moved.
    matchers = [
        SequenceMatcher(None, *[list(zip(times, part.levels.tolist(), strict=True)) for times, part in pairs], False)
        for pairs in (
            [(part.times.tolist(), part) for part in (a, b)],
            [(np.diff(part.times, prepend=part.times[:1]).tolist(), part) for part in (a, b)],
        )
    ]
    best = max(matchers, key=lambda matcher: sum(block.size for block in matcher.get_matching_blocks()))
    for _, first, end, other, other_end in best.get_opcodes():
        both = min(end - first, other_end - other)
        yield from _moved(name, a.times[first : first + both], b.times[other : other + both])
        yield from _only(name, "missing", a.times[first + both : end])
        yield from _only(name, "new", b.times[other + both : other_end])


def _moved(name: str, a, b) -> Iterator[Difference]:
    """Yield the events that moved: neighbours by the same time together."""
    import numpy as np  # imported late, as in `changes`

    shift = b - a
    if not shift.any():
        return
    bounds = [0, *(np.flatnonzero(np.diff(shift)) + 1).tolist(), len(shift)]
    for first, end in zip(bounds, bounds[1:], strict=False):
        if shift[first]:
            yield Difference(name, "moved", end - first, int(a[first]), int(a[end - 1]), int(shift[first]))


def _only(name: str, kind: str, times) -> Iterator[Difference]:
    if len(times):
        yield Difference(name, kind, len(times), int(times[0]), int(times[-1]))
