"""Parts that are idle most of the time, each with a clock domain of its own in simulation: an event
at a pin then takes a third less host time.

A part wakes in the same cycle in which an input changes, so it misses no edge with an observable
effect. Registers whose contents are irrelevant (an event without its `valid`, for example) may be
older than with a free-running clock. `verilated/clocked.h` generates the edges; `verilated/test_resting.py`
compares every output in every cycle.
"""

from migen import *

__all__ = ["ANALYZER", "DMA", "FEED", "INPUTS", "NETWORK", "PLAY", "REGISTERS", "RESTING", "Resting"]

RESTING = NETWORK, INPUTS, ANALYZER, DMA, REGISTERS = "network", "inputs", "analyzer", "dma", "registers"
"""In the order of the bits of `Resting.wakes`."""

PLAY, FEED = "play", "feed"
"""Of pulse cores: the part active while engines run, and the part that feeds them segments. These
keep running while nothing else changes."""

_TAIL = 4
"""Cycles after the last input or change until everything in a part has settled."""


class Resting(Module):
    """moving: by domain, whether it receives something or something changes in it. `wakes` (out, 5 bits):
    domains that must have this cycle's edge."""

    def __init__(self, moving):
        self.wakes = Signal(len(RESTING))

        # # #

        for n, domain in enumerate(RESTING):
            tail = Signal(max=_TAIL + 1)
            self.sync += If(moving[domain], tail.eq(_TAIL)).Elif(tail != 0, tail.eq(tail - 1))
            self.comb += self.wakes[n].eq(moving[domain] | (tail != 0))
