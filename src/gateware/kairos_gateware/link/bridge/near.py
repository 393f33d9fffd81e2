"""The end of a bridge at which accesses enter: a slave for a processor's port, whose accesses leave at
the other board (`far`).

Every access is answered, whatever happens to the link or to the board at the other end: with a slave
error if the link is down or is lost meanwhile, after `TIMEOUT` cycles without an answer, or while the
bridge is held in reset. An answer that arrives later is recognised by its identification and ignored.
A write whose data could not all be sent leaves the far end waiting for them: from then on all accesses
are errors until a reset.

One write and one read are in flight at a time, each a burst of up to 16 beats of 1, 2 or 4 bytes.

Latency: address → stream 1, answer → bus 1 (write) or 0 (read). Clock domain sys.
"""

from functools import reduce
from operator import or_

from litex.soc.interconnect.axi import BURST_FIXED, AXIInterface
from migen import *

from ..line.bridge import BridgeChannels, LevelsSender
from ..remote.window import ADDRESS_LENGTH
from .words import INTERRUPTS, bridge_axi, tags

__all__ = ["TIMEOUT", "BridgeWindow"]

TIMEOUT = 16384
_SLAVE_ERROR = 2
_MASTER_IDS = 12
_ADDRESS = ("addr", "len", "size", "burst")


class _Guard(Module):
    """What writes and reads have in common. address: channel of the port; out: of the bus to the other board.
    refuses: accesses that begin now fail, and so do those in flight. timeout: cycles until one has failed.

    `begins` (out): an address is accepted. `goes` (in): an access is in flight, in which `steps` (in): a
    beat has gone. `lost` (out): it has failed. `high` (out): the beat is in the upper half of a word.
    `held` (out): the address. `overdue` (out): the time is over. `keeps` (in): an answer is offered, and must
    not change. `latency` (out, 16 bits): cycles since the
    address. `failed` (in): for a cycle, it has been answered with an error.
    """

    def __init__(self, address, out, refuses, timeout):
        self.begins, self.goes, self.steps, self.lost = Signal(), Signal(), Signal(), Signal()
        self.keeps, self.high, self.latency = Signal(), Signal(), Signal(16)
        self.overdue = Signal()

        # # #

        place, step = Signal(3), Signal(3)
        self.held = held = Record([(name, len(getattr(address, name))) for name in (*_ADDRESS, "id")])
        self.comb += [
            self.begins.eq(address.valid & address.ready),
            self.high.eq(place[2]),
            step.eq(Mux(held.burst == BURST_FIXED, 0, 1 << held.size[:2])),
            [getattr(out, name).eq(getattr(held, name)) for name in _ADDRESS],
            # Within the other board's place of the window
            out.addr.eq(held.addr[:ADDRESS_LENGTH]),
            self.overdue.eq(self.latency == timeout),
        ]
        self.sync += [
            If(self.goes & ~self.overdue, self.latency.eq(self.latency + 1)),
            If(self.goes & ~self.keeps & (refuses | self.overdue), self.lost.eq(1)),
            If(self.steps, place.eq(place + step)),
            If(
                self.begins,
                [getattr(held, name).eq(getattr(address, name)) for name in (*_ADDRESS, "id")],
                place.eq(address.addr[:3]),
                out.id.eq(out.id + 1),
                self.latency.eq(0),
                self.lost.eq(refuses),
            ),
        ]


class BridgeWindow(Module):
    """sink, source, up: of the endpoint, with the streams of `bridge_both`. timeout: cycles until an access
    has failed.

    `axi`: the slave port, 32 bits of data. `raises` (in, 16 bits): levels shown at the other board, whose
    `levels` (out, 16 bits) are shown here; 0 while the link is down. `held` (in): both ends, and the block
    behind the other, are in reset; `far_held` (out): the other end says so.

    For writes and for reads, in `done` and `failed` (out, for a cycle, 2 of each): an access has been
    answered, with an error; `addresses` (out, 2 of 32 bits): its address; `lost` (out, 2 of them): the error is
    the bridge's own. `latency` (out, 16 bits): cycles from the latest access's address to its answer. `stuck`
    (out): only a reset helps. `settled` (out): nothing is in flight.
    """

    def __init__(self, sink, source, up, timeout=TIMEOUT):
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=_MASTER_IDS)
        self.raises, self.levels = Signal(INTERRUPTS), Signal(INTERRUPTS)
        self.held, self.far_held, self.stuck, self.settled = Signal(), Signal(), Signal(), Signal()
        self.done, self.failed = [Signal(), Signal()], [Signal(), Signal()]
        self.responses, self.latency = [Signal(2), Signal(2)], Signal(16)

        # # #

        self.submodules.out = out = _OutgoingChannels(sink, source, up)
        refuses = Signal()
        self.comb += refuses.eq(~up | self.held | self.far_held | self.stuck)
        self.submodules.writes = writes = _Guard(axi.aw, out.axi.aw, refuses, timeout)
        self.submodules.reads = reads = _Guard(axi.ar, out.axi.ar, refuses, timeout)
        self.addresses, self.lost = [writes.held.addr, reads.held.addr], [writes.lost, reads.lost]
        self._write(axi, out.axi, writes)
        self._read(axi, out.axi, reads)
        self.submodules.sender = LevelsSender(sink["bridge_levels"], Cat(self.raises, self.held), up)
        came = source["bridge_levels"]
        self.sync += [
            If(~up, self.levels.eq(0), self.far_held.eq(0)).Elif(
                came.valid, Cat(self.levels, self.far_held).eq(came.data)
            ),
            If(~up | self.held, self.stuck.eq(0)),
            [If(done, self.latency.eq(guard.latency)) for done, guard in zip(self.done, (writes, reads), strict=True)],
        ]
        busy = [writes.goes, reads.goes, axi.aw.valid, axi.w.valid, axi.ar.valid, sink["bridge_levels"].valid]
        busy += [source[name].valid for name in ("bridge_b", "bridge_r", "bridge_levels")]
        self.comb += self.settled.eq(~reduce(or_, busy))

    def _write(self, axi, out, guard):
        response = self.responses[0]
        self.comb += [
            out.b.ready.eq(1),
            out.w.data.eq(Cat(axi.w.data, axi.w.data)),
            out.w.strb.eq(Mux(guard.high, Cat(C(0, 4), axi.w.strb), axi.w.strb)),
            out.w.last.eq(axi.w.last),
            axi.b.id.eq(guard.held.id),
            axi.b.resp.eq(response),
            guard.steps.eq(axi.w.valid & axi.w.ready),
        ]
        self.submodules.write_fsm = fsm = FSM("IDLE")
        self.comb += guard.goes.eq(~fsm.ongoing("IDLE"))
        fsm.act("IDLE", axi.aw.ready.eq(1), If(axi.aw.valid, NextState("ADDRESS")))
        fsm.act(
            "ADDRESS",
            out.aw.valid.eq(~guard.lost),
            If(guard.lost, NextState("SWALLOW")).Elif(out.aw.ready, NextState("DATA")),
        )
        fsm.act(
            "DATA",
            out.w.valid.eq(axi.w.valid),
            axi.w.ready.eq(out.w.ready),
            If(out.w.valid & out.w.ready, If(axi.w.last, NextState("ANSWER"))).Elif(
                guard.lost, NextValue(self.stuck, guard.overdue), NextState("SWALLOW")
            ),
        )
        fsm.act(
            "SWALLOW",
            axi.w.ready.eq(1),
            NextValue(response, _SLAVE_ERROR),
            If(axi.w.valid & axi.w.last, NextState("RESPOND")),
        )
        fsm.act(
            "ANSWER",
            If(out.b.valid & (out.b.id == out.aw.id), NextValue(response, out.b.resp), NextState("RESPOND")).Elif(
                guard.lost, NextValue(response, _SLAVE_ERROR), NextState("RESPOND")
            ),
        )
        fsm.act(
            "RESPOND",
            axi.b.valid.eq(1),
            guard.keeps.eq(1),
            If(axi.b.ready, self.done[0].eq(1), self.failed[0].eq(response != 0), NextState("IDLE")),
        )

    def _read(self, axi, out, guard):
        left, worst, fits, ends = Signal(4), self.responses[1], Signal(), Signal()
        self.comb += [
            fits.eq(out.r.valid & (out.r.id == out.ar.id)),
            axi.r.id.eq(guard.held.id),
            axi.r.data.eq(Mux(guard.high, out.r.data[32:], out.r.data[:32])),
            axi.r.resp.eq(Mux(guard.lost, _SLAVE_ERROR, out.r.resp)),
            axi.r.last.eq(left == 0),
            guard.steps.eq(axi.r.valid & axi.r.ready),
            ends.eq(guard.steps & axi.r.last),
            guard.keeps.eq(axi.r.valid & ~axi.r.ready),
        ]
        seen = Signal(2)
        self.comb += seen.eq(worst | Mux(guard.steps, axi.r.resp, 0))
        self.submodules.read_fsm = fsm = FSM("IDLE")
        takes = fsm.ongoing("DATA") & fits & ~guard.lost
        # Nobody waits for the answers of earlier accesses
        self.comb += [guard.goes.eq(~fsm.ongoing("IDLE")), out.r.ready.eq(~takes | axi.r.ready)]
        fsm.act(
            "IDLE",
            axi.ar.ready.eq(1),
            NextValue(left, axi.ar.len),
            If(axi.ar.valid, NextValue(worst, 0), NextState("ADDRESS")),
        )
        fsm.act(
            "ADDRESS",
            out.ar.valid.eq(~guard.lost),
            If(guard.lost | out.ar.ready, NextState("DATA")),
        )
        fsm.act(
            "DATA",
            axi.r.valid.eq(guard.lost | fits),
            NextValue(worst, seen),
            If(guard.steps, NextValue(left, left - 1)),
            If(ends, self.done[1].eq(1), self.failed[1].eq(seen != 0), NextState("IDLE")),
        )


class _OutgoingChannels(Module):
    """`axi`, 64 bits, to the streams of the bridge; addresses of writes go before their data."""

    def __init__(self, sink, source, up):
        self.axi, of = bridge_axi(), tags()

        # # #

        writes = sink["bridge_writes"]
        ports = {name: Record([("valid", 1), ("ready", 1), *writes_layout(of[name], writes)]) for name in ("aw", "w")}
        ports |= {"ar": sink["bridge_ar"], "b": source["bridge_b"], "r": source["bridge_r"]}
        self.submodules += BridgeChannels(True, self.axi, ports, of, up)
        address, data = ports["aw"], ports["w"]
        self.comb += [
            writes.valid.eq(address.valid | data.valid),
            If(
                address.valid,
                writes.form.eq(len(of["w"]) + 1),
                writes.data.eq(address.data),
                address.ready.eq(writes.ready),
            ).Else(writes.form.eq(data.form), writes.data.eq(data.data), data.ready.eq(writes.ready)),
        ]


def writes_layout(channel_tags, port):
    """Fields of a channel's vectors within those of the stream that it shares."""
    return [("form", bits_for(len(channel_tags))), ("data", len(port.data))]
