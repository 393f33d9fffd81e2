"""Registers of DMA; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..csr import uses

__all__ = ["DmaRegisters"]


class DmaRegisters(Module, AutoCSR):
    """`enable`: writing 1 starts, 0 stops; `busy` falls when a playback, or the remainder after a
    stop, is over."""

    USES = uses("dma")

    def __init__(self, dma):
        self.enable = CSR(name="enable")
        self.busy = CSRStatus(name="busy")
        self.base = CSRStorage(32, name="base")
        self.time_offset = CSRStorage(64, name="time_offset")
        self.format = CSRStorage(name="format")
        self.error = CSR(4, name="error")
        self.error_channel = CSRStatus(24, name="error_channel")
        self.error_timestamp = CSRStatus(64, name="error_timestamp")
        self.error_address = CSRStatus(8, name="error_address")
        self.events = CSRStatus(32, name="events")

        # # #

        self.comb += [
            dma.start.eq(self.enable.re & self.enable.r),
            dma.stop.eq(self.enable.re & ~self.enable.r),
            self.busy.status.eq(dma.busy),
            dma.base.eq(self.base.storage),
            dma.time_offset.eq(self.time_offset.storage),
            dma.format.eq(self.format.storage),
            self.error.w.eq(dma.error),
            dma.clear.eq(self.error.re),
            self.error_channel.status.eq(dma.error_channel),
            self.error_timestamp.status.eq(dma.error_timestamp),
            self.error_address.status.eq(dma.error_address),
            self.events.status.eq(dma.events),
        ]
