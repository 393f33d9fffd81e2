"""Edge detection at a pad, and events delayed like the edges: common to TTL inputs and edge
counters.

cycle (coarse time)   T-1    T      T+1    T+2
pad.i                        sampled
link.stb              /‾‾‾‾‾\\_____________________   event of time T
rising, falling                            /‾‾‾‾‾   INPUT_LATENCY cycles after the sampling
event.stb                                  /‾‾‾‾‾   the event, together with the edges of its cycle
"""

from migen import *

from ..pad import SAMPLES, reached
from ..rtio.timing import FINE_BITS, INPUT_LATENCY

__all__ = ["EdgeDetector", "DelayedEvent"]


class EdgeDetector(Module):
    """Edges of each sample of a cycle, INPUT_LATENCY cycles after it. One cycle's edges per cycle;
    clock domain sys.

    width: 8 for a serialised pad, else 1: of a simple pad the last sample counts, so that an edge anywhere
    in a cycle belongs to it. `level` (out, `width` bits)[i]: sample i; `rising` (out, `width` bits)[i],
    `falling` (out, `width` bits)[i]: it differs from the sample before. The two registers in the path are
    the synchroniser of a simple pad. `settled` (out): the pad does not change, nor did it in the cycles
    still in the pipeline.
    """

    def __init__(self, pad):
        self.width = width = SAMPLES if pad.serialised else 1
        self.level = Signal(width)
        self.rising = Signal(width)
        self.falling = Signal(width)
        self.settled = Signal()

        # # #

        samples = pad.i[SAMPLES - width :]
        first = Signal(width, attr={"async_reg"})
        second = Signal(width, attr={"async_reg"})
        last = Signal()
        before = Signal(width)
        self.sync += [first.eq(samples), second.eq(first), last.eq(second[-1])]
        self.comb += [
            before.eq(Cat(last, second)),
            self.level.eq(second),
            self.rising.eq(second & ~before),
            self.falling.eq(~second & before),
            self.settled.eq(
                (samples == Replicate(last, width))
                & (first == Replicate(last, width))
                & (second == Replicate(last, width))
            ),
        ]


class DelayedEvent(Module):
    """An output event of `link`, INPUT_LATENCY cycles after its time.

    `stb` (out), `data` (out, as `link.data`), `address` (out, as `link.address`), `fine` (out, 3 bits): the
    event, as in `OutputLink`; the other three are valid with `stb`. `from_fine` (out, `width` bits): bit i:
    sample i is not before the event's time; all ones if `width` is 1, as the time is then truncated to the
    cycle. `settled` (out): no event is in the pipeline.
    """

    def __init__(self, link, width):
        self.stb = Signal()
        self.data = Signal(link.data_width)
        self.address = Signal(len(link.address))
        self.fine = Signal(FINE_BITS)
        self.from_fine = Signal(width)
        self.settled = Signal()

        # # #

        names = ["stb", "data", "address", "fine"]
        event = [link.stb & ~link.busy, link.data, link.address, link.fine if width > 1 else C(0, FINE_BITS)]
        outputs = [self.stb, self.data, self.address, self.fine]
        settled = 1
        # The strobe is one cycle ahead of the event's time
        for i in range(INPUT_LATENCY + 1):
            stage = [Signal.like(o, name=f"{name}_{i}") for o, name in zip(outputs, names, strict=True)]
            if i == INPUT_LATENCY:
                stage = outputs
            self.sync += [register.eq(value) for register, value in zip(stage, event, strict=True)]
            settled = settled & ~stage[0]
            event = stage
        self.comb += [
            [self.from_fine[i].eq(reached(self.fine, i)) for i in range(width)],
            self.settled.eq(settled),
        ]
