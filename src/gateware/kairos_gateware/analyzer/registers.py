"""Registers of the analyzer; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..csr import uses

__all__ = ["AnalyzerRegisters"]


class AnalyzerRegisters(Module, AutoCSR):
    """`lossless` makes DMA wait when the analyzer cannot keep up; it is an output of this block."""

    USES = uses("analyzer")

    def __init__(self, analyzer):
        self.enable = CSRStorage(name="enable")
        self.busy = CSRStatus(name="busy")
        self.base = CSRStorage(32, name="base")
        self.last = CSRStorage(32, name="last")
        self.pack = CSRStorage(name="pack")
        self.lossless = CSRStorage(name="lossless")
        self.byte_count = CSRStatus(64, name="byte_count")
        self.message_count = CSRStatus(64, name="message_count")
        self.overflow = CSRStatus(name="overflow")
        self.bus_error = CSRStatus(name="bus_error")

        # # #

        self.comb += [
            analyzer.enable.eq(self.enable.storage),
            self.busy.status.eq(analyzer.busy),
            analyzer.base.eq(self.base.storage),
            analyzer.last.eq(self.last.storage),
            analyzer.pack.eq(self.pack.storage),
            self.byte_count.status.eq(Cat(C(0, 5), analyzer.units)),
            self.message_count.status.eq(analyzer.messages),
            self.overflow.status.eq(analyzer.overflow),
            self.bus_error.status.eq(analyzer.bus_error),
        ]
