"""Frames: rotations that accumulate from segment to segment, and their application to the tones.
Clock domain sys.

A segment contributes the same rotation whether it rotates while it runs or at its end: its base
plus the spline's value after the last cycle. So a single sum is kept, and a segment that rotates at
its end merely outputs its base.
"""

from migen import *

from ..contracts import pulse as facts

__all__ = ["Frame", "route"]

_ROUTES = [
    (facts.FrameFlag.FORWARD0, facts.FrameFlag.INVERT0),
    (facts.FrameFlag.FORWARD1, facts.FrameFlag.INVERT1),
]
"""Of each tone: the flags that apply a frame to it, and negate it there."""


class Frame(Module):
    """spline: the frame's. queue: its head is started by `start` (in). `ends` (in): the running segment is
    in its last cycle. flags: of the running segment. `shown` (out, 40 bits): base plus the running
    rotation."""

    def __init__(self, spline, queue, flags):
        self.start, self.ends = Signal(), Signal()
        self.shown = Signal(facts.VALUE_BITS)

        # # #

        base, total, left = [Signal(facts.VALUE_BITS, name=name) for name in ["base", "total", "left"]]
        head_flags = queue.body[facts.FLAGS_AT : facts.FLAGS_AT + facts.FLAGS_BITS]
        follows = Signal(facts.VALUE_BITS)
        self.comb += [
            self.shown.eq(base + Mux((flags & facts.FrameFlag.AT_END) != 0, 0, spline.value)),
            left.eq(Mux(self.ends, base + spline.following, total)),
            If((head_flags & facts.FrameFlag.CLEAR) == 0, follows.eq(Mux(queue.cleared, 0, left) + queue.rotation)),
        ]
        self.sync += [
            If(self.start, base.eq(follows), total.eq(follows)).Elif(self.ends, total.eq(left)),
        ]


def route(tone, shown, flags):
    """The frame applied to a tone, from two frames' `shown` values: the first that is forwarded to
    it."""
    forward, invert = _ROUTES[tone]
    applied = 0
    for value, word in reversed(list(zip(shown, flags, strict=True))):
        applied = Mux((word & forward) != 0, Mux((word & invert) != 0, -value, value), applied)
    return applied
