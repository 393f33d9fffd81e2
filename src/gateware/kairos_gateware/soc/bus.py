"""Port GP0: an AXI3 slave of 32 bits in front of the registers and the descriptor memory.

Address bit 16 selects: 0 descriptor memory (read only, writes are ignored), 1 registers.
`RegistersPort` converts bursts: a read is answered in the third cycle of its address, a write in
the second. Clock domain sys.
"""

from litex.soc.interconnect import csr_bus
from litex.soc.interconnect.axi import AXIInterface
from litex.soc.interconnect.csr import CSR, CSRStatus
from migen import *

from ..contracts.memory import PL_DESCRIPTOR
from ..descriptor import Register
from .registers_port import RegistersPort

__all__ = ["Gp0Bus", "DescriptorMemory"]

_SELECT_BIT = (len(PL_DESCRIPTOR) // 4).bit_length() - 1  # of the word address
_PAGE = 0x800  # bytes for the registers of one block
_PAGES = (1 << _SELECT_BIT + 2) // _PAGE
_MASTER_IDS = 12
_WRITTEN, _TAKEN = 8, 2
"""Cycles after a write, and after a read with side effects, in which a block that does not report
activity itself may still change."""


class DescriptorMemory(Module):
    """Read-only memory of 32-bit words on the register bus, one cycle latency. Constant logic, from
    which synthesis infers a block RAM; no initialisation file is needed beside the Verilog."""

    def __init__(self, words):
        self.bus = bus = csr_bus.Interface(data_width=32, address_width=_SELECT_BIT + 1)

        # # #

        if len(words) > 1 << _SELECT_BIT:
            raise ValueError("the descriptor is larger than its 64 KiB window")
        word = Signal(32)
        out_of_range = Signal()
        # The selection follows the register; otherwise the constants would not be inferred as a
        # memory
        self.sync += [
            Case(
                bus.adr[: max(1, (len(words) - 1).bit_length())],
                {i: word.eq(w) for i, w in enumerate(words)} | {"default": word.eq(0)},
            ),
            out_of_range.eq(bus.adr[_SELECT_BIT] | (bus.adr >= len(words))),
        ]
        self.comb += If(~out_of_range, bus.dat_r.eq(word))


class Gp0Bus(Module):
    """blocks: object whose attributes hold registers; an attribute's name is the prefix of its
    registers' names. make_descriptor: called with the list of `descriptor.Register`, returns the
    words of the descriptor memory. taking: reading some registers has side effects in their block.
    Raises ValueError if there are more blocks than address pages.

    `axi` is the slave port. For time skip: `idle` (out), no transaction is in progress or may still have
    effects; `changing` (out), the opposite, except that reads without side effects do not count.
    """

    def __init__(self, blocks, make_descriptor, taking):
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=_MASTER_IDS)
        self.idle, self.changing = Signal(), Signal()

        # # #

        width = {"data_width": 32, "address_width": _SELECT_BIT + 1}
        self.submodules.port = port = RegistersPort(axi, csr_bus.Interface(**width))
        pages = {}

        def page(name, memory):
            return _PAGES + pages.setdefault(name, len(pages))

        if (count := len(vars(blocks))) > _PAGES:
            raise ValueError(
                f"there is room for the registers of {_PAGES} blocks, but these are {count}; each link of a board has "
                "three, with remote memory six"
            )
        self.submodules.banks = banks = csr_bus.CSRBankArray(blocks, page, **width, paging=_PAGE)
        self.registers = list(_registers(banks))
        self.submodules.memory = memory = DescriptorMemory(make_descriptor(self.registers))
        self.submodules.interconnect = csr_bus.Interconnect(port.csr, banks.get_buses() + [memory.bus])

        rest = Signal(max=_WRITTEN + 1)
        reading, writing = axi.ar.valid | port.reading, axi.aw.valid | axi.w.valid | port.writing
        takes = reading if taking else 0
        self.sync += [
            If(rest != 0, rest.eq(rest - 1)),
            If(takes & (rest <= _TAKEN), rest.eq(_TAKEN)),
            If(writing, rest.eq(_WRITTEN)),
        ]
        self.comb += [self.changing.eq(writing | takes | (rest != 0)), self.idle.eq(~reading & ~self.changing)]


def _registers(banks):
    for prefix, csrs, page, _bank in banks.banks:
        address = PL_DESCRIPTOR.start + page * _PAGE
        for csr in csrs:
            readable = not (isinstance(csr, CSR) and csr.size == 1)  # single-bit ones are triggers
            yield Register(f"{prefix}_{csr.name}", address, csr.size, readable, not isinstance(csr, CSRStatus))
            address += 4 * ((csr.size + 31) // 32)
