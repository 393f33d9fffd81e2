"""Search for the delays in front of the receivers of DRTIO over EEM, whose clock has any phase to the lanes' bits.
Clock domain sys.

A lane is sampled twice a bit, behind a delay of 32 taps of 75 ps. At each tap the samples between two bits are counted
(`Transitions`): where the signal is early they are those of the later bit, where it is late of the earlier one. Between
the two, the other samples are in the middle of their bits. The taps cover more than a bit (1.6 ns), so lane 0 has one
place of this kind, or two; the other lanes have one near it, since the traces of a connector are equally long.

         tap 0                        31
    early ────┐        ┌─────────┐            first and last tap with three times as many of the other kind: the
    late      └────────┘         └─────       delay is in the middle between "early" and the "late" that follows

Then the receiver has to find characters (`Receiver`); if it does not, the other place is tried. Without a result, or
with a lane that has no edges, the search is repeated after a pause: a card may be switched on at any time. When
characters are lost and do not come back, it begins anew.
"""

from functools import reduce
from operator import and_

from migen import *

from .eem import LANES, Transitions

__all__ = ["LEAST", "SKEW", "TAPS", "TAP_BITS", "DelaySearch"]

TAP_BITS = 5
TAPS = 2**TAP_BITS
LEAST = 5
"""First tap of lane 0, so that the others may be that much earlier."""
SKEW = 5
"""Greatest distance of another lane's tap from that of lane 0: 375 ps."""
_SETTLING = 32
"""Cycles after which the samples are those of a new delay."""


class _Lane(Module):
    """What is known of a lane: `samples` (in, 3 bits), as of `Transitions`, counted while `count` (in). `tap` (in, 5
    bits): the one at which they were counted, in a cycle with `judge` (in). `clear` (in): of another search. `marks`
    (out, 42 bits): places where the delay may be, from `SKEW` taps before the one that is tried, which is 0 after a
    search and one more after each `shift` (in). `offset` (out, 4 bits): of the first of these. enough: edges without
    which a tap says nothing."""

    def __init__(self, enough):
        self.samples, self.count = Signal(3), Signal()
        self.tap, self.judge, self.clear, self.shift = Signal(TAP_BITS), Signal(), Signal(), Signal()
        self.marks, self.offset = Signal(TAPS + 2 * SKEW), Signal(max=2 * SKEW + 1)

        # # #

        self.submodules.transitions = counts = Transitions()
        early, late, some = Signal(), Signal(), Signal()
        last, seen, total = Signal(TAP_BITS), Signal(), Signal(TAP_BITS + 1)
        self.comb += [
            counts.samples.eq(self.samples),
            counts.clear.eq(~self.count & ~self.judge),
            some.eq(counts.high + counts.low >= enough),
            early.eq(counts.low + (counts.low << 1) < counts.high),
            late.eq(counts.high + (counts.high << 1) < counts.low),
            total.eq(last + self.tap),
        ]
        place = [self.marks[n].eq(1) for n in range(len(self.marks))]
        self.sync += [
            If(
                self.judge,
                If(~some, seen.eq(0))
                .Elif(early, last.eq(self.tap), seen.eq(1))
                .Elif(
                    late,
                    seen.eq(0),
                    If(seen, Case(total[1:], {n: place[n + SKEW] for n in range(TAPS)})),
                ),
            ),
            If(self.shift, self.marks.eq(self.marks[1:])),
            If(self.clear, self.marks.eq(0), seen.eq(0)),
        ]
        first = If(self.marks[0], self.offset.eq(0))
        for n in range(1, 2 * SKEW + 1):
            first = first.Elif(self.marks[n], self.offset.eq(n))
        self.comb += first


class DelaySearch(Module):
    """`samples` (in, 3 bits each): of the lanes, as of `Transitions`. `ready` (in): the delays work. `aligned` (in):
    the receiver has found characters. `taps` (out, 5 bits each): to be set in a cycle with `load` (out). `found`
    (out): they are the lanes' delays, and characters were found with them. `tries` (out): characters are to be looked
    for; until then what the receiver knows is of other delays.

    window: cycles counted at each tap. pause: cycles until a search without a result is repeated. patience: within
    which the receiver finds characters, or finds them again.
    """

    def __init__(self, window=2**16, pause=2**20, patience=2**18):
        self.samples = [Signal(3, name=f"samples_{n}") for n in range(LANES)]
        self.taps = [Signal(TAP_BITS, name=f"tap_{n}") for n in range(LANES)]
        self.ready, self.aligned, self.load, self.found = Signal(), Signal(), Signal(), Signal()
        self.tries = Signal()

        # # #

        self.lanes = [_Lane(max(1, window // 64)) for _ in range(LANES)]
        self.submodules += self.lanes
        timer, length, start = Signal(max=max(window, pause, patience) + 1), Signal(32), Signal()
        self._over = Signal()
        self.sync += If(start, timer.eq(length)).Elif(timer != 0, timer.eq(timer - 1))
        self.comb += self._over.eq(timer == 0)

        def wait(cycles):
            return [start.eq(1), length.eq(cycles)]

        self.submodules.fsm = fsm = ResetInserter()(FSM(reset_state="PAUSE"))
        self.comb += fsm.reset.eq(~self.ready)
        self._count(fsm, wait, window)
        self.comb += self.tries.eq(fsm.ongoing("ALIGN") | fsm.ongoing("RUN") | fsm.ongoing("LOST"))
        self._choose(fsm, wait, pause, patience)
        fsm.act("PAUSE", If(self._over, NextState("BEGIN")))
        fsm.act("RUN", self.found.eq(1), If(~self.aligned, *wait(patience), NextState("LOST")))
        fsm.act("LOST", self.found.eq(1), If(self.aligned, NextState("RUN")).Elif(self._over, NextState("BEGIN")))

    def _count(self, fsm, wait, window):
        """Counts at each tap, which is that of all lanes."""
        tap, judge, clear, count = Signal(TAP_BITS), Signal(), Signal(), Signal()
        for lane, samples in zip(self.lanes, self.samples, strict=True):
            self.comb += [
                lane.samples.eq(samples),
                lane.tap.eq(tap),
                lane.judge.eq(judge),
                lane.clear.eq(clear),
                lane.count.eq(count),
            ]
        fsm.act("BEGIN", clear.eq(1), NextValue(tap, 0), NextState("SET"))
        fsm.act("SET", [NextValue(lane, tap) for lane in self.taps], NextState("SETS"))
        fsm.act("SETS", self.load.eq(1), *wait(_SETTLING), NextState("SETTLE"))
        fsm.act("SETTLE", If(self._over, *wait(window), NextState("COUNT")))
        fsm.act("COUNT", count.eq(1), If(self._over, NextState("JUDGE")))
        last = tap == TAPS - 1
        fsm.act("JUDGE", judge.eq(1), NextValue(tap, tap + 1), If(last, NextState("CHOOSE")).Else(NextState("SET")))

    def _choose(self, fsm, wait, pause, patience):
        """Tries one place of lane 0 after the other."""
        place, shift, fits = Signal(TAP_BITS), Signal(), Signal()
        near = [lane.marks[: 2 * SKEW + 1] != 0 for lane in self.lanes[1:]]
        self.comb += [
            [lane.shift.eq(shift) for lane in self.lanes],
            fits.eq((place >= LEAST) & self.lanes[0].marks[SKEW] & reduce(and_, near)),
        ]
        offsets = [SKEW, *[lane.offset for lane in self.lanes[1:]]]
        to_next = [
            shift.eq(1),
            NextValue(place, place + 1),
            If(place == TAPS - 1, *wait(pause), NextState("PAUSE")).Else(NextState("CHOOSE")),
        ]
        chosen = [NextValue(tap, place + offset - SKEW) for tap, offset in zip(self.taps, offsets, strict=True)]
        fsm.act("CHOOSE", If(fits, *chosen, NextState("LOAD")).Else(*to_next))
        fsm.act("LOAD", self.load.eq(1), *wait(_SETTLING), NextState("LOADS"))
        fsm.act("LOADS", If(self._over, *wait(patience), NextState("ALIGN")))
        fsm.act("ALIGN", If(self.aligned, NextState("RUN")).Elif(self._over, *to_next))
