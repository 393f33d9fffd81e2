"""A parameter's FIFO of segments, and its head: the segment that the engine takes next.

Segments of no cycles never go in (`skipped`); a frame's accumulator changes by such segments are
attached to the next one. Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..contracts import pulse as facts
from .words import Segment

__all__ = ["COVERED", "SegmentQueue"]

COVERED = 4
"""Length of a segment in cycles that suffices for the next one to become the head in time, if it
goes in at most two cycles after the trigger."""


class SegmentQueue(Module):
    """`we` (in), `din` (in, 216 bits): a segment goes in, if there is `room` (out); `empty` (in): it has no
    cycles. `roomy` (out): there is room for some more. `valid` (out): there is a head, `body` (out, 216
    bits), which `take` (in) removes; `waits` (out): it is held until the trigger; `single` (out): it lasts
    one cycle; `covers` (out): at least COVERED. `arriving` (out): there will be a head. frame: `rotation`
    (in, 40 bits) is to be added to the accumulator before the head starts, to 0 if `cleared` (in).

    `skipped` (out): for a cycle, a segment of no cycles is not stored.
    """

    def __init__(self, depth, frame=False):
        self.we, self.room = Signal(), Signal()
        self.din, self.empty = Signal(facts.BODY_BITS), Signal()
        self.valid, self.take = Signal(), Signal()
        self.body = Signal(facts.BODY_BITS)
        self.waits, self.single, self.covers = Signal(), Signal(), Signal()
        self.skipped, self.roomy = Signal(), Signal()
        self.arriving = Signal()
        self.cleared, self.rotation = Signal(), Signal(facts.VALUE_BITS)

        # # #

        before = self._before() if frame else []
        head = [self.body, self.cleared, self.rotation][: 1 + len(before)]
        self.submodules.fifo = fifo = SyncFIFO(sum(map(len, head)), depth)
        arriving = Segment(fifo.dout)
        moves = Signal()
        self.comb += [
            # `fifo.writable` in one bit, where that is possible: the path into the sequencer is
            # long
            self.room.eq(fifo.writable if depth & depth - 1 else ~fifo.level[depth.bit_length() - 1]),
            self.roomy.eq(fifo.level < depth // 2),
            self.skipped.eq(self.we & self.empty),
            fifo.din.eq(Cat(self.din, *before)),
            fifo.we.eq(self.we & ~self.empty),
            self.arriving.eq(fifo.readable & ~self.valid),
            moves.eq(fifo.readable & (~self.valid | self.take)),
            fifo.re.eq(moves),
        ]
        self.sync += [
            If(moves, self.valid.eq(1)).Elif(self.take, self.valid.eq(0)),
            If(
                moves,
                Cat(*head).eq(fifo.dout),
                self.waits.eq((arriving.flags & facts.ToneFlag.WAIT) != 0),
                self.single.eq(arriving.tau == 1),
                self.covers.eq(arriving.tau >= COVERED),
            ),
        ]

    def _before(self):
        """Accumulated effect of segments of no cycles since the last other one went in. The latest
        one's part is kept separately, so that the sum is not in series with the choice of the
        segment."""
        arriving = Segment(self.din)
        cleared, rotation = Signal(), Signal(facts.VALUE_BITS)
        clears, turn = Signal(), Signal(facts.VALUE_BITS)
        all_cleared, all_turned = Signal(), Signal(facts.VALUE_BITS)
        self.comb += [all_cleared.eq(cleared | clears), all_turned.eq(Mux(clears, 0, rotation) + turn)]
        self.sync += If(
            self.skipped,
            *[cleared.eq(all_cleared), rotation.eq(all_turned)],
            *[clears.eq((arriving.flags & facts.FrameFlag.CLEAR) != 0), turn.eq(arriving.u[0])],
        ).Elif(self.we, *[part.eq(0) for part in [cleared, rotation, clears, turn]])
        return [all_cleared, all_turned]
