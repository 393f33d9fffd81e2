"""A parameter's FIFO of segments, and its head: the segment that the engine takes next.

Segments of no cycles never become the head: they are dropped when they come to it (`skipped`), and what those of a
frame do to its accumulator is kept with the next head. Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..contracts import pulse as facts
from .words import Segment

__all__ = ["SegmentQueue"]


class SegmentQueue(Module):
    """we, din: a segment goes in, if there is `room`. `valid`: there is a head, `body`, which `take` removes; `waits`:
    it is held until the trigger; `single`: it lasts one cycle.
    `arriving`: there will be a head, or a segment is dropped. frame: `rotation` is to be added to the accumulator
    before the head starts, to 0 if `cleared`."""

    def __init__(self, depth, frame=False):
        self.we, self.room = Signal(), Signal()
        self.din = Signal(facts.BODY_BITS)
        self.valid, self.take = Signal(), Signal()
        self.body = Signal(facts.BODY_BITS)
        self.waits, self.single, self.skipped = Signal(), Signal(), Signal()
        self.cleared, self.rotation = Signal(), Signal(facts.VALUE_BITS)

        # # #

        self.submodules.fifo = fifo = SyncFIFO(facts.BODY_BITS, depth)
        arriving = Segment(fifo.dout)
        empty, moves, self.arriving = Signal(), Signal(), Signal()
        self.comb += [
            # `fifo.writable` in one bit, where that is possible: the sequencer has a long way from here
            self.room.eq(fifo.writable if depth & depth - 1 else ~fifo.level[depth.bit_length() - 1]),
            self.arriving.eq(fifo.readable & (empty | ~self.valid)),
            fifo.din.eq(self.din),
            fifo.we.eq(self.we),
            empty.eq(arriving.tau == 0),
            self.skipped.eq(fifo.readable & empty),
            moves.eq(fifo.readable & ~empty & (~self.valid | self.take)),
            fifo.re.eq(self.skipped | moves),
        ]
        self.sync += [
            If(moves, self.valid.eq(1)).Elif(self.take, self.valid.eq(0)),
            If(
                moves,
                self.body.eq(fifo.dout),
                self.waits.eq((arriving.flags & facts.ToneFlag.WAIT) != 0),
                self.single.eq(arriving.tau == 1),
            ),
        ]
        if frame:
            self._keep_rotations(arriving, moves)

    def _keep_rotations(self, arriving, moves):
        cleared, rotation = Signal(), Signal(facts.VALUE_BITS)  # of segments dropped since the head
        clears = (arriving.flags & facts.FrameFlag.CLEAR) != 0
        self.sync += [
            If(moves, self.cleared.eq(cleared), self.rotation.eq(rotation), cleared.eq(0), rotation.eq(0)),
            If(
                self.skipped,
                cleared.eq(cleared | clears),
                If(clears, rotation.eq(arriving.u[0])).Else(rotation.eq(rotation + arriving.u[0])),
            ),
        ]
