"""Serves other boards' loads and stores of coherent regions: through the accelerator coherency port, so that a
core that polls the word in its cache sees it.

The port belongs to the kernel initiator and is lent (`PortShare`) while that rests; one access at a time.
`ServedWords` divides a server's accesses between this and an HP port. Clock domain sys.
"""

from migen import *

from ..initiator.port import AcpMaster
from ..link.remote.port import WordPort

__all__ = ["CoherentPort", "ServedWords"]


class CoherentPort(Module):
    """bus, reply: as of `RemoteServer`.

    `port`: guest of the ACP. `wanted` (out): it is needed, or an access is in flight.
    """

    def __init__(self, bus, reply):
        self.port, self.wanted = AcpMaster(), Signal()

        # # #

        port, address, id_ = self.port, Signal(32), Signal.like(bus.id)
        addressed, stored = Signal(), Signal()
        self.comb += [
            port.araddr.eq(address),
            port.awaddr.eq(address),
            port.wlast.eq(1),
            reply.id.eq(id_),
        ]
        self.submodules.fsm = fsm = FSM("IDLE")
        self.comb += self.wanted.eq(~fsm.ongoing("IDLE"))
        fsm.act(
            "IDLE",
            bus.ready.eq(1),
            NextValue(address, Cat(C(0, 3), bus.address)),
            NextValue(id_, bus.id),
            NextValue(port.wdata, bus.data),
            NextValue(port.wstrb, bus.strobes),
            NextValue(addressed, 0),
            NextValue(stored, 0),
            If(bus.valid, If(bus.write, NextState("STORE")).Else(NextState("LOAD"))),
        )
        fsm.act(
            "STORE",
            port.awvalid.eq(~addressed),
            port.wvalid.eq(~stored),
            If(port.awvalid & port.awready, NextValue(addressed, 1)),
            If(port.wvalid & port.wready, NextValue(stored, 1)),
            If((addressed | port.awready) & (stored | port.wready), NextState("STORED")),
        )
        fsm.act(
            "STORED",
            reply.valid.eq(port.bvalid),
            reply.error.eq(port.bresp[1]),
            port.bready.eq(reply.ready),
            If(port.bvalid & reply.ready, NextState("IDLE")),
        )
        fsm.act("LOAD", port.arvalid.eq(1), If(port.arready, NextState("LOADED")))
        fsm.act(
            "LOADED",
            reply.valid.eq(port.rvalid),
            reply.error.eq(port.rresp[1]),
            reply.data.eq(port.rdata),
            port.rready.eq(reply.ready),
            If(port.rvalid & reply.ready, NextState("IDLE")),
        )


class _Half:
    """A part of a server's accesses: `bus` (out), `reply` (in), as of `RemoteServer`."""

    def __init__(self, server):
        self.bus, self.reply = Record(server.bus.layout), Record(server.reply.layout)


class ServedWords(Module):
    """server: `RemoteServer`.

    `read`, `write`: halves of an HP port. `port`, `wanted` (out): of a `CoherentPort`. `settled` (out): nothing
    is in flight.
    """

    def __init__(self, server):
        self.settled = Signal()

        # # #

        plain, coherent = _Half(server), _Half(server)
        self.submodules.words = words = WordPort(plain)
        self.submodules.coherent = port = CoherentPort(coherent.bus, coherent.reply)
        self.read, self.write, self.port, self.wanted = words.read, words.write, port.port, port.wanted
        bus, reply = server.bus, server.reply
        self.comb += [self.settled.eq(words.settled & ~port.wanted & ~bus.valid)]
        for half, mine in [(plain, ~server.coherent), (coherent, server.coherent)]:
            self.comb += [
                [
                    getattr(half.bus, name).eq(getattr(bus, name))
                    for name, *_ in bus.layout
                    if name not in ("valid", "ready")
                ],
                half.bus.valid.eq(bus.valid & mine),
                If(mine, bus.ready.eq(half.bus.ready)),
            ]
        # Answers of the HP port have priority
        fields = [name for name, *_ in reply.layout if name != "ready"]
        self.comb += [
            plain.reply.ready.eq(reply.ready),
            coherent.reply.ready.eq(reply.ready & ~plain.reply.valid),
            If(plain.reply.valid, [getattr(reply, name).eq(getattr(plain.reply, name)) for name in fields]).Else(
                [getattr(reply, name).eq(getattr(coherent.reply, name)) for name in fields]
            ),
        ]
