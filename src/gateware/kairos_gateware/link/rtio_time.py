"""Gives the satellite's counter the master's time, by the measured round trip.

    near: echo ──A──▶ far: echoed ──A──▶ near    round trip 2 A + 1
    near: time = counter + A + 1 ──A──▶ far      loads it: from the next cycle on both counters agree
    near: echo ──A──▶ far: its counter ──A──▶    must be what the near one's was A cycles after the echo left

Words of all three are equally long, and nothing else is under way meanwhile, so they take the same time. If the third
step does not find what it should, or there is no answer, all begins again. Clock domain sys.
"""

from migen import *

from ..rtio.timing import COARSE_BITS
from .rtio_words import ECHO, fields

__all__ = ["TRAVEL_BITS", "TimeTransfer"]

TRAVEL_BITS = 15
"""Of `travel`, in cycles: up to 260 µs of fibre."""
_PAUSE = 64
"""Cycles in which the far end comes out of its reset, or loads its counter."""


class TimeTransfer(Module):
    """timebase: the near one. sink: of the stream `control`; `asks`: it is wanted. tags: of its forms. source: of the
    stream `status`; `echoed`: it has such a vector. `line_up`: the link carries words, and this end has the right time.

    `agreed`: the counters agree. `travel`: A, in cycles. `outputs`: channels that take outputs, as the far end says.
    """

    def __init__(self, timebase, sink, tags, source):
        self.line_up = Signal()
        self.sink = sink
        self.echoed = Signal()
        self.asks = Signal()
        self.agreed = Signal()
        self.travel = Signal(TRAVEL_BITS)
        self.outputs = Signal(16)

        # # #

        timer = Signal(TRAVEL_BITS + 1)
        expected = Signal(COARSE_BITS)
        came = fields(ECHO, source.data)
        checking = Signal()
        sent = self.asks & sink.ready
        lost = timer == 2 ** len(timer) - 1
        self.submodules.fsm = fsm = ResetInserter()(FSM(reset_state="PAUSE"))
        self.comb += fsm.reset.eq(~self.line_up)
        self.sync += [
            timer.eq(timer + 1),
            If(sent | ~self.line_up, timer.eq(1)),
            If(sent, expected.eq(timebase.coarse + self.travel)),
        ]
        fsm.act("PAUSE", NextValue(checking, 0), If(timer == _PAUSE, NextState("ECHO")))
        fsm.act(
            "ECHO",
            self.asks.eq(1),
            sink.form.eq(tags["echo"]),
            If(sink.ready, NextState("ANSWER")),
        )
        fsm.act(
            "ANSWER",
            If(
                self.echoed,
                NextValue(self.outputs, came["outputs"]),
                If(~checking, NextValue(self.travel, (timer - 1) >> 1), NextState("TIME"))
                .Elif((came["coarse"] == expected) & (timer == (self.travel << 1) + 1), NextState("AGREED"))
                .Else(NextState("AGAIN")),
            ).Elif(lost, NextState("AGAIN")),
        )
        fsm.act(
            "TIME",
            self.asks.eq(1),
            sink.form.eq(tags["time"]),
            sink.data.eq(timebase.coarse + self.travel + 1),
            If(sink.ready, NextState("LOADS")),
        )
        fsm.act("LOADS", NextValue(checking, 1), If(timer == _PAUSE, NextState("ECHO")))
        fsm.act("AGAIN", NextValue(checking, 0), NextState("ECHO"))
        fsm.act("AGREED", self.agreed.eq(self.line_up))
