"""Remote memory through a board: forwards loads, stores and answers for boards behind other links.

    link ─▶ way? ─┬─▶ this board's server                         ┌─▶ link
                  └─▶ flits ─▶ switch of requests ─▶ way, request ─┤
                               this board's initiator ─────────────┘

Answers take the same path through a switch of their own, so that none waits for a request
(docs/gateware/switch.md). Vectors for a link that is down are dropped, as the link itself would do:
the initiator retries and eventually gives up. A request to a board behind the neighbour follows a
vector that names it (`way`), which accompanies it to the last board.

Latency, beyond the link's own: 6 cycles from vector to vector. Throughput: one request per three
cycles, one answer per two. Clock domain sys.
"""

from migen import *

from ..switch.switch import DESTINATION_BITS, Switch, flit_layout
from .words import ANSWER, BOARD_BITS, REQUEST, fields

__all__ = ["DEPTH", "FLITS", "KINDS", "Forwarding", "Inward", "Kind", "Outward"]

FLITS = 2
DEPTH = 16
_DATA = 64


class Kind:
    """A stream of vectors as packets of two flits: the first has the destination and the fields
    other than data, the second the data."""

    def __init__(self, name, layouts):
        self.name, self.tags = name, {form: tag for tag, form in enumerate(layouts, 1)}
        self.layouts = layouts
        self.longest = max((layout for layout in layouts.values()), key=lambda some: sum(width for _, width in some))
        self.with_data = [self.tags[form] for form, layout in layouts.items() if "data" in dict(layout)]

    def head(self, form, data):
        """Contents of the first flit, beside the destination."""
        parts = fields(self.longest, data)
        return Cat(form, *[part for name, part in parts.items() if name != "data"])

    def join(self, head, data):
        """Reassembles (form, data) of the vector."""
        form, place, parts = head[: bits_for(len(self.tags))], bits_for(len(self.tags)), []
        for name, width in self.longest:
            if name == "data":
                parts.append(data)
            else:
                parts.append(head[place : place + width])
                place += width
        return form, Cat(*parts)


_REQUESTS, _ANSWERS = KINDS = Kind("remote_requests", REQUEST), Kind("remote_answers", ANSWER)


class _Way:
    """Replaces an endpoint for this board's own remote memory at a link: `sink`, `source`, `up`."""

    def __init__(self, endpoint):
        names = [kind.name for kind in (_REQUESTS, _ANSWERS)]
        self.up = endpoint.up
        self.sink, self.source = [
            {name: Record(ports[name].layout, name=f"own_{name}") for name in names}
            for ports in (endpoint.sink, endpoint.source)
        ]


class Inward(Module):
    """Vectors from a link to this board or to `flit` (out), each as up to two flits. source: of the
    endpoint; own: the same for this board; number: of this board; both None: all become flits. up: of the link.

    `settled` (out): for time skip, nothing is held here.
    """

    def __init__(self, kind, source, own, number, up):
        self.flit = Record(flit_layout())
        self.settled = Signal()

        # # #

        if own is None:
            own = Record(source.layout)
        values = fields(kind.longest, source.data)
        aimed, destination, way, mine = Signal(), Signal(BOARD_BITS), Signal(), Signal()
        # Copied here, since a link that goes down discards its own
        kept, form, data, to = Signal(), Signal.like(source.form), Signal.like(source.data), Signal(BOARD_BITS)
        second, free, here = Signal(), Signal(), Signal()
        if kind is _REQUESTS:
            self.comb += [
                way.eq(source.form == kind.tags["way"]),
                mine.eq(~aimed | (destination == number) if number is not None else 0),
            ]
            self.sync += [
                If(source.valid & source.ready, aimed.eq(way), destination.eq(source.data[:BOARD_BITS])),
                If(~up, aimed.eq(0)),
            ]
        else:
            self.comb += [destination.eq(values["source"]), mine.eq(destination == number if number is not None else 0)]
        self.comb += [
            own.valid.eq(source.valid & mine & ~way),
            own.form.eq(source.form),
            own.data.eq(source.data),
            source.ready.eq(way | Mux(mine, own.ready, ~kept | free)),
            here.eq(source.valid & ~way & ~mine & (~kept | free)),
            self.flit.valid.eq(kept),
            self.flit.last.eq(second | ~self._has_data(kind, form)),
            self.flit.data.eq(
                Mux(
                    second,
                    fields(kind.longest, data)["data"],
                    Cat(to, C(0, DESTINATION_BITS - BOARD_BITS), kind.head(form, data)),
                )
            ),
            free.eq(self.flit.ready & self.flit.last),
            self.settled.eq(~kept),
        ]
        self.sync += [
            If(kept & self.flit.ready, second.eq(~self.flit.last)),
            If(free, kept.eq(0)),
            If(here, kept.eq(1), form.eq(source.form), data.eq(source.data), to.eq(destination)),
        ]

    @staticmethod
    def _has_data(kind, form):
        return Array(tag in kind.with_data for tag in range(2 ** len(form)))[form]


class Outward(Module):
    """Vectors to a link from this board and from `flit` (in). sink: of the endpoint; own: the same for this
    board, or None. up: of the link. named: a way precedes a request. Vectors of this board and forwarded ones
    alternate; a way and the request that follows stay together.

    `settled` (out): for time skip, nothing is held here.
    """

    def __init__(self, kind, sink, own, up, named=True):
        self.flit = Record(flit_layout())
        self.settled = Signal()

        # # #

        if own is None:
            own = Record(sink.layout)
        head, data, whole, behind = Signal(64), Signal(_DATA), Signal(), Signal()
        led, turn, passes, begun = Signal(), Signal(), Signal(), Signal()
        form, joined = kind.join(head[DESTINATION_BITS:], data)
        leads = ~led if kind is _REQUESTS and named else C(0)
        leaves = Signal()
        self.comb += [
            self.flit.ready.eq(~whole),
            passes.eq(Mux(begun, turn, whole & (turn | ~own.valid))),
            If(
                passes,
                sink.valid.eq(whole),
                sink.form.eq(form),
                sink.data.eq(joined),
                leaves.eq(whole & sink.ready & ~leads),
            ).Else(sink.valid.eq(own.valid), sink.form.eq(own.form), sink.data.eq(own.data), own.ready.eq(sink.ready)),
            self.settled.eq(~whole & ~behind & ~self.flit.valid),
        ]
        if kind is _REQUESTS:
            way = kind.tags["way"]
            self.comb += If(passes & leads, sink.form.eq(way), sink.data.eq(head[:BOARD_BITS]))
            goes = sink.valid & sink.ready
            self.sync += [
                If(goes, begun.eq(sink.form == way), turn.eq(Mux(sink.form == way, passes, ~passes))),
                If(goes & passes, led.eq(leads)),
                If(~up, begun.eq(0), led.eq(0)),
            ]
        else:
            self.sync += If(sink.valid & sink.ready, turn.eq(~passes))
        self.sync += [
            If(
                self.flit.valid & self.flit.ready,
                If(behind, data.eq(self.flit.data)).Else(head.eq(self.flit.data)),
                behind.eq(~self.flit.last),
                whole.eq(self.flit.last),
            ),
            If(leaves | (whole & ~up), whole.eq(0)),
        ]


class Forwarding(Module):
    """endpoints: of the board's links that have remote memory, by their ports as of `tree_route` (1
    upwards, from 2 on downwards). own: number of this board. sizes: boards behind each of its links
    downwards. route: of `tree_route`.

    `ways`: by the same ports, the replacements of the endpoints for this board's own remote memory.
    `settled` (out): for time skip.
    """

    def __init__(self, endpoints, own, sizes, route):
        self.ways = {port: _Way(endpoint) for port, endpoint in endpoints.items()}
        self.settled = Signal()

        # # #

        settled = C(1)
        for kind in (_REQUESTS, _ANSWERS):
            self.submodules += (switch := Switch(2 + len(sizes), route(own, sizes), FLITS, DEPTH))
            for port in range(2 + len(sizes)):
                into, out = switch.into[port], switch.out[port]
                if port not in endpoints:
                    # No such link: the initiator gives up eventually
                    self.comb += out.ready.eq(1)
                    continue
                endpoint, way = endpoints[port], self.ways[port]
                comes = Inward(kind, endpoint.source[kind.name], way.source[kind.name], own, endpoint.up)
                goes = Outward(kind, endpoint.sink[kind.name], way.sink[kind.name], endpoint.up)
                self.submodules += comes, goes
                names = ["valid", "last", "data"]
                self.comb += [
                    *[getattr(into, name).eq(getattr(comes.flit, name)) for name in names],
                    comes.flit.ready.eq(into.ready),
                    *[getattr(goes.flit, name).eq(getattr(out, name)) for name in names],
                    out.ready.eq(goes.flit.ready),
                ]
                settled = settled & comes.settled & goes.settled
            settled = settled & switch.empty
        self.comb += self.settled.eq(settled)
