"""Registers of a link; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus
from migen import *

from ...csr import uses

__all__ = ["LinkRegisters"]

_COUNT_BITS = 32


class LinkRegisters(Module, AutoCSR):
    """State of an endpoint's transport (`Reliable`), counts of its link-down events, corrected,
    retransmitted and dropped words, and the free space of its first lane."""

    USES = uses("link")

    def __init__(self, transport):
        self.up = CSRStatus(name="up")
        self.ended = CSRStatus(_COUNT_BITS, name="ended")
        self.corrected = CSRStatus(_COUNT_BITS, name="corrected")
        self.retransmitted = CSRStatus(_COUNT_BITS, name="retransmitted")
        self.dropped = CSRStatus(_COUNT_BITS, name="dropped")
        self.space = CSRStatus(len(transport.space[0]), name="space")
        self.clear = CSR(name="clear")

        # # #

        self.comb += [self.up.status.eq(transport.up), self.space.status.eq(transport.space[0])]
        counted = [
            (self.ended, transport.ended),
            (self.corrected, transport.corrected),
            (self.retransmitted, transport.repeated),
            (self.dropped, transport.dropped),
        ]
        for register, more in counted:
            count = Signal(_COUNT_BITS + 1)
            total = Signal(_COUNT_BITS + 1)
            self.comb += [total.eq(count + more), register.status.eq(count)]
            self.sync += (
                If(self.clear.re, count.eq(more)).Elif(total[-1], count.eq(2**_COUNT_BITS - 1)).Else(count.eq(total))
            )
