"""The end of a bridge at which accesses leave: a master for a block of the logic (`adder`).

While the other board holds the bridge in reset, everything that arrives is discarded, and the block is
in reset. When the link is lost, the block's bus is reset, since the rest of a burst may never come.

Latency: stream → bus 1 (addresses of writes), 0 (others). Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from ..line.bridge import BridgeChannels, LevelsSender
from .near import writes_layout
from .words import INTERRUPTS, bridge_axi, tags

__all__ = ["BridgeOutlet"]


class BridgeOutlet(Module):
    """sink, source, up: of the endpoint, with the streams of `bridge_both`.

    `axi`: master, 64 bits of data. `raises` (in, 16 bits): levels shown at the other board, whose `levels`
    (out, 16 bits) are shown here; 0 while the link is down. `held` (out): the other board holds the bridge
    in reset. `aborts` (out): transactions in progress are void. `settled` (out): nothing arrives. `done`
    (out, for a cycle, 2 of them) and `failed` (out, for a cycle): a write, a read has been answered; with
    an error.
    """

    def __init__(self, sink, source, up):
        self.axi = outer = bridge_axi()
        self.raises, self.levels = Signal(INTERRUPTS), Signal(INTERRUPTS)
        self.held, self.aborts, self.settled = Signal(), Signal(), Signal()
        self.done, self.failed = [Signal(), Signal()], Signal()

        # # #

        inner, of, writes = bridge_axi(), tags(), source["bridge_writes"]
        ports = {name: Record([("valid", 1), ("ready", 1), *writes_layout(of[name], writes)]) for name in ("aw", "w")}
        ports |= {"ar": source["bridge_ar"], "b": sink["bridge_b"], "r": sink["bridge_r"]}
        self.submodules += BridgeChannels(False, inner, ports, of, up)
        self._divide(writes, ports["aw"], ports["w"], len(of["w"]) + 1, up)
        for channel in ("aw", "w", "ar"):
            near, far = getattr(inner, channel), getattr(outer, channel)
            self.comb += [
                near.connect(far, omit={"valid", "ready"}),
                far.valid.eq(near.valid & ~self.aborts),
                near.ready.eq(far.ready | self.held),
            ]
        for channel in ("b", "r"):
            near, far = getattr(inner, channel), getattr(outer, channel)
            self.comb += [
                far.connect(near, omit={"valid", "ready"}),
                near.valid.eq(far.valid & ~self.aborts),
                far.ready.eq(near.ready),
            ]
        self.submodules.sender = LevelsSender(sink["bridge_levels"], Cat(self.raises, self.held), up)
        came = source["bridge_levels"]
        self.sync += If(~up, self.levels.eq(0), self.held.eq(0)).Elif(
            came.valid, Cat(self.levels, self.held).eq(came.data)
        )
        moving = [ports["aw"].valid, writes.valid, source["bridge_ar"].valid, came.valid, sink["bridge_levels"].valid]
        b, r = inner.b, inner.r
        self.comb += [
            self.aborts.eq(self.held | ~up),
            self.settled.eq(~reduce(or_, moving)),
            self.done[0].eq(b.valid & b.ready),
            self.done[1].eq(r.valid & r.ready & r.last),
            self.failed.eq((b.valid & b.ready & (b.resp != 0)) | (r.valid & r.ready & (r.resp != 0))),
        ]

    def _divide(self, writes, address, data, form, up):
        """The address of a write is kept aside, since a slave may wait for data before it takes it."""
        kept = Signal.like(address.data)
        is_address = Signal()
        self.comb += [
            is_address.eq(writes.form == form),
            address.data.eq(kept),
            address.form.eq(1),
            data.valid.eq(writes.valid & ~is_address),
            data.form.eq(writes.form),
            data.data.eq(writes.data),
            writes.ready.eq(Mux(is_address, ~address.valid, data.ready)),
        ]
        self.sync += [
            If(address.ready, address.valid.eq(0)),
            If(writes.valid & is_address & ~address.valid, address.valid.eq(1), kept.eq(writes.data)),
            If(~up, address.valid.eq(0)),
        ]
