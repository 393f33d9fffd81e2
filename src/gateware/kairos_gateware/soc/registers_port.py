"""An AXI3 slave in front of the register bus, with as few cycles per register access as possible.

Cycles of one word, with a master that does not wait:

    read     0 address │ 1 register bus asked │ 2 answer
    write    0 address, data │ 1 register written, answer

LiteX's bridges (`AXI2AXILite`, `AXILite2CSR`) take one cycle more for each, and three for each
further word of a burst, where this takes one. The outputs to the register bus are registered, so
that its decoders have a whole cycle; an answer is passed on in the same cycle as the bus returns
it, and is kept if the master does not accept it at once.
"""

from litex.soc.interconnect.axi import BURST_FIXED, BURST_WRAP
from migen import *

__all__ = ["RegistersPort"]

_BEATS_BITS = 4
_BYTES = 4


class RegistersPort(Module):
    """axi: slave of 32 bits. csr: the register bus, which answers in the cycle after its address.
    Clock domain sys.

    One burst at a time; if a read and a write arrive together, the one that was not served last is taken.
    `reading`, `writing` (out): one is in progress, from the cycle after its address to that of its last
    answer.

    `begin_read`, `begin_write` (out): for a cycle, an address is accepted.
    """

    def __init__(self, axi, csr):
        self.csr = csr
        self.reading, self.writing = Signal(), Signal()
        self.begin_read, self.begin_write = Signal(), Signal()

        # # #

        address = Signal(len(csr.adr) + log2_int(_BYTES))
        self.comb += csr.adr.eq(address[log2_int(_BYTES) :])
        advance = Signal()
        word = Signal(32)  # to be written, or read and not accepted yet
        self._begin(axi, address, advance)
        self._read(axi, csr, word, advance)
        self._write(axi, csr, word, advance)

    def _begin(self, axi, address, advance):
        """Accepts the address of a burst, and increments it."""
        idle, read_last = Signal(), Signal()
        self.comb += [
            idle.eq(~self.reading & ~self.writing),
            axi.ar.ready.eq(idle & ~(axi.aw.valid & read_last)),
            axi.aw.ready.eq(idle & ~(axi.ar.valid & ~read_last)),
            self.begin_read.eq(axi.ar.valid & axi.ar.ready),
            self.begin_write.eq(axi.aw.valid & axi.aw.ready),
        ]
        number, burst = Signal.like(axi.ar.id), Signal.like(axi.ar.burst)
        step = Signal(max=_BYTES + 1)  # bytes
        wrapped, following = Signal(_BEATS_BITS + log2_int(_BYTES)), Signal.like(address)
        low = len(wrapped)
        self.comb += following.eq(address + step)
        self.sync += If(
            advance & (burst != BURST_FIXED),
            address.eq(following),
            # The address bits that count within the burst's own length wrap around
            If(
                burst == BURST_WRAP,
                address.eq(Cat((address[:low] & ~wrapped) | (following[:low] & wrapped), address[low:])),
            ),
        )
        for begin, ax in [(self.begin_read, axi.ar), (self.begin_write, axi.aw)]:
            sizes = {
                size: [step.eq(1 << size), wrapped.eq(ax.len[:_BEATS_BITS] << size | (1 << size) - 1)]
                for size in range(log2_int(_BYTES) + 1)
            }
            self.sync += If(
                begin,
                read_last.eq(begin is self.begin_read),
                number.eq(ax.id),
                burst.eq(ax.burst),
                address.eq(ax.addr),
                Case(ax.size[:2], sizes | {"default": sizes[log2_int(_BYTES)]}),
            )
        self.comb += [axi.r.id.eq(number), axi.b.id.eq(number)]

    def _read(self, axi, csr, word, advance):
        left = Signal(_BEATS_BITS + 1)  # words not yet requested from the bus
        ask, fresh, kept = Signal(), Signal(), Signal()
        self.comb += [
            ask.eq((left != 0) & (~axi.r.valid | axi.r.ready)),
            csr.re.eq(ask),
            axi.r.valid.eq(fresh | kept),
            axi.r.data.eq(Mux(fresh, csr.dat_r, word)),
            axi.r.last.eq(left == 0),
            If(ask, advance.eq(1)),
        ]
        self.sync += [
            fresh.eq(ask),
            kept.eq(axi.r.valid & ~axi.r.ready),
            If(fresh, word.eq(csr.dat_r)),
            If(ask, left.eq(left - 1)),
            If(axi.r.valid & axi.r.ready & axi.r.last, self.reading.eq(0)),
            If(self.begin_read, self.reading.eq(1), left.eq(axi.ar.len[:_BEATS_BITS] + 1)),
        ]

    def _write(self, axi, csr, word, advance):
        taken, beat, some = Signal(), Signal(), Signal()
        self.comb += [
            axi.w.ready.eq(self.begin_write | (self.writing & ~axi.b.valid)),
            taken.eq(axi.w.valid & axi.w.ready),
            csr.we.eq(beat & some),
            csr.dat_w.eq(word),
            If(beat, advance.eq(1)),
        ]
        self.sync += [
            beat.eq(taken),
            If(taken, word.eq(axi.w.data), some.eq(axi.w.strb != 0)),
            If(axi.b.ready, axi.b.valid.eq(0)),
            If(axi.b.valid & axi.b.ready, self.writing.eq(0)),
            If(self.begin_write, self.writing.eq(1)),
            If(taken & axi.w.last, axi.b.valid.eq(1)),
        ]
