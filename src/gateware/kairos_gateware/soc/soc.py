"""A variant's logic on the ports of the processing system: what every board, real or simulated, has in common."""

from migen import *

from .. import __version__
from ..descriptor import Descriptor, RtioChannel
from ..initiator.memory import MemoryInitiator
from ..phy.kinds import make_phys
from ..rtio.core import RtioCore
from ..rtio.link import Channel
from ..rtio.timing import FINE_BITS
from ..variant import RTIO_FREQUENCY
from .bus import Gp0Bus
from .registers import InitiatorRegisters, RtioRegisters

__all__ = ["Soc"]


class _Blocks:
    """Holds the blocks that have registers."""


class Soc(Module):
    """variant: `variants.Variant`. build_id: text for the descriptor. simulation: with the time base's load port.

    Ports: `gp0` (LiteX AXI slave), `acp` (`AcpMaster`), `event_o`, `event_i`, `pads` (list of `Pad`). `descriptor`:
    what the descriptor memory says. `settled`, simulation only: nothing moves but time.
    """

    def __init__(self, variant, build_id, simulation=False):
        phys = make_phys(variant.channels)
        self.pads = [pad for phy in phys.values() for pad in phy.pads]
        phys = {number: ResetInserter()(phy) for number, phy in phys.items()}
        channels = [
            phys[number].channel if number in phys else Channel(number, discard=True)
            for number in range(len(variant.channels))
        ]
        self.submodules += phys.values()
        self.submodules.core = core = RtioCore(channels, lanes=variant.lanes, simulation=simulation)
        self.submodules.initiator = initiator = MemoryInitiator(core.cri)

        blocks = _Blocks()
        blocks.rtio = self.submodules.rtio = RtioRegisters(core)
        blocks.initiator = self.submodules.initiator_registers = InitiatorRegisters(initiator)
        self.comb += [phy.reset.eq(self.rtio.phy_reset.storage) for phy in phys.values()]

        self.descriptor = Descriptor(
            identification=f"{variant.name};{__version__}",
            build_id=build_id,
            rtio_frequency=RTIO_FREQUENCY,
            fine_bits=FINE_BITS,
            channels=[RtioChannel(i, spec.kind, spec.name, dict(spec.parameters)) for i, spec in enumerate(variant.channels)],
        )

        def describe(registers):
            self.descriptor.registers = registers
            return self.descriptor.to_words()

        self.submodules.bus = bus = Gp0Bus(blocks, describe)
        self.gp0 = bus.axi
        self.acp = initiator.bus
        self.event_o = initiator.event_o
        self.event_i = initiator.event_i
        if simulation:
            self.settled = Signal()
            self.comb += self.settled.eq(core.settled & initiator.settled & bus.idle)
