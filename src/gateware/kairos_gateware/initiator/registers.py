"""Registers of the kernel initiator; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..csr import uses

__all__ = ["InitiatorRegisters"]


class InitiatorRegisters(Module, AutoCSR):
    """Besides the controls: `lost` counts triggers without a request of the expected number;
    `error` reports bus errors (bit 0 read, bit 1 write). Writing `clear` zeroes both, and the error
    in the status word. `permit`: a write starts one of so many cycles. `input_ring`: only if inputs
    are pushed. resetting: what a reset waits for is under way, so that `busy` is set."""

    USES = uses("initiator")

    def __init__(self, initiator, resetting=0):
        self.enable = CSRStorage(name="enable")
        self.ring = CSRStorage(32, name="ring")
        self.busy = CSRStatus(name="busy")
        self.lost = CSRStatus(16, name="lost")
        self.error = CSRStatus(2, name="error")
        self.clear = CSR(name="clear")
        self.permit = CSR(16, name="permit")
        if initiator.pusher is not None:
            self.input_ring = CSRStorage(32, name="input_ring")

        # # #

        if initiator.pusher is not None:
            self.comb += initiator.input_base.eq(self.input_ring.storage)
        self.comb += [
            initiator.enable.eq(self.enable.storage),
            initiator.base.eq(self.ring.storage),
            initiator.clear.eq(self.clear.re),
            initiator.permit.start.eq(self.permit.re),
            initiator.permit.cycles.eq(self.permit.r),
            self.busy.status.eq(initiator.busy | resetting),
            self.lost.status.eq(initiator.lost),
            self.error.status.eq(initiator.error),
        ]
