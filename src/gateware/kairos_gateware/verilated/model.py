"""RTIO semantics in plain Python, independent of the gateware's structure: the reference for random
streams.

Times are coarse (8 ns). The model gets accepted commands with the counter's value in the cycle of
acceptance, and the levels applied to input pads; it predicts statuses, errors, pad changes and
input events.
"""

from dataclasses import dataclass, field

__all__ = ["MIN_SLACK", "Model"]

MIN_SLACK = 7
LANES = 8
UNDERFLOW, UNREACHABLE = 2, 4


@dataclass
class Model:
    """kinds: `ttl_out`, `ttl_inout` or `log` for each channel number. Lanes, or the pool, are
    assumed to be deep enough. reordering: events are executed in any order of submission, as long
    as no more than LANES are in the same cycle; of more, the model drops the last submitted, the
    logic those that reach the wheel last (`crowded`)."""

    kinds: list[str]
    reordering: bool = False
    accepted: list[tuple] = field(default_factory=list)  # (coarse, channel, address, fine, data), as submitted
    sequence_errors: list[tuple] = field(default_factory=list)  # (coarse, channel), as submitted
    _last: list[int] = field(default_factory=lambda: [0] * LANES)
    _current: int = 0
    _used: dict[int, int] = field(default_factory=dict)

    def output(self, now, channel, address, timestamp, data):
        """A command accepted at counter value `now`; timestamp in machine units. Returns the
        status."""
        if channel >= len(self.kinds):
            return UNREACHABLE
        if self.kinds[channel] == "log":
            return 0
        coarse = timestamp >> 3
        if coarse < now + MIN_SLACK:
            return UNDERFLOW
        if self._place(coarse):
            self.accepted.append((coarse, channel, address, timestamp & 7, data))
        else:
            self.sequence_errors.append((coarse, channel))
        return 0

    def _place(self, coarse):
        """Whether there is a place for an event of this time, which is then occupied."""
        if self.reordering:
            self._used[coarse] = self._used.get(coarse, 0) + 1
            return self._used[coarse] <= LANES
        for step in range(LANES):
            lane = (self._current + step) % LANES
            if coarse > self._last[lane]:
                self._current = lane
                self._last[lane] = coarse
                return True
        return False

    def crowded(self):
        """{coarse: channels} of the cycles with more events than lanes."""
        times = {coarse for coarse, _ in self.sequence_errors}
        events = [event[:2] for event in self.accepted] + self.sequence_errors
        return {time: {channel for coarse, channel in events if coarse == time} for time in times}

    def executed(self):
        """Events in order of time. Of a channel's events of one cycle the last submitted counts."""
        return [events[-1] for _, events in self._slots()]

    def collisions(self):
        """(coarse, channel) of events of one cycle that differ in fine time or address, in order of
        time."""
        return [slot for slot, events in self._slots() if len({event[2:4] for event in events}) > 1]

    def _slots(self):
        slots = {}
        for event in self.accepted:
            slots.setdefault(event[:2], []).append(event)
        return sorted(slots.items())

    def pad_changes(self, until=1 << 61):
        """Sorted list of (coarse, pad, level, driven) before `until`; pads are numbered like
        channels. Starts undriven or low."""
        level, driven = {}, {}
        changes = []
        for coarse, channel, address, _, data in self.executed():
            if coarse >= until:
                break
            out = self.kinds[channel] == "ttl_out"
            before = level.get(channel, 0), driven.get(channel, int(out))
            if out or address == 0:
                level[channel] = data & 1
            elif address == 1:
                driven[channel] = data & 1
            after = level.get(channel, 0), driven.get(channel, int(out))
            if after != before:
                changes.append((coarse, channel, *after))
        return changes

    def input_events(self, channel, levels):
        """Sorted list of (coarse, level). levels: list of (coarse, level) applied to the pad, in
        order of time; a driven pad has its own level."""
        gates = [(c, a, d) for c, ch, a, _, d in self.executed() if ch == channel and a >= 2]
        driven = [(c, o, oe) for c, ch, o, oe in self.pad_changes() if ch == channel]
        times = {c for c, _ in levels} | {c for c, a, _ in gates if a == 3} | {c for c, _, _ in driven}
        events = []
        previous = 0
        for now in sorted(times):
            level = ([value for c, value in levels if c <= now] or [0])[-1]
            _, own, enabled = ([change for change in driven if change[0] <= now] or [(0, 0, 0)])[-1]
            level = own if enabled else level
            sensitivity = ([d for c, _, d in gates if c <= now] or [0])[-1]
            edge = 1 if level and not previous else 2 if previous and not level else 0
            if edge & sensitivity or (now, 3) in {(c, a) for c, a, _ in gates}:
                events.append((now, level))
            previous = level
        return events
