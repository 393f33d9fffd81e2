"""Remote memory in a ring of boards: loads, stores and answers take the shorter way, or the other one while a cable is
lost.

    cable onward ─▶ two lanes ─┐                        ┌─▶ two lanes ─▶ cable onward
    cable back   ─▶ two lanes ─┼─▶ switch of requests ──┼─▶ two lanes ─▶ cable back
    this board's initiator ────┘                        └─▶ this board's server

Answers have a switch of their own, so that none waits for a request. Each cable has the streams of `ring_streams`. Why
two lanes, and how boards know of lost cables: docs/gateware/switch.md. A vector without a way, or in a cable that is
lost, is dropped: the initiator retries, and eventually gives up.

Latency, beyond the link's own: 6 cycles from vector to vector. Throughput: one request per three cycles, one answer per
two. Clock domain sys.
"""

from functools import reduce
from operator import and_

from migen import *

from ..switch.routes import LOCAL, RING_LANES, RingReach, short_ring_route, short_ring_turn
from ..switch.switch import Switch
from .forward import DEPTH, FLITS, KINDS, Inward, Outward
from .words import remote_streams

__all__ = ["RingForwarding"]


class _Own:
    """The board's own end: `sink`, `source` and `up` for its initiator and its server, whose requests all name their
    destination. leaves, arrives: (`sink`, `source`) for `Inward` and `Outward` of each kind."""

    def __init__(self):
        layouts = {stream.name: [("valid", 1), ("ready", 1), *stream.forms.layout()] for stream in remote_streams()}
        self.sink = {name: Record(layout, name=f"own_sink_{name}") for name, layout in layouts.items()}
        self.source = {name: Record(layout, name=f"own_source_{name}") for name, layout in layouts.items()}
        self.up = C(1)


class RingForwarding(Module):
    """onward, back: endpoints of the board's cables, with the streams of `ring_streams`. number: of this board, below
    `size`, the number of boards, which are numbered in the order of the ring.

    `way`: replaces an endpoint for this board's remote memory. `reach` (out): boards reached onward, and back.
    `settled` (out): for time skip.
    """

    def __init__(self, onward, back, number, size):
        self.way, self.settled = _Own(), Signal()
        self.submodules.knows = knows = RingReach(size)
        self.reach = knows.reach

        # # #

        ends, settled = [onward, back], []
        for n, (end, up, far) in enumerate(zip(ends, knows.up, knows.far, strict=True)):
            # What this board reaches away from the other end is of interest there
            reported, reach = Signal.like(far), knows.reach[1 - n]
            known = Signal()
            sink, source = end.sink["reach"], end.source["reach"]
            self.comb += [
                up.eq(end.up),
                sink.valid.eq(~known | (reported != reach)),
                sink.form.eq(1),
                sink.data.eq(reach),
            ]
            self.sync += [
                If(source.valid, far.eq(source.data)),
                If(sink.valid & sink.ready, known.eq(1), reported.eq(reach)),
                If(~end.up, known.eq(0), far.eq(0)),
            ]
            settled.append(~end.up | ~sink.valid)
        for kind in KINDS:
            routes = short_ring_route(number, size, knows.reach)
            switch = Switch(len(RING_LANES), routes, FLITS, DEPTH, choice=True, turn=short_ring_turn)
            own = Inward(kind, self.way.sink[kind.name], None, None, self.way.up)
            arrives = Outward(kind, self.way.source[kind.name], None, self.way.up, named=False)
            parts = [(LOCAL, own, arrives)]
            for port in range(1, len(RING_LANES)):
                end, name = ends[(port - 1) // 2], f"{kind.name}{(port - 1) % 2}"
                comes = Inward(kind, end.source[name], None, None, end.up)
                parts.append((port, comes, Outward(kind, end.sink[name], None, end.up)))
            self.submodules += switch
            settled.append(switch.empty)
            for port, comes, goes in parts:
                self.submodules += comes, goes
                into, out = switch.into[port], switch.out[port]
                names = ["valid", "last", "data"]
                self.comb += [
                    *[getattr(into, name).eq(getattr(comes.flit, name)) for name in names],
                    comes.flit.ready.eq(into.ready),
                    *[getattr(goes.flit, name).eq(getattr(out, name)) for name in names],
                    out.ready.eq(goes.flit.ready),
                ]
                settled += [comes.settled, goes.settled]
        self.comb += self.settled.eq(reduce(and_, settled))
