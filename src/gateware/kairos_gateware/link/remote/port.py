"""Serves other boards' loads and stores on a high-performance port of the processing system, as
bursts of one beat.

Latency: request → address 0, data → answer 1. Throughput: one load per cycle, one store per one or
two cycles. Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ...hp import HpRead, HpWrite

__all__ = ["WordPort"]

_OPEN = 16


class WordPort(Module):
    """server: `RemoteServer` whose `bus` and `reply` are served. `read`, `write`: halves of the port.
    `settled` (out): nothing is in flight."""

    def __init__(self, server):
        self.read, self.write = HpRead(), HpWrite()
        self.settled = Signal()

        # # #

        bus, reply, read, write = server.bus, server.reply, self.read, self.write
        reads, writes = SyncFIFO(len(bus.id), _OPEN), SyncFIFO(len(bus.id), _OPEN)  # pending identifications
        data = SyncFIFO(65, _OPEN)
        self.submodules += reads, writes, data
        loads, stores = Signal(), Signal()
        addressed, stored = Signal(), Signal()  # address or data of the offered store has been accepted
        address = Cat(C(0, 3), bus.address)
        self.comb += [
            loads.eq(bus.valid & ~bus.write & reads.writable),
            stores.eq(bus.valid & bus.write & writes.writable),
            read.arvalid.eq(loads),
            read.araddr.eq(address),
            read.rready.eq(1),
            write.awvalid.eq(stores & ~addressed),
            write.awaddr.eq(address),
            write.wvalid.eq(stores & ~stored),
            write.wlast.eq(1),
            write.wdata.eq(bus.data),
            write.wstrb.eq(bus.strobes),
            bus.ready.eq(
                (loads & read.arready) | (stores & (addressed | write.awready) & (stored | write.wready)),
            ),
            reads.we.eq(loads & bus.ready),
            writes.we.eq(stores & bus.ready),
            reads.din.eq(bus.id),
            writes.din.eq(bus.id),
            data.we.eq(read.rvalid),
            data.din.eq(Cat(read.rresp[1], read.rdata)),
            reply.valid.eq(data.readable | write.bvalid),
            reply.data.eq(data.dout[1:]),
            If(data.readable, reply.id.eq(reads.dout), reply.error.eq(data.dout[0])).Else(
                reply.id.eq(writes.dout), reply.error.eq(write.bresp[1])
            ),
            data.re.eq(reply.ready & data.readable),
            reads.re.eq(data.re),
            write.bready.eq(reply.ready & ~data.readable),
            writes.re.eq(write.bready & write.bvalid),
            self.settled.eq(~bus.valid & ~reads.readable & ~writes.readable),
        ]
        self.sync += If(bus.ready, addressed.eq(0), stored.eq(0)).Else(
            If(write.awvalid & write.awready, addressed.eq(1)), If(write.wvalid & write.wready, stored.eq(1))
        )
