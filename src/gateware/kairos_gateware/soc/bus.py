"""Port GP0: an AXI3 slave of 32 bits in front of the registers and the descriptor memory.

Address bit 16 selects: 0 descriptor memory (read only, writes are ignored), 1 registers. LiteX's bridge makes beats of
bursts, `CsrBridge` takes them to the registers. A read is answered in the fourth cycle of its address, a write in the
third (ports always ready). Clock domain sys.
"""

from litex.soc.interconnect import csr_bus
from litex.soc.interconnect.axi import AXI2AXILite, AXIInterface, AXILiteInterface
from litex.soc.interconnect.csr import CSR, CSRStatus
from migen import *

from ..contracts.memory import PL_DESCRIPTOR
from ..descriptor import Register

__all__ = ["Gp0Bus", "DescriptorMemory"]

_SELECT_BIT = (len(PL_DESCRIPTOR) // 4).bit_length() - 1  # of the word address
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


class CsrBridge(Module):
    """lite: `AXILiteInterface`, with one address at a time and zero for the other. `csr`: the register bus.

    In place of LiteX's `AXILite2CSR`, in the same cycles. There the address waits for `valid` and for the choice
    between reading and writing; here only the strobes do, and the path from a burst's counter to a register is shorter.
    """

    def __init__(self, lite, csr):
        self.csr = csr

        # # #

        latching = Signal()  # the cycle in which `csr.dat_r` is that of the address before
        begin = Signal()
        write = Signal()
        word = log2_int(lite.data_width // 8)
        self.comb += [
            begin.eq(~latching & ~lite.r.valid & ~lite.b.valid),
            csr.adr.eq((lite.ar.addr | lite.aw.addr)[word:]),
            csr.dat_w.eq(lite.w.data),
            csr.re.eq(lite.ar.valid & begin),
            write.eq(lite.aw.valid & lite.w.valid & begin),
            csr.we.eq(write & (lite.w.strb != 0)),
            lite.ar.ready.eq(begin),
            lite.aw.ready.eq(lite.w.valid & begin),
            lite.w.ready.eq(lite.aw.valid & begin),
        ]
        self.sync += [
            latching.eq(csr.re),
            If(latching, lite.r.valid.eq(1), lite.r.data.eq(csr.dat_r)).Elif(lite.r.ready, lite.r.valid.eq(0)),
            If(write, lite.b.valid.eq(1)).Elif(lite.b.ready, lite.b.valid.eq(0)),
        ]


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
        self.submodules.csr_bridge = CsrBridge(lite, csr_bus.Interface(**width))
        pages = {}

        def page(name, memory):
            return (1 << _SELECT_BIT + 2) // _PAGE + pages.setdefault(name, len(pages))

        self.submodules.banks = banks = csr_bus.CSRBankArray(blocks, page, **width, paging=_PAGE)
        self.registers = list(_registers(banks))
        self.submodules.memory = memory = DescriptorMemory(make_descriptor(self.registers))
        self.submodules.interconnect = csr_bus.Interconnect(self.csr_bridge.csr, banks.get_buses() + [memory.bus])

        # A transaction's effects in the blocks come some cycles after its end: a read's, if it has any, at once
        rest = Signal(3)
        open_ = Signal(8)
        writes = axi.aw.valid | axi.w.valid | axi.b.valid
        begin = (axi.ar.valid & axi.ar.ready) + (axi.aw.valid & axi.aw.ready)
        end = (axi.r.valid & axi.r.ready & axi.r.last) + (axi.b.valid & axi.b.ready)
        active = axi.ar.valid | axi.r.valid | writes | (open_ != 0)
        self.sync += [
            open_.eq(open_ + begin - end),
            If(writes, rest.eq(7)).Elif(active & (rest < 2), rest.eq(2)).Elif(rest != 0, rest.eq(rest - 1)),
        ]
        self.comb += self.idle.eq(~active & (rest == 0))


def _registers(banks):
    for prefix, csrs, page, _bank in banks.banks:
        address = PL_DESCRIPTOR.start + page * _PAGE
        for csr in csrs:
            readable = not (isinstance(csr, CSR) and csr.size == 1)  # single-bit ones are triggers
            yield Register(f"{prefix}_{csr.name}", address, csr.size, readable, not isinstance(csr, CSRStatus))
            address += 4 * ((csr.size + 31) // 32)
