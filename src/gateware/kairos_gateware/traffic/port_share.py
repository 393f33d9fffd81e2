"""Lends a port to a guest while its owner has no transaction on it. Clock domain sys.

The owner need not cooperate: it finds the port not ready while it is borrowed. Adds no latency for
either; from the guest's request to its use of the port one cycle, if the owner is idle.
"""

from migen import *

__all__ = ["PortShare"]

_OPEN = 64


class PortShare(Module):
    """owner, guest: ports of one kind (`hp.HpWrite`, `initiator.port.AcpMaster`). wanted: held by
    the guest until it has nothing in flight. `bus`: the outgoing port."""

    def __init__(self, owner, guest, wanted):
        kind = type(owner)
        self.bus = bus = kind()

        # # #

        borrowed = Signal()
        for name in kind.OUTPUTS:
            self.comb += getattr(bus, name).eq(Mux(borrowed, getattr(guest, name), getattr(owner, name)))
        for name in kind.INPUTS:
            source, control = getattr(bus, name), name.endswith(("valid", "ready"))
            self.comb += [
                getattr(owner, name).eq(source & ~borrowed if control else source),
                getattr(guest, name).eq(source & borrowed if control else source),
            ]
        rests = self._rests(owner)
        self.sync += borrowed.eq(wanted & (borrowed | rests))

    def _rests(self, owner):
        """Nothing is offered, begun or pending."""
        rests = [1]
        if hasattr(owner, "arvalid"):
            reads = Signal(max=_OPEN)
            self.sync += reads.eq(reads + (owner.arvalid & owner.arready) - (owner.rvalid & owner.rready & owner.rlast))
            rests += [~owner.arvalid, reads == 0]
        if hasattr(owner, "awvalid"):
            # Bursts whose data have not passed: below 0 if the data are ahead of the address
            writes, data, within = Signal(max=_OPEN), Signal((7, True)), Signal()
            address = owner.awvalid & owner.awready
            beat = owner.wvalid & owner.wready
            self.sync += [
                writes.eq(writes + address - (owner.bvalid & owner.bready)),
                data.eq(data + address - (beat & owner.wlast)),
                If(beat, within.eq(~owner.wlast)),
            ]
            rests += [~owner.awvalid, ~owner.wvalid, writes == 0, data == 0, ~within]
        whole = Signal()
        self.comb += whole.eq(Cat(*rests) == 2 ** len(rests) - 1)
        return whole
