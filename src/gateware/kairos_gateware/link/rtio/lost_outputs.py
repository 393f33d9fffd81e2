"""Detects events that a satellite accepted but had not executed when its logic restarted: they are
lost, and the satellite itself does not know of them.

The sender keeps the number of events since all had been executed, and the latest of their times.
When the link is re-established, the satellite's counter shows whether its logic kept running: if
so, the events are executed; a counter that has restarted is far from the expected value.

Events that the satellite drops itself, by a reset of its RTIO core that the upstream board has not
requested, are tracked there (`Discarded`). Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from ...rtio.timing import COARSE_BITS

__all__ = ["COUNT_BITS", "NEAR_BITS", "Discarded", "Taken", "LostOutputs"]

COUNT_BITS = 16
NEAR_BITS = 20
"""A far counter within 2^20 cycles (8 ms) of the own one has kept running, possibly on a
free-running clock meanwhile. Logic that restarts does so more than that later than the upstream
board."""


class LostOutputs(Module):
    """timebase: that of this board. `sent` (in): an event with time `coarse` (in, 61 bits) is sent in this
    cycle. `joined` (in): the link is established. `far_known` (in): in this cycle the far counter, `far`
    (in, 61 bits), is known for the first time since then. `cleared` (in): all events sent are dropped, by
    request.

    `lost` (out): for a cycle, events are lost. `total` (out, 16 bits): upper bound of the events lost so
    far; saturates.
    """

    def __init__(self, timebase):
        self.sent, self.coarse = Signal(), Signal(COARSE_BITS)
        self.joined, self.far_known, self.far = Signal(), Signal(), Signal(COARSE_BITS)
        self.cleared = Signal()
        self.lost, self.total = Signal(), Signal(COUNT_BITS)

        # # #

        latest, count, waiting = Signal(COARSE_BITS), Signal(COUNT_BITS), Signal()
        was_joined, open_ = Signal(), Signal()
        apart, sum_ = Signal(COARSE_BITS), Signal(COUNT_BITS + 1)
        self.comb += [
            waiting.eq(latest >= timebase.coarse),
            apart.eq(timebase.coarse - self.far + 2**NEAR_BITS),
            self.lost.eq(self.far_known & open_ & (apart[NEAR_BITS + 1 :] != 0)),
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
            If(self.far_known, open_.eq(0)),
            If(self.cleared, open_.eq(0), latest.eq(0)),
        ]


class Taken:
    """An output for the upstream board that the core has accepted: `valid` (in) for that cycle, its time, and
    its `channel` (in, 24 bits) with the offset of its board (`rtio_words`).

    `coarse` (in, 61 bits): the time, in cycles.
    """

    def __init__(self):
        self.valid, self.coarse, self.channel = Signal(), Signal(COARSE_BITS), Signal(24)


class Discarded(Module):
    """Outputs accepted for the upstream board that this board drops. timebase: that of its core.
    taken: a `Taken` for each path by which they arrive.

    `resets` (in): the core is reset by this board. `upstream_resets` (in): it is reset by the upstream board. `lost`
    (out): for a cycle, outputs are dropped that were not executed; `channel` (out, 24 bits): that of the
    newest.
    """

    def __init__(self, timebase, taken):
        self.resets, self.upstream_resets = Signal(), Signal()
        self.lost, self.channel = Signal(), Signal(24)

        # # #

        latest = Signal(COARSE_BITS)
        arrives = reduce(or_, [output.valid for output in taken])
        self.sync += [
            self.lost.eq(self.resets & ~self.upstream_resets & (arrives | (latest >= timebase.coarse))),
            [If(output.valid, self.channel.eq(output.channel)) for output in taken],
            [If(output.valid & (output.coarse > latest), latest.eq(output.coarse)) for output in taken],
            If(self.resets | self.upstream_resets, latest.eq(0)),
        ]
