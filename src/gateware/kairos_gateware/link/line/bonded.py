"""AXI between two boards over several lanes: a bus of 64 bits for each lane, whose beats are cut into
parts of 64 bits.

    w, r ─┬─ bits 0 to 63   ─▶ endpoint 0 ═══ lane 0 ═══▶ endpoint 0 ─┬─▶ w, r
          ├─ bits 64 to 127 ─▶ endpoint 1 ═══ lane 1 ═══▶ endpoint 1 ─┤
          └─ …                                                        └─ the beat leaves when all parts are there
    aw, ar, b, interrupts   ─▶ endpoint 0 ═══ lane 0 ═══▶ endpoint 0 ───▶

So a lane works at the clock of a single one, and its words, credits and retransmissions are those of a link
of its own. Parts arrive in the order in which they were sent, so the n-th of each lane belong together; those
of a lane that is late by less than its FIFO wait for it. Skew costs latency, no throughput.

The parts would no longer belong together if one lane alone began anew. So a bond is up only while all of its
lanes are, and ends all of them if one goes down.
"""

from functools import reduce
from operator import and_

from litex.soc.interconnect.axi import AXIInterface
from migen import *

from .bridge import BridgeChannels, LevelsSender, bridge_streams
from .endpoint import Endpoint
from .reliable import Reliability

__all__ = ["LANE_BITS", "BondedRequester", "BondedServer"]

LANE_BITS = 64
"""Data of a beat on each lane."""
SETTLED = 256
"""Cycles for which all lanes must be up before the bond is: more than one may learn later than another
that the other end has begun anew."""
_SPREAD = ("w", "r")
"""Channels of which each lane has a part; the others are on lane 0."""
_CHANNELS = ("aw", "w", "ar", "b", "r")


class _Lane(Module):
    """One lane: `endpoint`, and `axi`, an interface of 64 bits on its streams. first: it has all channels, and the
    interrupts."""

    def __init__(self, near, first, interrupts, depth, reliability, packed, **widths):
        self.axi = AXIInterface(data_width=LANE_BITS, **widths)
        downstream, upstream = [
            [stream for stream in streams if first or stream.name in _SPREAD]
            for streams in bridge_streams(self.axi, interrupts, depth, packed)
        ]
        sent, taken = (downstream, upstream) if near else (upstream, downstream)
        self.submodules.endpoint = endpoint = Endpoint(sent, taken, reliability)
        self.ports = endpoint.sink | endpoint.source

        # # #

        tags = {stream.name: stream.forms.tags for stream in sent + taken}
        self.submodules += BridgeChannels(near, self.axi, self.ports, tags, endpoint.up)


class _Bond(Module):
    """endpoints: of the lanes. `lines` (in): each of these lines carries words. `up` (out): all lanes belong
    together."""

    def __init__(self, endpoints):
        self.lines, self.up = [Signal(reset=1) for _ in endpoints], Signal()

        # # #

        all_up, ends, joined, rest = Signal(), Signal(), Signal(), Signal(max=SETTLED + 1, reset=SETTLED)
        self.comb += [
            all_up.eq(reduce(and_, [endpoint.up for endpoint in endpoints])),
            joined.eq(rest == 0),
            self.up.eq(all_up & joined),
            [endpoint.line.eq(line & ~ends) for endpoint, line in zip(endpoints, self.lines, strict=True)],
        ]
        self.sync += [
            ends.eq(joined & ~all_up),
            If(~all_up, rest.eq(SETTLED)).Elif(~joined, rest.eq(rest - 1)),
        ]


class _Bonded(Module):
    """One end. lanes: their number; near: transactions enter here. packed: with the gearbox. `axi`: of 64 bits for
    each lane, a slave at the near end, a master at the far one. `endpoints`, `lines` (in, the line carries words):
    of each lane. `up` (out): all lanes are established; if one is lost, all begin anew, and transactions in flight
    are lost and never answered. `interrupts` (in, `interrupts` bits): as of a bridge with one lane.
    """

    def __init__(
        self,
        near,
        lanes,
        address_width=32,
        id_width=6,
        interrupts=16,
        depth=512,
        reliability=None,
        packed=True,
    ):
        widths = {"address_width": address_width, "id_width": id_width}
        self.axi = AXIInterface(data_width=LANE_BITS * lanes, **widths)
        self.interrupts = Signal(interrupts)
        self._lanes = [
            _Lane(near, n == 0, interrupts, depth, reliability or Reliability(), packed, **widths) for n in range(lanes)
        ]
        self.submodules += self._lanes
        self.endpoints = [lane.endpoint for lane in self._lanes]
        self.submodules.bond = bond = _Bond(self.endpoints)
        self.lines, self.up = bond.lines, bond.up

        # # #

        for name in _CHANNELS:
            into = near == (name in ("aw", "w", "ar"))  # from the bus to the lanes
            lanes = self._lanes if name in _SPREAD else self._lanes[:1]
            channels = [getattr(lane.axi, name) for lane in lanes]
            self._join(getattr(self.axi, name), channels, into)

    def _join(self, whole, parts, into):
        """Moves a beat of `whole` together with those of all its parts."""
        self.comb += self._spread(whole, parts) if into else self._gather(whole, parts)

    def _spread(self, whole, parts):
        ready = reduce(and_, [part.ready for part in parts]) & self.up
        yield whole.ready.eq(ready)
        for n, part in enumerate(parts):
            yield part.valid.eq(whole.valid & ready)
            yield from [field.eq(of) for field, of in [*_shared(part, whole), *_cut(part, whole, n)]]

    def _gather(self, whole, parts):
        valid = reduce(and_, [part.valid for part in parts]) & self.up
        yield whole.valid.eq(valid)
        yield from [of.eq(field) for field, of in _shared(parts[0], whole)]
        for n, part in enumerate(parts):
            yield part.ready.eq(whole.ready & valid)
            yield from [of.eq(field) for field, of in _cut(part, whole, n)]


def _shared(part, whole):
    """Pairs of fields that each part has as the whole beat has them."""
    names = [name for name in "addr burst len size lock prot cache qos id resp last".split() if hasattr(part, name)]
    return [(getattr(part, name), getattr(whole, name)) for name in names]


def _cut(part, whole, n):
    """Pairs of fields that are cut into parts, with those bits of the whole beat that are the n-th part's."""
    fields = [(getattr(part, name), getattr(whole, name)) for name in ("data", "strb") if hasattr(part, name)]
    return [(field, of[n * len(field) : (n + 1) * len(field)]) for field, of in fields]


class BondedRequester(_Bonded):
    """The end where transactions enter."""

    def __init__(self, lanes, **options):
        super().__init__(True, lanes, **options)

        # # #

        levels = self._lanes[0].ports["interrupts"]
        self.sync += If(levels.valid, self.interrupts.eq(levels.data))


class BondedServer(_Bonded):
    """The end where transactions leave."""

    def __init__(self, lanes, **options):
        super().__init__(False, lanes, **options)

        # # #

        first = self._lanes[0]
        self.submodules += LevelsSender(first.ports["interrupts"], self.interrupts, first.endpoint.up)
