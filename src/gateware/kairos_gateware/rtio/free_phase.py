"""A counter modulo a number of cycles that follows the time: it continues during a reset of the PHYs, and when
simulation skips time."""

from functools import reduce
from operator import add

from migen import *

from .link import FreeRunning

__all__ = ["FreePhase"]


class FreePhase(Module):
    """length: of the period, in cycles.

    `phase` (out, below `length`): the time modulo the length; `after` (out, as `phase`): the one after a jump; `last`
    (out): this is the last cycle of a period. `free_running`: for the PHY's channel.
    """

    def __init__(self, length):
        self.phase = phase = Signal(max=length, reset_less=True)
        self.after = after = Signal(max=length)
        self.last = Signal()
        self.free_running = running = FreeRunning(limited=False)

        # # #

        remainder = Signal(max=2 * length)
        self.comb += [
            self.last.eq(phase == length - 1),
            remainder.eq(self._modulo(running.cycles, length) + phase),
            after.eq(Mux(remainder >= length, remainder - length, remainder)),
        ]
        self.sync += [
            phase.eq(Mux(self.last, 0, phase + 1)),
            If(running.stb, phase.eq(after)),
            # The same reset as the counter's
            If(ResetSignal(allow_reset_less=True), phase.eq(0)),
        ]

    def _modulo(self, value, divisor):
        """value mod divisor: digits of about 6 bits are weighted with the remainders of their
        places and added up, repeatedly, until subtractions suffice."""
        digit = divisor.bit_length()
        largest = 2 ** len(value) - 1
        while largest >= 4 * divisor:
            places = range(0, largest.bit_length(), digit)
            weights = [pow(2, place, divisor) for place in places]
            total = reduce(add, [value[p : p + digit] * w for p, w in zip(places, weights, strict=True)])
            largest = sum(min(2**digit - 1, largest >> p) * w for p, w in zip(places, weights, strict=True))
            value = Signal(max=largest + 1)
            self.comb += value.eq(total)
        for multiple in [2, 1]:
            reduced = Signal(max=2 * multiple * divisor)
            self.comb += reduced.eq(Mux(value >= multiple * divisor, value - multiple * divisor, value))
            value = reduced
        return value
