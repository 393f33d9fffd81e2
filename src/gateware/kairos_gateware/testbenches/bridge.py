"""Bench of a bridge as boards have it: both ends with their endpoints and registers, a line that may be cut,
and a vector adder or another block."""

from migen import *

from ..link.bridge.adder import VectorAdder
from ..link.bridge.far import BridgeOutlet
from ..link.bridge.near import TIMEOUT, BridgeWindow
from ..link.bridge.words import bridge_both
from ..link.line.endpoint import Endpoint
from ..link.rtio.words import RELIABILITY
from .fibre import Joined

__all__ = ["BridgedBoards", "PortMaster"]


class BridgedBoards(Module):
    """delay: cycles of the line. packetiser, master: of the bridge. reliability: of the endpoints. timeout: of an
    access. block: the class of what is behind it.

    `near`, `far`: the ends of the bridge, `block` behind it; `plugged` (in). `hangs` (in): the block takes
    nothing and answers nothing. `up` (out): of the near end's link.
    """

    def __init__(
        self,
        delay=1,
        packetiser="gearbox",
        reliability=RELIABILITY,
        timeout=TIMEOUT,
        block=VectorAdder,
        master="upstream",
    ):
        downstream, upstream = bridge_both(packetiser, master)
        ends = Endpoint(downstream, upstream, reliability), Endpoint(upstream, downstream, reliability)
        self.submodules += ends
        first, second = ends if master == "upstream" else ends[::-1]
        self.plugged, self.hangs, self.up = Signal(reset=1), Signal(), first.up
        self.submodules.near = near = BridgeWindow(first.sink, first.source, first.up, timeout)
        self.submodules.far = far = BridgeOutlet(second.sink, second.source, second.up)
        self.submodules.block = block = block()

        # # #

        self.submodules += Joined(ends, delay, self.plugged)
        for channel in ("aw", "w", "ar"):
            master, slave = getattr(far.axi, channel), getattr(block.axi, channel)
            self.comb += [
                master.connect(slave, omit={"valid", "ready"}),
                slave.valid.eq(master.valid & ~self.hangs),
                master.ready.eq(slave.ready & ~self.hangs),
            ]
        for channel in ("b", "r"):
            self.comb += getattr(block.axi, channel).connect(getattr(far.axi, channel))
        self.comb += [
            block.aborts.eq(far.aborts),
            block.held.eq(far.held),
            far.raises.eq(block.interrupts),
        ]
        self.axi = near.axi


class PortMaster:
    """A processing system at an AXI port of 32 bits. axi: the port. step: generator function of one cycle, by
    default just that."""

    ID = 5

    def __init__(self, axi, step=None):
        self.axi, self.cycles = axi, 0
        self._step = step

    def step(self):
        self.cycles += 1
        if self._step is None:
            yield
        else:
            yield from self._step()

    def cut(self, boards, after, access):
        """Make an access, a generator, during which the cable is out for a cycle, `after` cycles from now; return its
        result once the link is up again. boards: `BridgedBoards`."""
        begun = self.cycles

        def step():
            yield boards.plugged.eq(self.cycles - begun != after)
            yield

        self._step = step
        result = yield from access
        while not (yield boards.up) or self.cycles - begun <= after:
            yield from self.step()
        self._step = None
        return result

    def address(self, channel, address, beats, size=2, burst=1):
        """Offers an address until it is taken."""
        channel = getattr(self.axi, channel)
        yield channel.valid.eq(1)
        yield channel.addr.eq(address)
        yield channel.len.eq(beats - 1)
        yield channel.size.eq(size)
        yield channel.burst.eq(burst)
        yield channel.id.eq(self.ID)
        yield from self.step()
        while not (yield channel.ready):
            yield from self.step()
        yield channel.valid.eq(0)

    def load(self, address, beats=1, **burst):
        """[(data, response)]"""
        yield from self.address("ar", address, beats, **burst)
        yield self.axi.r.ready.eq(1)
        got = []
        while len(got) < beats:
            yield from self.step()
            if (yield self.axi.r.valid):
                got.append(((yield self.axi.r.data), (yield self.axi.r.resp)))
                assert (yield self.axi.r.last) == (len(got) == beats) and (yield self.axi.r.id) == self.ID
        yield self.axi.r.ready.eq(0)
        return got

    def store(self, address, *words, strobes=0xF, **burst):
        """The response."""
        yield from self.address("aw", address, len(words), **burst)
        for n, word in enumerate(words):
            yield self.axi.w.valid.eq(1)
            yield self.axi.w.data.eq(word)
            yield self.axi.w.strb.eq(strobes)
            yield self.axi.w.last.eq(n == len(words) - 1)
            yield from self.step()
            while not (yield self.axi.w.ready):
                yield from self.step()
            yield self.axi.w.valid.eq(0)
        yield self.axi.b.ready.eq(1)
        yield from self.step()
        while not (yield self.axi.b.valid):
            yield from self.step()
        assert (yield self.axi.b.id) == self.ID
        yield self.axi.b.ready.eq(0)
        return (yield self.axi.b.resp)
