"""What a satellite has taken and not executed yet when its logic begins anew: it is lost, and nobody there knows of it.

Who has sent the events keeps how many there were since all had been executed, and the latest of
their times. When the link comes back, the satellite's counter tells whether its logic has gone on:
then they are executed; a counter that has begun anew is far from what it should be.

What the satellite drops itself, by a reset of its RTIO core that the board above has not asked for,
is known there (`Discarded`). Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from ..rtio.timing import COARSE_BITS

__all__ = ["COUNT_BITS", "NEAR_BITS", "Discarded", "Taken", "Unplayed"]

COUNT_BITS = 16
NEAR_BITS = 20
"""A counter that is less than 2^20 cycles (8 ms) from the own one has gone on, if with a clock of
its own meanwhile. Logic that begins anew does so later than that after the board above."""


class Unplayed(Module):
    """timebase: the near one. `sent`: an event of the time `coarse` is, in this cycle. `joined`:
    the link is there. `heard`: in this cycle for the first time since then the far counter is
    known, and is `far`. `forgets`: all that was sent is dropped, as was asked for.

    `lost`: for a cycle, events are. `total`: how many, at most, up to now; stops at its greatest value.
    """

    def __init__(self, timebase):
        self.sent, self.coarse = Signal(), Signal(COARSE_BITS)
        self.joined, self.heard, self.far = Signal(), Signal(), Signal(COARSE_BITS)
        self.forgets = Signal()
        self.lost, self.total = Signal(), Signal(COUNT_BITS)

        # # #

        latest, count, waiting = Signal(COARSE_BITS), Signal(COUNT_BITS), Signal()
        was_joined, open_ = Signal(), Signal()
        apart, sum_ = Signal(COARSE_BITS), Signal(COUNT_BITS + 1)
        self.comb += [
            waiting.eq(latest >= timebase.coarse),
            apart.eq(timebase.coarse - self.far + 2**NEAR_BITS),
            self.lost.eq(self.heard & open_ & (apart[NEAR_BITS + 1 :] != 0)),
            sum_.eq(self.total + count),
        ]
        self.sync += [
            was_joined.eq(self.joined),
            If(
                self.sent,
                If(~waiting, latest.eq(self.coarse), count.eq(1)).Else(
                    If(self.coarse > latest, latest.eq(self.coarse)),
                    If(count != 2**COUNT_BITS - 1, count.eq(count + 1)),
                ),
            ),
            If(was_joined & ~self.joined & waiting, open_.eq(1)),
            If(self.lost, self.total.eq(Mux(sum_[COUNT_BITS], 2**COUNT_BITS - 1, sum_)), latest.eq(0)),
            If(self.heard, open_.eq(0)),
            If(self.forgets, open_.eq(0), latest.eq(0)),
        ]


class Taken:
    """An output for the board above that the core has taken: `valid` in that cycle, its time, its
    channel with the offset of its board (`rtio_words`)."""

    def __init__(self):
        self.valid, self.coarse, self.channel = Signal(), Signal(COARSE_BITS), Signal(24)


class Discarded(Module):
    """What a board drops of the outputs that it has taken for the board above. timebase: of its
    core. taken: `Taken` of each way by which they come.

    `resets`: the core is reset by this board. `forgets`: by the board above. `lost`: for a cycle,
    some are dropped that were not executed; `channel`: of the newest.
    """

    def __init__(self, timebase, taken):
        self.resets, self.forgets = Signal(), Signal()
        self.lost, self.channel = Signal(), Signal(24)

        # # #

        latest = Signal(COARSE_BITS)
        arrives = reduce(or_, [output.valid for output in taken])
        self.sync += [
            self.lost.eq(self.resets & ~self.forgets & (arrives | (latest >= timebase.coarse))),
            [If(output.valid, self.channel.eq(output.channel)) for output in taken],
            [If(output.valid & (output.coarse > latest), latest.eq(output.coarse)) for output in taken],
            If(self.resets | self.forgets, latest.eq(0)),
        ]
