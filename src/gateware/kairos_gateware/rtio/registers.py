"""Registers of the RTIO core; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..csr import uses
from .timing import FINE_BITS

__all__ = ["RtioRegisters"]


class RtioRegisters(Module, AutoCSR):
    """`phy_reset` is an output: reset level of the PHYs, 1 after power-up unless `held` is 0. The core's
    reset lasts one cycle, in which `asked` (out) is high; `discard`, if given, requests it too. dropping: a
    level that resets the core."""

    USES = uses("rtio")

    def __init__(self, core, discard=None, dropping=None, held=1):
        self.reset = CSR(name="reset")
        self.phy_reset = CSRStorage(reset=held, name="phy_reset")
        self.counter_update = CSR(name="counter_update")
        self.counter = CSRStatus(64, name="counter")
        self.async_error = CSR(3, name="async_error")
        self.collision_channel = CSRStatus(24, name="collision_channel")
        self.busy_channel = CSRStatus(24, name="busy_channel")
        self.sequence_error_channel = CSRStatus(24, name="sequence_error_channel")
        self.outputs = CSRStatus(16, name="outputs")

        # # #

        errors = [core.collision, core.busy, core.sequence_error]
        channels = [self.collision_channel, self.busy_channel, self.sequence_error_channel]
        reset = self.reset.re & self.reset.r
        self.asked = asked = Signal()
        self.comb += core.reset.eq(asked if dropping is None else asked | dropping)
        self.sync += [
            asked.eq(reset if discard is None else reset | discard),
            If(self.counter_update.re, self.counter.status.eq(Cat(C(0, FINE_BITS), core.timebase.coarse))),
        ]
        self.comb += [
            self.async_error.w.eq(Cat(*[e.flag for e in errors])),
            self.outputs.status.eq(core.outputs),
        ]
        for i, (error, channel) in enumerate(zip(errors, channels, strict=True)):
            self.comb += [
                error.clear.eq(self.async_error.re & self.async_error.r[i]),
                channel.status.eq(error.channel),
            ]
