"""Bookkeeping of the input rings: for each channel, the numbers of entries written and consumed.

Channels are identified by slots, from 0 on. Both numbers count modulo 65536 from 0, which means
none. Reads are combinational; a written value can be read from the next cycle on. A reset takes one
cycle per slot. Clock domain sys.
"""

from migen import *

from ..contracts.initiator import INPUT_ENTRIES as ENTRIES

__all__ = ["RingLedger"]

_FILL_BITS = (2 * ENTRIES - 1).bit_length()


class RingLedger(Module):
    """count: number of slots.

    `reset` (in): all rings restart; `sweeping` (out): the reset is in progress and no other operation is
    allowed. `slot` (in, below `count`): its next entry has the number `number` (out, 16 bits), and there is
    `room` (out) for it; `take` (in): it is written. `asked` (in, below `count`): `newest` (out, 16 bits) is
    the number of this slot's newest entry; `grant` (in): `consumed` (in, 16 bits) is the number of its
    newest consumed entry.
    """

    def __init__(self, count):
        bound = max(2, count)
        self.reset = Signal()
        self.sweeping = sweeping = Signal()
        self.slot = Signal(max=bound)
        self.number = Signal(16)
        self.room = Signal()
        self.take = Signal()
        self.asked = Signal(max=bound)
        self.newest = Signal(16)
        self.grant = Signal()
        self.consumed = Signal(16)

        # # #

        written, consumed = Memory(16, bound), Memory(_FILL_BITS, bound)
        self.specials += written, consumed
        newest = written.get_port(async_read=True)
        asked = written.get_port(async_read=True)
        write = written.get_port(write_capable=True)
        credit = consumed.get_port(async_read=True)
        grant = consumed.get_port(write_capable=True)
        self.specials += newest, asked, write, credit, grant

        sweep = Signal(max=bound)
        fill = Signal(_FILL_BITS)
        self.sync += [
            If(sweeping, sweep.eq(sweep + 1)),
            If(sweep == count - 1, sweeping.eq(0)),
            If(self.reset, sweeping.eq(1), sweep.eq(0)),
        ]
        self.comb += [
            newest.adr.eq(self.slot),
            credit.adr.eq(self.slot),
            fill.eq(newest.dat_r[:_FILL_BITS] - credit.dat_r),
            self.room.eq(fill != ENTRIES),
            self.number.eq(newest.dat_r + 1),
            write.adr.eq(Mux(sweeping, sweep, self.slot)),
            write.dat_w.eq(Mux(sweeping, 0, self.number)),
            write.we.eq(sweeping | self.take),
            asked.adr.eq(self.asked),
            self.newest.eq(asked.dat_r),
            grant.adr.eq(Mux(sweeping, sweep, self.asked)),
            grant.dat_w.eq(Mux(sweeping, 0, self.consumed)),
            grant.we.eq(sweeping | self.grant),
        ]
