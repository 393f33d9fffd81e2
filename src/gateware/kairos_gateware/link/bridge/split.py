"""Divides a processor's port among slaves by the place of an address in the window to other boards.

A transaction goes to the slave of its place; the next of its kind waits until it has been answered, so
answers need no sorting. Adds no cycles. Clock domain sys.
"""

from litex.soc.interconnect.axi import AXIInterface
from migen import *

__all__ = ["PortSplit"]


class PortSplit(Module):
    """slaves: list of AXI ports with 32 bits of data. select: function from an address to a number in this
    list, an expression.

    `axi`: the slave port.
    """

    def __init__(self, slaves, select):
        first = slaves[0]
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=len(first.aw.id))

        # # #

        writes, reads = [self._one(address, select, len(slaves)) for address in (axi.aw, axi.ar)]
        for n, slave in enumerate(slaves):
            self.comb += [
                axi.aw.connect(slave.aw, omit={"valid", "ready"}),
                axi.ar.connect(slave.ar, omit={"valid", "ready"}),
                axi.w.connect(slave.w, omit={"valid", "ready"}),
                slave.aw.valid.eq(axi.aw.valid & ~writes.busy & (writes.asked == n)),
                slave.ar.valid.eq(axi.ar.valid & ~reads.busy & (reads.asked == n)),
                slave.w.valid.eq(axi.w.valid & writes.busy & (writes.chosen == n)),
                slave.b.ready.eq(axi.b.ready & writes.busy & (writes.chosen == n)),
                slave.r.ready.eq(axi.r.ready & reads.busy & (reads.chosen == n)),
                If(writes.asked == n, axi.aw.ready.eq(slave.aw.ready & ~writes.busy)),
                If(reads.asked == n, axi.ar.ready.eq(slave.ar.ready & ~reads.busy)),
                If(
                    writes.busy & (writes.chosen == n),
                    axi.w.ready.eq(slave.w.ready),
                    slave.b.connect(axi.b, omit={"ready"}),
                ),
                If(reads.busy & (reads.chosen == n), slave.r.connect(axi.r, omit={"ready"})),
            ]
        self.sync += [
            If(axi.b.valid & axi.b.ready, writes.busy.eq(0)),
            If(axi.r.valid & axi.r.ready & axi.r.last, reads.busy.eq(0)),
        ]

    def _one(self, address, select, count):
        """The slave of a transaction: that of the address offered, and that of the one in progress."""
        bits = bits_for(count - 1)
        state = Record([("busy", 1), ("asked", bits), ("chosen", bits)])
        self.comb += state.asked.eq(select(address.addr))
        self.sync += If(address.valid & address.ready, state.busy.eq(1), state.chosen.eq(state.asked))
        return state
