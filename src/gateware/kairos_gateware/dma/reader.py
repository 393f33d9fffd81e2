"""Reads memory in bursts of 16 beats, ahead of use.

While `active`, bursts are requested back to back as long as the buffer has room for all that is in
flight, so the port's latency is hidden: with latency L to the first beat, one word per cycle needs
L + 16 words of buffer (128 suffice up to L = 110). When `active` falls, no further burst is
requested, arriving data are discarded, and `idle` rises when the last requested beat has arrived:
the port is never left with an unfinished transaction.

    cycle       0        1        1 + L              3 + L
    active      ‾‾‾ rises
    arvalid              /‾‾‾‾‾‾‾ one burst a cycle, up to `bursts`
    rvalid                        /‾‾‾‾
    source.valid                                     /‾‾‾‾ one word a cycle

With `limited`, no more than `count` bursts are read. Clock domain sys. Throughput: one word per
cycle.
"""

from litex.soc.interconnect import stream
from migen import *
from migen.genlib.fifo import SyncFIFOBuffered

from ..hp import HpRead

__all__ = ["BurstReader", "BURST"]

BURST = 16
_BURST_BYTES_LOG2 = 7


class BurstReader(Module):
    """bursts: number requested ahead; at most `bursts` * 128 bytes after the last word used are
    read.

    `base` (in, 32 bits): address of the first burst (low 7 bits ignored), stable while `active` (in)'s
    first cycle; `count` (in, 32 bits), with `limited`: likewise, number of bursts. `source` (out, stream):
    {data 64, error: the port answered this beat with an error}.

    `idle` (out): no requested word is outstanding. `settled` (out): nothing changes without
    `source` being read or a word arriving.
    """

    def __init__(self, bursts=8, limited=False):
        self.bus = bus = HpRead()
        self.active = Signal()
        self.base = Signal(32)
        self.count = Signal(32)
        self.idle = Signal()
        self.settled = Signal()  # the buffer is as full as it will be until a word is taken
        self.source = source = stream.Endpoint([("data", 64), ("error", 1)])

        # # #

        depth = bursts * BURST
        self.submodules.fifo = fifo = ResetInserter()(SyncFIFOBuffered(65, depth))
        free = Signal(max=depth + 1, reset=depth)  # words that are neither in the buffer nor in flight
        outstanding = Signal(max=bursts + 1)
        was_active = Signal()
        address = Signal(32 - _BURST_BYTES_LOG2)
        request = Signal()
        taken = Signal()
        ended = Signal()
        wanted = Signal(reset=1)  # there are more bursts
        self.comb += [
            fifo.reset.eq(~self.active),
            fifo.we.eq(bus.rvalid),
            fifo.din.eq(Cat(bus.rdata, bus.rresp[1])),
            bus.rready.eq(1),
            source.valid.eq(fifo.readable & self.active),
            Cat(source.data, source.error).eq(fifo.dout),
            fifo.re.eq(source.ready),
            taken.eq(source.valid & source.ready),
            ended.eq(bus.rvalid & bus.rlast),
            # An address, once offered, is held until it is accepted; the next offer is decided a
            # cycle ahead
            request.eq(
                self.active
                & was_active
                & (~bus.arvalid | bus.arready)
                & (free >= BURST)
                & wanted
                & ((outstanding != bursts) | ended)
            ),
            bus.araddr.eq(Cat(C(0, _BURST_BYTES_LOG2), address)),
            bus.arlen.eq(BURST - 1),
            self.idle.eq(~self.active & ~was_active & (outstanding == 0)),
            self.settled.eq(source.valid & (outstanding == 0) & ((free < BURST) | ~wanted)),
        ]
        self.sync += [
            was_active.eq(self.active),
            If(request, bus.arvalid.eq(1)).Elif(bus.arready, bus.arvalid.eq(0)),
            If(~was_active, address.eq(self.base[_BURST_BYTES_LOG2:])).Elif(
                bus.arvalid & bus.arready, address.eq(address + 1)
            ),
            outstanding.eq(outstanding + request - ended),
            If(~self.active, free.eq(depth)).Else(free.eq(free + taken - Mux(request, BURST, 0))),
        ]
        if limited:
            left = Signal(32)
            self.comb += wanted.eq(left != 0)
            self.sync += If(~was_active, left.eq(self.count)).Elif(request, left.eq(left - 1))
