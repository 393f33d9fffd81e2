"""Several readers, or several writers, on one high-performance port. Clock domain sys.

Addresses are passed on as they arrive, earlier ports having priority; data arrive in the order of
the addresses and are routed to the requesting reader, or are taken from the writer whose turn it
is. A reader must accept its data immediately. Adds no latency, except that a burst's data are
written in the cycle after its address at the earliest.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..hp import HpRead, HpWrite

__all__ = ["share", "share_writes"]

_OPEN = 32
"""Bursts in flight, at most."""


class _Shared(Module):
    def __init__(self, readers):
        self.bus = bus = HpRead()

        # # #

        self.submodules.owners = owners = SyncFIFO(bits_for(len(readers) - 1), _OPEN)
        held, holder, chosen = Signal(), Signal.like(owners.din), Signal.like(owners.din)
        asks = [If(reader.arvalid, chosen.eq(n)) for n, reader in reversed(list(enumerate(readers)))]
        self.comb += [
            *asks,
            # An offer is held until it is accepted
            If(held, chosen.eq(holder)),
            Case(
                chosen,
                {
                    n: [
                        bus.arvalid.eq(reader.arvalid & owners.writable),
                        bus.araddr.eq(reader.araddr),
                        bus.arlen.eq(reader.arlen),
                        reader.arready.eq(bus.arready & owners.writable),
                    ]
                    for n, reader in enumerate(readers)
                },
            ),
            bus.rready.eq(1),
            owners.din.eq(chosen),
            owners.we.eq(bus.arvalid & bus.arready),
            owners.re.eq(bus.rvalid & bus.rlast),
        ]
        self.sync += [held.eq(bus.arvalid & ~bus.arready), holder.eq(chosen)]
        for n, reader in enumerate(readers):
            mine = owners.dout == n
            self.comb += [
                reader.rvalid.eq(bus.rvalid & mine),
                *[getattr(reader, name).eq(getattr(bus, name)) for name in ["rlast", "rdata", "rresp"]],
            ]


def share(module, readers) -> HpRead:
    """Returns the port that the `HpRead`s share, the first one with priority, as a submodule of
    `module`; a single one is returned itself."""
    if len(readers) == 1:
        return readers[0]
    shared = _Shared(readers)
    module.submodules += shared
    return shared.bus


class _SharedWrites(Module):
    def __init__(self, writers):
        self.bus = bus = HpWrite()

        # # #

        width = bits_for(len(writers) - 1)
        self.submodules.turns = turns = SyncFIFO(width, _OPEN)  # of data
        self.submodules.owners = owners = SyncFIFO(width, _OPEN)  # of responses
        held, holder, chosen, room = Signal(), Signal(width), Signal(width), Signal()
        self.comb += [
            *[If(writer.awvalid, chosen.eq(n)) for n, writer in reversed(list(enumerate(writers)))],
            If(held, chosen.eq(holder)),
            room.eq(turns.writable & owners.writable),
            Case(
                chosen,
                {
                    n: [
                        bus.awvalid.eq(writer.awvalid & room),
                        bus.awaddr.eq(writer.awaddr),
                        bus.awlen.eq(writer.awlen),
                        writer.awready.eq(bus.awready & room),
                    ]
                    for n, writer in enumerate(writers)
                },
            ),
            Case(
                turns.dout,
                {
                    n: [
                        bus.wvalid.eq(writer.wvalid & turns.readable),
                        bus.wdata.eq(writer.wdata),
                        bus.wstrb.eq(writer.wstrb),
                        bus.wlast.eq(writer.wlast),
                        writer.wready.eq(bus.wready & turns.readable),
                    ]
                    for n, writer in enumerate(writers)
                },
            ),
            Case(
                owners.dout,
                {n: [writer.bvalid.eq(bus.bvalid), bus.bready.eq(writer.bready)] for n, writer in enumerate(writers)},
            ),
            [writer.bresp.eq(bus.bresp) for writer in writers],
            turns.din.eq(chosen),
            owners.din.eq(chosen),
            turns.we.eq(bus.awvalid & bus.awready),
            owners.we.eq(turns.we),
            turns.re.eq(bus.wvalid & bus.wready & bus.wlast),
            owners.re.eq(bus.bvalid & bus.bready),
        ]
        self.sync += [held.eq(bus.awvalid & ~bus.awready), holder.eq(chosen)]


def share_writes(module, writers) -> HpWrite:
    """The same for `HpWrite`s."""
    if len(writers) == 1:
        return writers[0]
    shared = _SharedWrites(writers)
    module.submodules += shared
    return shared.bus
