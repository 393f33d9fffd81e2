"""Several readers on one high-performance port. Clock domain sys.

Addresses go out as they come, those of the first reader first; data come in the order of the addresses, and go to who
asked. A reader must take its data at once. No latency of its own.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ..hp import HpRead

__all__ = ["share"]

_OPEN = 32
"""Bursts under way, at most."""


class _Shared(Module):
    def __init__(self, readers):
        self.bus = bus = HpRead()

        # # #

        self.submodules.owners = owners = SyncFIFO(bits_for(len(readers) - 1), _OPEN)
        held, holder, chosen = Signal(), Signal.like(owners.din), Signal.like(owners.din)
        asks = [If(reader.arvalid, chosen.eq(n)) for n, reader in reversed(list(enumerate(readers)))]
        self.comb += [
            *asks,
            # What was offered stays until it is taken
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
    """The port that the `HpRead`s share, the first one with priority, as a submodule of `module`; a single one has it
    to itself."""
    if len(readers) == 1:
        return readers[0]
    shared = _Shared(readers)
    module.submodules += shared
    return shared.bus
