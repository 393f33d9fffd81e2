"""What differs between two recordings: events that moved, appeared or vanished, channel by channel.

Times count from the first change of each recording; if that is another one, from where most events agree. Channels are
those of the same board and name, or number if only the name is another one. The events of a channel are matched in
order, by their times or by the times between them, in a time proportional to their number.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from .changes import Changes
from .recording import Channel, Recording
from .table import format_duration

__all__ = ["RENAMED", "Difference", "differences"]

MATCHED = 1000
"""Events of a channel that are matched by the times between them; of more, what lies between a beginning and an end in
common is matched by time."""
PARTS = 20
"""Differences of one kind in a channel; more of them are summed up in one."""
SHIFTED = 10_000
"""Events at each end of a channel that tell by how much a recording begins earlier."""
RENAMED = "renamed"
"""Kind of a difference that is one of names only."""
LEVELS = {0: "low", 1: "high", None: "not driven"}


@dataclass(frozen=True)
class Difference:
    """Events of a channel that differ in the same way."""

    channel: str
    kind: str
    """``moved``, ``missing`` (only in the first recording), ``new`` (only in the second), ``clock``, ``level`` (the
    one at the beginning), ``renamed``, ``start`` (of the recording: its first event is another one)"""
    count: int
    first_ns: int
    """Time of the first one, in the recording that has it."""
    last_ns: int
    shift_ns: int = 0
    """By how much they come later in the second recording; of several times the first limit."""
    most_ns: int | None = None
    """The other limit, if it is not the same for all."""
    other: str = ""
    """What the second recording has instead: a level, a name."""

    @property
    def text(self) -> str:
        """Describe it in one line."""
        if self.kind == "start":
            return (
                f"the second begins {_later(-self.shift_ns)}, with another event: its times are compared without that"
            )
        if self.kind == RENAMED:
            return f"{self.channel}: called {self.other} in the second"
        if self.kind == "level":
            return f"{self.channel}: {self.other} at the beginning"
        events = f"{self.count:,} event{'' if self.count == 1 else 's'}"
        place = f"at {format_duration(self.first_ns)}"
        if self.count > 1:
            place = f"from {format_duration(self.first_ns)} to {format_duration(self.last_ns)}"
        if self.kind == "moved":
            most = "" if self.most_ns is None else f" to {_later(self.most_ns)}"
            return f"{self.channel}: {events} {place} {_later(self.shift_ns)}{most}"
        what = {"missing": "only in the first", "new": "only in the second", "clock": "another clock"}[self.kind]
        return f"{self.channel}: {events} {place} {what}"

    def described(self) -> dict:
        """Return it as JSON."""
        return {name: value for name, value in vars(self).items() if value not in (None, "")}


def _later(shift_ns: int) -> str:
    return f"{format_duration(abs(shift_ns))} {'later' if shift_ns > 0 else 'earlier'}"


def differences(one: Recording, other: Recording) -> list[Difference]:
    """Return what differs, by channel, in the order of time."""
    pairs = _paired(one, other)
    start = _start(pairs)
    found = [Difference("", "start", 0, 0, 0, start)] if start else []
    for name, a, b in pairs:
        if a is not None and b is not None:
            if (a.board, a.name) != (b.board, b.name):
                found.append(Difference(name, RENAMED, 0, 0, 0, other=b.name))
            if a.initial != b.initial:
                levels = f"{LEVELS[a.initial]} in the first, {LEVELS[b.initial]} in the second"
                found.append(Difference(name, "level", 0, 0, 0, other=levels))
        changes = [Changes.of([] if channel is None else channel.changes) for channel in (a, b)]
        found += sorted(_of_channel(name, *changes, start), key=lambda each: each.first_ns)
        found += _of_clocks(name, [] if a is None else a.waves, [] if b is None else b.waves, start)
    return found


def _paired(one: Recording, other: Recording) -> list[tuple[str, Channel | None, Channel | None]]:
    """Return the channels of both that belong together, with what they are called here."""
    first, second = _named(one), _named(other)
    left = {key: channel for key, channel in second.items() if key not in first}
    pairs = []
    for key, channel in first.items():
        found = second.get(key)
        if found is None and channel.number is not None:
            same = [each for each, given in left.items() if given.number == channel.number and _is_like(channel, given)]
            found = left.pop(same[0]) if len(same) == 1 else None
        pairs.append((key, channel, found))
    pairs += [(key, None, channel) for key, channel in left.items()]
    boards = one.board_names() | other.board_names()
    names = Counter(key[1] for key, *_ in pairs)
    return [
        (name if names[name] == 1 else f"{boards[board]} {name}{f' ({order + 1})' if order else ''}", *channels)
        for (board, name, order), *channels in pairs
    ]


def _named(recording: Recording) -> dict[tuple[int, str, int], Channel]:
    """Return the channels by board and name; of several with the same one, by their order."""
    found: dict[tuple[int, str, int], Channel] = {}
    for channel in recording.channels:
        order = 0
        while (key := (channel.board, channel.name, order)) in found:
            order += 1
        found[key] = channel
    return found


def _is_like(one: Channel, other: Channel) -> bool:
    """Return whether a channel does much the same as one of another name: another device may have its number."""
    import numpy as np  # imported late, as in `changes`

    a, b = Changes.of(one.changes), Changes.of(other.changes)
    if len(a) == len(b):
        return bool((a.levels == b.levels).all())
    return 2 * int(np.isin(a.times, b.times).sum()) >= min(len(a), len(b)) > 0


def _start(pairs) -> int:
    """Return by how much the second recording is later, if both begin with different events: most agree then."""
    import numpy as np  # imported late, as in `changes`

    votes: Counter[int] = Counter()
    for _, first, second in pairs:
        if first is None or second is None:
            continue
        a, b = Changes.of(first.changes), Changes.of(second.changes)
        short = min(len(a), len(b), SHIFTED)
        if not short:
            continue
        if a.times[0] == b.times[0] == 0 and a.levels[0] == b.levels[0]:
            return 0
        shifts = [b.times[:short] - a.times[:short]]
        if len(a) != len(b) or len(a) > short:
            shifts.append(b.times[-short:] - a.times[-short:])
        values, counts = np.unique(np.concatenate(shifts), return_counts=True)
        votes.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    best = max(votes, key=lambda shift: (votes[shift], -abs(shift)), default=0)
    return best if votes[best] > votes[0] and 4 * votes[best] > votes.total() else 0


def _of_clocks(name: str, one: list, other: list, start: int) -> Iterator[Difference]:
    if [wave[1:] for wave in one] == [wave.moved(-start)[1:] for wave in other]:
        return
    shown = one or other
    last = shown[-1].time_of(max(shown[-1].changes - 1, 0))
    yield Difference(name, "clock", sum(wave.changes for wave in shown), shown[0].time_ns, last)


def _of_channel(name: str, a: Changes, b: Changes, start: int) -> Iterator[Difference]:
    """Yield what differs between the events of two channels. `start`: by how much those of the second are later."""
    b = Changes(b.times - start, b.levels)
    if len(a) == len(b) and (a.times == b.times).all() and (a.levels == b.levels).all():
        return
    found = _outcome(a, b, *_matched(a, b))
    if len(a) == len(b) and (a.levels == b.levels).all():
        import numpy as np  # imported late, as in `changes`

        every = np.arange(len(a))
        in_order = _outcome(a, b, every, every)
        # Each event has moved, unless there is a far simpler explanation.
        if sum(map(len, found)) * 2 > sum(map(len, in_order)):
            found = in_order
    (places, shifts), missing, new = (found[0], found[1]), found[2], found[3]
    yield from _moved(name, a.times, places, shifts)
    yield from _only(name, "missing", a.times, missing)
    yield from _only(name, "new", b.times + start, new)


def _outcome(a: Changes, b: Changes, first, second):
    """Return what differs if the events with these numbers (arrays, in order) belong together: numbers of those that
    have moved, by how much, and numbers of those that only one has. Between two pairs, events belong together in
    order."""
    import numpy as np  # imported late, as in `changes`

    before, after = np.append(-1, first), np.append(-1, second)
    gaps = np.diff(np.append(before, len(a))) - 1, np.diff(np.append(after, len(b))) - 1
    both = np.minimum(*gaps)
    one = np.concatenate([first, _ranges(before + 1, both)])
    other = np.concatenate([second, _ranges(after + 1, both)])
    order = np.argsort(one, kind="stable")
    one, other = one[order], other[order]
    shifts = b.times[other] - a.times[one]
    moved = np.flatnonzero(shifts)
    return (
        one[moved],
        shifts[moved],
        _ranges(before + 1 + both, gaps[0] - both),
        _ranges(after + 1 + both, gaps[1] - both),
    )


def _ranges(starts, lengths):
    """Return the numbers of all ranges, given by arrays, one after the other."""
    import numpy as np  # imported late, as in `changes`

    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


def _matched(a: Changes, b: Changes):
    """Return the numbers of the events that belong together, as two arrays."""
    import numpy as np  # imported late, as in `changes`

    short = min(len(a), len(b))
    same = (a.times[:short] == b.times[:short]) & (a.levels[:short] == b.levels[:short])
    begin = short if same.all() else int(np.argmin(same))
    # What follows the last difference may be later as a whole.
    left = short - begin
    late = int(b.times[-1] - a.times[-1]) if short else 0
    same = (a.times[len(a) - left :] + late == b.times[len(b) - left :]) & (
        a.levels[len(a) - left :] == b.levels[len(b) - left :]
    )
    end = left if same.all() else int(np.argmin(same[::-1]))
    inner = [Changes(part.times[begin : len(part) - end], part.levels[begin : len(part) - end]) for part in (a, b)]
    if max(map(len, inner)) <= MATCHED:
        first, second = _by_either(*inner)
    else:
        first, second = max((_by_time(*inner, shift) for shift in {0, late}), key=lambda found: len(found[0]))
    ends = [np.arange(len(part) - end, len(part)) for part in (a, b)]
    return tuple(
        np.concatenate([np.arange(begin), numbers + begin, last])
        for numbers, last in zip((first, second), ends, strict=True)
    )


def _by_time(a: Changes, b: Changes, shift: int):
    """Return the numbers of events that come by `shift` later, as two arrays."""
    import numpy as np  # imported late, as in `changes`

    places = np.searchsorted(b.times, a.times + shift)
    first = np.flatnonzero(places < len(b))
    places = places[first]
    first = first[(b.times[places] == a.times[first] + shift) & (b.levels[places] == a.levels[first])]
    second = np.searchsorted(b.times, a.times[first] + shift)
    alone = np.diff(second, prepend=-1) > 0  # several of one time
    return first[alone], second[alone]


def _by_either(a: Changes, b: Changes):
    """Return the same by time, or by the times between them, whichever fits better: events were added, or everything
    after one moved."""
    import numpy as np  # imported late, as in `changes`

    found = []
    for of in (lambda times: times, lambda times: np.diff(times, prepend=times[:1])):
        words = [list(zip(of(part.times).tolist(), part.levels.tolist(), strict=True)) for part in (a, b)]
        blocks = SequenceMatcher(None, *words, False).get_matching_blocks()
        starts, others, sizes = (np.array(column, np.int64) for column in zip(*blocks, strict=True))
        found.append((_ranges(starts, sizes), _ranges(others, sizes)))
    return max(found, key=lambda each: len(each[0]))


def _moved(name: str, times, places, shifts) -> Iterator[Difference]:
    """Yield the events with these numbers that moved: neighbours by the same time together."""
    import numpy as np  # imported late, as in `changes`

    breaks = np.flatnonzero((np.diff(places) != 1) | (np.diff(shifts) != 0)) + 1
    at = times[places]
    if len(breaks) >= PARTS:
        least, most = int(shifts.min()), int(shifts.max())
        if most < 0:
            least, most = most, least
        yield Difference(name, "moved", len(at), int(at[0]), int(at[-1]), least, most if most != least else None)
        return
    for first, end in _parts(breaks, len(at)):
        yield Difference(name, "moved", end - first, int(at[first]), int(at[end - 1]), int(shifts[first]))


def _only(name: str, kind: str, times, places) -> Iterator[Difference]:
    """Yield the events with these numbers, which only one recording has: neighbours together."""
    import numpy as np  # imported late, as in `changes`

    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    at = times[places]
    for first, end in _parts(breaks if len(breaks) < PARTS else (), len(at)):
        yield Difference(name, kind, end - first, int(at[first]), int(at[end - 1]))


def _parts(breaks, length: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the parts between the breaks."""
    bounds = [0, *map(int, breaks), length] if length else [0]
    yield from zip(bounds, bounds[1:], strict=False)
