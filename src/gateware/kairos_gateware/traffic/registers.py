"""Registers of the measuring block; for their use see src/contracts/registers.toml."""

from litex.soc.interconnect.csr import AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..csr import uses

__all__ = ["TrafficRegisters"]


class TrafficRegisters(Module, AutoCSR):
    """Writing `start` begins; `busy` falls when it has ended."""

    USES = uses("traffic")

    def __init__(self, engine, lines):
        self.start = CSRStorage(2, name="start")
        self.busy = CSRStatus(name="busy")
        self.address = CSRStorage(32, name="address")
        self.size = CSRStorage(32, name="size")
        self.seed = CSRStorage(32, name="seed")
        self.first = CSRStatus(32, name="first")
        self.last = CSRStatus(32, name="last")
        self.sum = CSRStatus(32, name="sum")
        self.error = CSRStatus(name="error")
        self.lines = CSRStatus(32, name="lines")

        # # #

        self.comb += [
            engine.start.eq(self.start.re),
            Cat(engine.write, engine.coherent).eq(self.start.storage),
            self.busy.status.eq(engine.busy | self.start.re),
            engine.address.eq(self.address.storage),
            engine.size.eq(self.size.storage),
            engine.seed.eq(self.seed.storage),
            self.first.status.eq(engine.first),
            self.last.status.eq(engine.last),
            self.sum.status.eq(engine.sum),
            self.error.status.eq(engine.error),
            self.lines.status.eq(lines.seen),
        ]
