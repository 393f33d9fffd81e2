"""Registers of monitor and injector; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..csr import uses

__all__ = ["MoninjRegisters"]


class MoninjRegisters(Module, AutoCSR):
    """Select, then `update` and read `value`; select, then read or write `inject_value`."""

    USES = uses("moninj")

    def __init__(self, moninj):
        self.channel = CSRStorage(16, name="channel")
        self.probe = CSRStorage(8, name="probe")
        self.update = CSR(name="update")
        self.value = CSRStatus(64, name="value")
        self.inject_channel = CSRStorage(16, name="inject_channel")
        self.inject_override = CSRStorage(8, name="inject_override")
        self.inject_value = CSR(8, name="inject_value")

        # # #

        self.comb += [
            moninj.channel.eq(self.channel.storage),
            moninj.probe.eq(self.probe.storage),
            moninj.update.eq(self.update.re),
            self.value.status.eq(moninj.value),
            moninj.inject_channel.eq(self.inject_channel.storage),
            moninj.override.eq(self.inject_override.storage),
            moninj.write.eq(self.inject_value.re),
            moninj.inject_value.eq(self.inject_value.r),
            self.inject_value.w.eq(moninj.inject_current),
        ]
