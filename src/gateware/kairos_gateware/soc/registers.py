"""The registers of RTIO core and kernel initiator, docs/interfaces.md section 4."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..rtio.timing import FINE_BITS

__all__ = ["RtioRegisters", "InitiatorRegisters"]


class RtioRegisters(Module, AutoCSR):
    """`phy_reset` is an output: reset level of the PHYs, 1 after power-up. The core's reset is one cycle."""

    def __init__(self, core):
        self.reset = CSR(name="reset")
        self.phy_reset = CSRStorage(reset=1, name="phy_reset")
        self.counter_update = CSR(name="counter_update")
        self.counter = CSRStatus(64, name="counter")
        self.async_error = CSR(3, name="async_error")
        self.collision_channel = CSRStatus(16, name="collision_channel")
        self.busy_channel = CSRStatus(16, name="busy_channel")
        self.sequence_error_channel = CSRStatus(16, name="sequence_error_channel")

        # # #

        errors = [core.collision, core.busy, core.sequence_error]
        channels = [self.collision_channel, self.busy_channel, self.sequence_error_channel]
        self.sync += [
            core.reset.eq(self.reset.re & self.reset.r),
            If(self.counter_update.re, self.counter.status.eq(Cat(C(0, FINE_BITS), core.timebase.coarse))),
        ]
        self.comb += self.async_error.w.eq(Cat(*[e.flag for e in errors]))
        for i, (error, channel) in enumerate(zip(errors, channels, strict=True)):
            self.comb += [
                error.clear.eq(self.async_error.re & self.async_error.r[i]),
                channel.status.eq(error.channel),
            ]


class InitiatorRegisters(Module, AutoCSR):
    """Besides the controls: `lost` counts triggers that were lost because two were already under way; `error` tells
    of bus errors (bit 0 read, bit 1 write). Writing `clear` zeroes both."""

    def __init__(self, initiator):
        self.enable = CSRStorage(name="enable")
        self.base = CSRStorage(32, name="base")
        self.busy = CSRStatus(name="busy")
        self.lost = CSRStatus(16, name="lost")
        self.error = CSRStatus(2, name="error")
        self.clear = CSR(name="clear")

        # # #

        self.comb += [
            initiator.enable.eq(self.enable.storage),
            initiator.base.eq(self.base.storage),
            initiator.clear.eq(self.clear.re),
            self.busy.status.eq(initiator.busy),
            self.lost.status.eq(initiator.lost),
            self.error.status.eq(initiator.error),
        ]
