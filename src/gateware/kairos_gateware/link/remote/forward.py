"""Remote memory through a board: forwards loads, stores and answers for boards behind other links.

    link ─▶ way? ─┬─▶ this board's server                         ┌─▶ link
                  └─▶ flits ─▶ switch of requests ─▶ way, request ─┤
                               this board's initiator ─────────────┘

Answers take the same path through a switch of their own, so that none waits for a request
(docs/gateware/switch.md). Vectors for a link that is down are dropped, as the link itself would do:
the initiator retries and eventually gives up. A request to a board behind the neighbour follows a
vector that names it (`way`), which accompanies it to the last board.

With cross links an answer may come by another link than its request has left by. It names that link (`via`), and
goes to its initiator:

    link ─▶ for this board? ─┬─ via this link ──────────────────────────────────┬─▶ initiator
                             └─ via another ─▶ flits ─▶ switch of answers ──────┘

A board answers by the link at which the request has come; all others pass the answer on by their routes.

Latency, beyond the link's own: 6 cycles from vector to vector. Throughput: one request per three
cycles, one answer per two. Clock domain sys.
"""

from functools import reduce
from operator import and_

from migen import *

from ..switch.routes import LOCAL, UP, crossed_route
from ..switch.switch import DESTINATION_BITS, Switch, flit_layout
from .words import ANSWER, BOARD_BITS, REQUEST, VIA_BITS, fields

__all__ = ["ANSWERS", "DEPTH", "FLITS", "KINDS", "Forwarding", "Inward", "Kind", "Outward", "turns"]

FLITS = 2
DEPTH = 16
_DATA = 64
_VIA_AT = 64 - VIA_BITS
"""Where the first flit of a request has that of its way."""


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


REQUESTS, ANSWERS = KINDS = Kind("remote_requests", REQUEST), Kind("remote_answers", ANSWER)


class _Way:
    """Replaces an endpoint for this board's own remote memory at a link: `sink`, `source`, `up`. kinds: those that are
    forwarded. via: of its initiator."""

    def __init__(self, endpoint, kinds, via):
        names, all_names = [[kind.name for kind in some] for some in (kinds, KINDS)]
        self.up, self.via = endpoint.up, via
        self.sink, self.source = [
            {
                name: Record(ports[name].layout, name=f"own_{name}") if name in names else ports[name]
                for name in all_names
            }
            for ports in (endpoint.sink, endpoint.source)
        ]


class Inward(Module):
    """Vectors from a link to this board or to `flit` (out), each as up to two flits. source: of the
    endpoint; own: the same for this board; number: of this board; both None: all become flits. up: of the link.
    via: of this link; answers to other links' initiators become flits; None: none come.

    `settled` (out): for time skip, nothing is held here.
    """

    def __init__(self, kind, source, own, number, up, via=None):
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
        named, asked_via, to_via = fields(REQUEST["way"], source.data), Signal(VIA_BITS), Signal(VIA_BITS)
        if kind is REQUESTS:
            # A way for this board goes to it, as its answer repeats part of it
            aim = named["destination"]
            self.comb += [
                way.eq(source.form == kind.tags["way"]),
                mine.eq(Mux(way, aim == number, ~aimed | (destination == number)) if number is not None else 0),
            ]
            self.sync += [
                If(source.valid & source.ready, aimed.eq(way), destination.eq(aim), asked_via.eq(named["via"])),
                If(~up, aimed.eq(0)),
            ]
        else:
            here_too = C(1) if via is None else (values["via"] == 0) | (values["via"] == via)
            self.comb += [
                destination.eq(values["source"]),
                mine.eq((destination == number) & here_too if number is not None else 0),
            ]
        head = kind.head(form, data)
        rest = C(0, _VIA_AT - DESTINATION_BITS - len(head))
        self.comb += [
            own.valid.eq(source.valid & mine),
            own.form.eq(source.form),
            own.data.eq(source.data),
            source.ready.eq(Mux(mine, own.ready, way | ~kept | free)),
            here.eq(source.valid & ~way & ~mine & (~kept | free)),
            self.flit.valid.eq(kept),
            self.flit.last.eq(second | ~self._has_data(kind, form)),
            self.flit.data.eq(
                Mux(
                    second,
                    fields(kind.longest, data)["data"],
                    Cat(
                        to,
                        C(0, DESTINATION_BITS - BOARD_BITS),
                        head,
                        rest,
                        to_via,
                    ),
                )
            ),
            free.eq(self.flit.ready & self.flit.last),
            self.settled.eq(~kept),
        ]
        self.sync += [
            If(kept & self.flit.ready, second.eq(~self.flit.last)),
            If(free, kept.eq(0)),
            If(
                here,
                kept.eq(1),
                form.eq(source.form),
                data.eq(source.data),
                to.eq(destination),
                to_via.eq(asked_via),
            ),
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
        leads = ~led if kind is REQUESTS and named else C(0)
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
        if kind is REQUESTS:
            way = kind.tags["way"]
            self.comb += If(passes & leads, sink.form.eq(way), sink.data.eq(Cat(head[:BOARD_BITS], head[_VIA_AT:])))
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


class _Either(Module):
    """Vectors of two `sources` in turn, to `out`."""

    def __init__(self, out, sources):
        turn, second = Signal(), Signal()
        self.comb += [
            second.eq(sources[1].valid & (turn | ~sources[0].valid)),
            out.valid.eq(sources[0].valid | sources[1].valid),
            *[
                getattr(out, name).eq(Mux(second, getattr(sources[1], name), getattr(sources[0], name)))
                for name in ("form", "data")
            ],
            sources[0].ready.eq(out.ready & ~second),
            sources[1].ready.eq(out.ready & second),
        ]
        self.sync += If(out.valid & out.ready, turn.eq(~second))


def turns(kind, behind, first, crosses):
    """Which ways through a board of the tree its routes take: a function from the ports at which something comes and
    leaves. behind: there are boards behind it; first: port of the first cross link; crosses: there are any."""

    def turn(into, out):
        if into in (LOCAL, out):
            return False
        if out == LOCAL:
            # Answers for which another link's initiator waits
            return crosses and kind is ANSWERS
        # Requests never go up after a cross link; an answer does that has come by one up from below
        return behind and not (kind is REQUESTS and into >= first and out == UP)

    return turn


class Forwarding(Module):
    """endpoints: of the board's links that have remote memory, by their ports as of `crossed_route` (1
    upwards, from 2 on downwards, then cross links). own: number of this board. sizes: boards behind each of its links
    downwards. crosses: `CrossLink` of each.

    `ways`: by the same ports, the replacements of the endpoints for this board's own remote memory, with `via` of its
    initiator. `settled` (out): for time skip.
    """

    def __init__(self, endpoints, own, sizes, crosses=()):
        self._own, self._endpoints = own, endpoints
        self._ports, self._crossed = 2 + len(sizes) + len(crosses), len(crosses) > 0
        self._route = crossed_route(own, sizes, [(cross.destination, cross.size, cross.leads) for cross in crosses])
        behind = len(sizes) > 0
        # Without cross links answers come by the links of the requests. A board with none behind it passes nothing on,
        # but its answers may still come by another one
        kinds = KINDS if behind else [ANSWERS]
        self.ways = {port: _Way(endpoint, kinds, port if crosses else 0) for port, endpoint in endpoints.items()}
        self.settled = Signal()

        # # #

        settled = [self._forward(kind, turns(kind, behind, 2 + len(sizes), len(crosses) > 0)) for kind in kinds]
        self.comb += self.settled.eq(reduce(and_, settled))

    def _forward(self, kind, turn):
        """Adds the switch for this kind. Returns whether it is quiet."""
        own, demands = self._own, self._crossed and kind is ANSWERS
        self.submodules += (switch := Switch(self._ports, self._route, FLITS, DEPTH, turn=turn))
        settled, direct = switch.empty, {}
        for port in range(self._ports):
            into, out = switch.into[port], switch.out[port]
            if port not in self._endpoints:
                if port != LOCAL or not demands:
                    # No such link: the initiator gives up eventually
                    self.comb += out.ready.eq(1)
                continue
            endpoint, way = self._endpoints[port], self.ways[port]
            direct[port] = arrives = Record(way.source[kind.name].layout)
            comes = Inward(kind, endpoint.source[kind.name], arrives, own, endpoint.up, port if demands else None)
            goes = Outward(kind, endpoint.sink[kind.name], way.sink[kind.name], endpoint.up)
            self.submodules += comes, goes
            self.comb += [*_joined(comes.flit, into), *_joined(out, goes.flit)]
            settled = settled & comes.settled & goes.settled
        if demands:
            return settled & self._deliver(kind, switch.out[LOCAL], direct)
        for port, arrives in direct.items():
            taken = self.ways[port].source[kind.name]
            self.comb += [
                *[getattr(taken, name).eq(getattr(arrives, name)) for name in ("valid", "form", "data")],
                arrives.ready.eq(taken.ready),
            ]
        return settled

    def _deliver(self, kind, flit, direct):
        """Answers in `flit` go to the initiators that they name, in turn with those that come there directly. Returns
        whether none is held here."""
        some = next(iter(direct.values()))
        local = Record(some.layout)
        self.submodules.local = local_end = Outward(kind, local, None, C(1))
        self.comb += [*_joined(flit, local_end.flit), local.ready.eq(1)]
        for port, arrives in direct.items():
            named = Record(some.layout)
            self.submodules += _Either(self.ways[port].source[kind.name], [arrives, named])
            self.comb += [
                named.valid.eq(local.valid & (fields(kind.longest, local.data)["via"] == port)),
                named.form.eq(local.form),
                named.data.eq(local.data),
                If(named.valid, local.ready.eq(named.ready)),
            ]
        return local_end.settled


def _joined(flit, into):
    """Statements that pass flits on."""
    names = ["valid", "last", "data"]
    return [*[getattr(into, name).eq(getattr(flit, name)) for name in names], flit.ready.eq(into.ready)]
