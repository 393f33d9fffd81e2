"""Parts in which nothing changes for most of the time, each with a clock domain of its own in
simulation: an event at a pin then costs a third of the host's time less.

A part wakes in the very cycle in which something comes to it, so it misses no edge that would
change what anybody can see. What its registers hold while they mean nothing (an event without its
`valid`, say) may be older than with a clock. `sim/clocked.h` gives the edges; `sim/test_resting.py`
compares every output of every cycle.
"""

from migen import *

__all__ = ["ANALYZER", "DMA", "FEED", "INPUTS", "NETWORK", "PLAY", "REGISTERS", "RESTING", "Resting"]

RESTING = NETWORK, INPUTS, ANALYZER, DMA, REGISTERS = "network", "inputs", "analyzer", "dma", "registers"
"""In the order of the bits of `Resting.wakes`."""

PLAY, FEED = "play", "feed"
"""Of pulse cores: what moves while engines run, and what gives them segments. These run on where nothing else moves."""

_TAIL = 4
"""Cycles behind the last one in which something comes, or moves, until all in a part is as it stays."""


class Resting(Module):
    """moving: by domain, whether something comes to it or moves in it. `wakes`: which must have this cycle's edge."""

    def __init__(self, moving):
        self.wakes = Signal(len(RESTING))

        # # #

        for n, domain in enumerate(RESTING):
            tail = Signal(max=_TAIL + 1)
            self.sync += If(moving[domain], tail.eq(_TAIL)).Elif(tail != 0, tail.eq(tail - 1))
            self.comb += self.wakes[n].eq(moving[domain] | (tail != 0))
