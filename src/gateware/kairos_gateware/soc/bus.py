"""Port GP0: an AXI3 slave of 32 bits in front of the registers and the descriptor memory.

Address bit 16 selects: 0 descriptor memory (read only, writes are ignored), 1 registers. Bridges are LiteX's. A read is
answered 6 cycles after its address, a write 4 after its data (ports always ready). Clock domain sys.
"""

from litex.soc.interconnect import csr_bus
from litex.soc.interconnect.axi import AXI2AXILite, AXIInterface, AXILite2CSR, AXILiteInterface
from litex.soc.interconnect.csr import CSR, CSRStatus
from migen import *

from ..descriptor import Register

__all__ = ["DESCRIPTOR_BASE", "REGISTER_BASE", "Gp0Bus", "DescriptorMemory"]

DESCRIPTOR_BASE = 0x4000_0000
REGISTER_BASE = 0x4001_0000
_SELECT_BIT = 14  # of the word address: 64 KiB
_PAGE = 0x800  # bytes for the registers of one block
_MASTER_IDS = 12


class DescriptorMemory(Module):
    """Read-only memory of 32-bit words on the register bus, one cycle latency. Constant logic, from which synthesis
    infers a block RAM; no initialisation file is needed beside the Verilog."""

    def __init__(self, words):
        self.bus = bus = csr_bus.Interface(data_width=32, address_width=_SELECT_BIT + 1)

        # # #

        if len(words) > 1 << _SELECT_BIT:
            raise ValueError("the descriptor is larger than its 64 KiB window")
        word = Signal(32)
        outside = Signal()
        # The selection comes behind the register, or the constants would not become a memory
        self.sync += [
            Case(
                bus.adr[: max(1, (len(words) - 1).bit_length())],
                {i: word.eq(w) for i, w in enumerate(words)} | {"default": word.eq(0)},
            ),
            outside.eq(bus.adr[_SELECT_BIT] | (bus.adr >= len(words))),
        ]
        self.comb += If(~outside, bus.dat_r.eq(word))


class Gp0Bus(Module):
    """blocks: object whose attributes hold registers; an attribute's name is the prefix of its registers' names.
    make_descriptor: called with the list of `descriptor.Register`, returns the words of the descriptor memory.

    `axi` is the slave port. `idle`: no transaction under way (for time skip).
    """

    def __init__(self, blocks, make_descriptor):
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=_MASTER_IDS)
        self.idle = Signal()

        # # #

        lite = AXILiteInterface(data_width=32, address_width=32)
        width = {"data_width": 32, "address_width": _SELECT_BIT + 1}
        self.submodules.bridge = AXI2AXILite(axi, lite)
        self.submodules.csr_bridge = AXILite2CSR(lite, csr_bus.Interface(**width))
        pages = {}

        def page(name, memory):
            return (1 << _SELECT_BIT + 2) // _PAGE + pages.setdefault(name, len(pages))

        self.submodules.banks = banks = csr_bus.CSRBankArray(blocks, page, **width, paging=_PAGE)
        self.registers = list(_registers(banks))
        self.submodules.memory = memory = DescriptorMemory(make_descriptor(self.registers))
        self.submodules.interconnect = csr_bus.Interconnect(self.csr_bridge.csr, banks.get_buses() + [memory.bus])

        # A transaction's effects in the blocks come some cycles after its end
        rest = Signal(3)
        open_ = Signal(8)
        begin = (axi.ar.valid & axi.ar.ready) + (axi.aw.valid & axi.aw.ready)
        end = (axi.r.valid & axi.r.ready & axi.r.last) + (axi.b.valid & axi.b.ready)
        active = axi.ar.valid | axi.aw.valid | axi.w.valid | axi.r.valid | axi.b.valid | (open_ != 0)
        self.sync += [
            open_.eq(open_ + begin - end),
            If(active, rest.eq(7)).Elif(rest != 0, rest.eq(rest - 1)),
        ]
        self.comb += self.idle.eq(~active & (rest == 0))


def _registers(banks):
    for prefix, csrs, page, _bank in banks.banks:
        address = DESCRIPTOR_BASE + page * _PAGE
        for csr in csrs:
            readable = not (isinstance(csr, CSR) and csr.size == 1)  # single-bit ones are triggers
            yield Register(f"{prefix}_{csr.name}", address, csr.size, readable, not isinstance(csr, CSRStatus))
            address += 4 * ((csr.size + 31) // 32)
