"""Round trips as they are measured, and the time after which an answer is missing.

Clock domain sys.
"""

from migen import *

__all__ = ["RoundTrip"]

_DECAY_BITS = 4


class RoundTrip(Module):
    """The time-out of what is sent for the first time: twice the longest of the latest round trips, between `least` and
    `most` cycles; `most` until some have been measured.

    For a cycle: `measured` (in), something that was sent once has been answered after `cycles` (in, below `2 * most`);
    `late` (in), something sent once has not been answered in time. `timeout` (out, below `most + 1`): in cycles. A
    longer round trip counts at once, and each shorter one takes 1/16 of the difference away. What is late
    doubles the time-out, since nothing is measured while everything is late.
    """

    def __init__(self, least, most):
        half = most // 2
        self.measured, self.late = Signal(), Signal()
        self.cycles, self.timeout = Signal(max=2 * most), Signal(max=most + 1)

        # # #

        longest, wider = Signal(max=half + 1, reset=half), Signal(max=2 * most)
        self.comb += [
            wider.eq(Mux(self.late, longest << 1, self.cycles)),
            self.timeout.eq(Mux(longest < least // 2, least, longest << 1)),
        ]
        self.sync += If(
            self.late | (self.measured & (wider > longest)), longest.eq(Mux(wider > half, half, wider))
        ).Elif(self.measured, longest.eq(longest - ((longest - self.cycles) >> _DECAY_BITS)))
