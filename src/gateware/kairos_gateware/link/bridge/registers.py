"""Registers of the two ends of a bridge, and of the blocks `pages` and `peripherals`; for their use see
src/contracts/registers.toml."""

from litex.soc.interconnect.csr import AutoCSR, CSRStatus, CSRStorage
from migen import *

from ...contracts.remote import PAGES
from ...csr import uses
from .words import DATA_BITS, INTERRUPTS

__all__ = ["BridgeRegisters", "OutletRegisters", "PagesRegisters", "PeripheralsRegisters"]

_COUNT_BITS = 32
_FAILED_BITS = 16


def _counts(module, end, failed):
    """Counters of answered writes and reads, and of errors."""
    module.writes, module.reads = CSRStatus(_COUNT_BITS, name="writes"), CSRStatus(_COUNT_BITS, name="reads")
    module.failed = CSRStatus(_FAILED_BITS, name="failed")
    for done, count in zip(end.done, (module.writes, module.reads), strict=True):
        module.sync += If(done, count.status.eq(count.status + 1))
    module.sync += If(
        failed & (module.failed.status != 2**_FAILED_BITS - 1), module.failed.status.eq(module.failed.status + 1)
    )


def _interrupts(module, end):
    """Levels in both directions, and the interrupt."""
    module.raises = CSRStorage(INTERRUPTS, name="raises")
    module.levels = CSRStatus(INTERRUPTS, name="levels")
    module.enabled = CSRStorage(INTERRUPTS, name="enabled")
    module.irq = Signal()
    module.comb += [
        module.levels.status.eq(end.levels),
        module.irq.eq((end.levels & module.enabled.storage) != 0),
    ]


def _refusals(module, block):
    """Counter of refused transactions."""
    module.refused = refused = CSRStatus(_FAILED_BITS, name="refused")
    module.sync += If(
        block.refused & (refused.status != 2**_FAILED_BITS - 1),
        refused.status.eq(refused.status + 1),
    )


class BridgeRegisters(Module, AutoCSR):
    """window: `BridgeWindow`. up: of the link. packed: with the gearbox. `irq` (out): level of the
    interrupt."""

    USES = uses("bridge")

    def __init__(self, window, up, packed):
        self.state = CSRStatus(5, name="state")
        self.width = CSRStatus(16, name="width")
        self.reset = CSRStorage(name="reset")
        self.latency = CSRStatus(16, name="latency")
        _interrupts(self, window)
        _counts(self, window, window.failed[0] | window.failed[1])

        # # #

        self.comb += [
            self.state.status.eq(Cat(up, ~window.settled, window.stuck, window.far_held, int(packed))),
            self.width.status.eq(DATA_BITS | INTERRUPTS << 8),
            window.held.eq(self.reset.storage),
            window.raises.eq(self.raises.storage),
            self.latency.status.eq(window.latency),
        ]


class OutletRegisters(Module, AutoCSR):
    """outlet: `BridgeOutlet`. up: of the link. own: interrupts of the block behind it. `irq` (out): level of
    the interrupt."""

    USES = uses("outlet")

    def __init__(self, outlet, up, own):
        self.state = CSRStatus(2, name="state")
        _interrupts(self, outlet)
        _counts(self, outlet, outlet.failed)

        # # #

        self.comb += [self.state.status.eq(Cat(up, outlet.held)), outlet.raises.eq(self.raises.storage | own)]


class PagesRegisters(Module, AutoCSR):
    """block: `MemoryPages`."""

    USES = uses("pages")

    def __init__(self, block):
        self.entry = CSRStorage(32, name="entry")
        _refusals(self, block)

        # # #

        self.comb += [block.entry.eq(self.entry.storage), block.sets.eq(self.entry.re)]


class PeripheralsRegisters(Module, AutoCSR):
    """block: `PeripheralPages`. count: pages that it shows."""

    USES = uses("peripherals")

    def __init__(self, block, count):
        self.shown = CSRStatus(bits_for(PAGES), name="shown", reset=count)
        _refusals(self, block)
