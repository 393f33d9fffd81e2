"""The two ends of a bridge, each with its registers: where accesses of a processor enter, and where they reach
a block of the logic."""

from migen import *

from ..link.bridge.adder import VectorAdder
from ..link.bridge.far import BridgeOutlet
from ..link.bridge.near import BridgeWindow
from ..link.bridge.pages import MemoryPages
from ..link.bridge.peripherals import PeripheralPages
from ..link.bridge.registers import BridgeRegisters, OutletRegisters, PagesRegisters, PeripheralsRegisters
from ..link.remote.words import BUS_ERROR, UNREACHABLE

__all__ = ["BridgeEntry", "BridgedBlock"]

_BLOCKS = {
    "adder": lambda _: VectorAdder(),
    "pages": lambda _: MemoryPages(),
    "peripherals": lambda bridge: PeripheralPages(bridge.pages),
}
_WRITE = 8


class BridgeEntry(Module):
    """endpoint: of the link. bridge: its `Bridge`.

    `axi`: slave for a processor. `registers`. `failures`: of accesses, as `WindowRegisters` takes them.
    `settled` (out): for time skip.
    """

    def __init__(self, endpoint, bridge):
        self.submodules.window = window = BridgeWindow(endpoint.sink, endpoint.source, endpoint.up)
        self.axi, self.settled = window.axi, window.settled
        self.registers = BridgeRegisters(window, endpoint.up, bridge.packetiser == "gearbox")
        self.failures = []
        for write, failed, lost, address in zip((_WRITE, 0), window.failed, window.lost, window.addresses, strict=True):
            fault = Signal(4)
            self.comb += fault.eq(Mux(lost, UNREACHABLE, BUS_ERROR) | write)
            self.failures.append((failed, fault, address))


class BridgedBlock(Module):
    """endpoint: of the link. bridge: its `Bridge`.

    `registers`; `register_blocks`: further ones, by the prefix of their names. `readers`, `writers`: halves of a
    memory port, for a block that accesses memory. `gp`: `GpPort` of a block that accesses peripherals, or None.
    `settled` (out): for time skip.
    """

    def __init__(self, endpoint, bridge):
        self.submodules.outlet = outlet = BridgeOutlet(endpoint.sink, endpoint.source, endpoint.up)
        self.submodules.block = block = _BLOCKS[bridge.block](bridge)
        self.registers = OutletRegisters(outlet, endpoint.up, block.interrupts)
        self.settled = Signal()
        self.register_blocks, self.readers, self.writers, self.gp = {}, [], [], None
        if bridge.block == "pages":
            self.register_blocks["pages"] = PagesRegisters(block)
            self.readers, self.writers = [block.read], [block.write]
        elif bridge.block == "peripherals":
            self.register_blocks["peripherals"] = PeripheralsRegisters(block, len(bridge.pages))
            self.gp = block.port

        # # #

        for channel in ("aw", "w", "ar"):
            self.comb += getattr(outlet.axi, channel).connect(getattr(block.axi, channel))
        for channel in ("b", "r"):
            self.comb += getattr(block.axi, channel).connect(getattr(outlet.axi, channel))
        self.comb += [
            block.aborts.eq(outlet.aborts),
            block.held.eq(outlet.held),
            self.settled.eq(outlet.settled & block.settled),
        ]
