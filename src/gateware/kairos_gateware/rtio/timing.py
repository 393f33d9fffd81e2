"""Time base of the RTIO core, and the latencies common to all blocks.

A timestamp counts machine units of 1 ns in 64 bits: the upper 61 bits are the coarse counter (8 ns
cycles), the low three bits select one of the 8 samples within a cycle.
"""

from migen import *

__all__ = ["FINE_BITS", "COARSE_BITS", "OUTPUT_LATENCY", "INPUT_LATENCY", "INPUT_VISIBLE", "MIN_SLACK", "TimeBase"]

FINE_BITS = 3
COARSE_BITS = 64 - FINE_BITS

OUTPUT_LATENCY = 4
"""Cycles from a gate's decision to the change of the pad. Gates look this far ahead, so that pads
change at the timestamp."""

INPUT_LATENCY = 2
"""Cycles from the sampling of a pad to the cycle in which the PHY reports the edge; subtracted from
the time stamp."""

INPUT_VISIBLE = INPUT_LATENCY + 2
"""Cycles from the sampling of a pad until its event can be read from the input FIFO."""

MIN_SLACK = OUTPUT_LATENCY + 3
"""Least accepted distance of an output's coarse time from the counter in the cycle in which the
command is accepted: write register, FIFO memory, FIFO output, then the gate's look-ahead."""


class TimeBase(Module):
    """Coarse counter, and copies of it that lead or lag by a constant.

    Copies are separate counters, so no adder lies in the path of a comparison. With `loadable`, `load` (in)
    sets the counter to `load_value` (in, 61 bits) at the next edge, and all copies with it: nothing is
    stale after a jump. Clock domain: sys. The counter starts at 0 at power-up and has no other reset.
    """

    def __init__(self, loadable=False):
        self.loadable = loadable
        self.load = Signal()
        self.load_value = Signal(COARSE_BITS)
        self._views = {}
        self.coarse = self.shifted(0)

    def shifted(self, offset):
        """The coarse counter plus `offset` cycles (61 bits; if `offset` is negative, it wraps
        before time `-offset`)."""
        if offset not in self._views:
            view = Signal(COARSE_BITS, reset=offset % (1 << COARSE_BITS), name=f"coarse_{offset}".replace("-", "m"))
            self._views[offset] = view
            if self.loadable:
                self.sync += If(self.load, view.eq(self.load_value + offset)).Else(view.eq(view + 1))
            else:
                self.sync += view.eq(view + 1)
        return self._views[offset]
