"""Reads or writes a range of memory as fast as the port allows, through the HP port or the ACP, and
counts the cycles.

Bursts have 16 beats through the HP port and 4, a cache line, through the ACP. Addresses are issued
as fast as the port accepts them, data are accepted at once. Clock domain sys. Throughput: one beat
per cycle. With latency L to the first beat of a read:

    cycle     0      1      2             2 + L
    start     /‾\\
    active           /‾‾‾‾
    arvalid                 /‾‾‾
    rvalid                                /‾‾‾ `first` = 2 + L, one beat a cycle, `last`

A write's data follow their address by a cycle; `first` and `last` refer to the responses.
"""

from migen import *

from ..hp import HpRead, HpWrite
from ..initiator.port import AcpMaster

__all__ = ["HP_BURST", "ACP_BURST", "TrafficEngine"]

HP_BURST, ACP_BURST = 16, 4
_ALIGNMENT_LOG2 = 7
_BEAT_LOG2 = 3
_OPEN = 64
"""Maximum number of write bursts in flight."""


class TrafficEngine(Module):
    """start: pulse, ignored while `busy` (out); `write`, `coherent` (in), `address`, `size` (in, 32 bits,
    bytes), `seed` (in, 32 bits): stable from then on.

    `busy`; `first`, `last` (out, 32 bits): cycles from `start` (in); `sum` (out, 32 bits): of the words
    read; `error` (out): a beat or a response reported one. `hp_read`, `hp_write`, `acp`: the ports;
    `wants_hp_write`, `wants_acp` (out): held while they are needed. `settled` (out): for time skip.
    """

    def __init__(self):
        self.start, self.write, self.coherent = Signal(), Signal(), Signal()
        self.address, self.size, self.seed = Signal(32), Signal(32), Signal(32)
        self.busy, self.error = Signal(), Signal()
        self.first, self.last, self.sum = Signal(32), Signal(32), Signal(32)
        self.hp_read, self.hp_write, self.acp = HpRead(), HpWrite(), AcpMaster()
        self.wants_hp_write, self.wants_acp = Signal(), Signal()
        self.settled = Signal()

        # # #

        active, begin = Signal(), Signal()
        to_ask, due = Signal(32 - _BEAT_LOG2), Signal(32 - _BEAT_LOG2)  # beats: not requested; not transferred
        burst, beats = Signal(max=HP_BURST + 1), Signal(max=HP_BURST + 1)
        asking, asked, ask = Signal(), Signal(), Signal()
        address, next_address, length = Signal(32), Signal(32), Signal(4)
        announced, open_, phase = Signal(max=_OPEN), Signal(max=_OPEN), Signal(max=HP_BURST)
        number, count = Signal(32), Signal(32)
        beat, response, arrived, failed = Signal(), Signal(), Signal(), Signal()
        last, ended = Signal(), Signal()
        pair, adding = Signal(32), Signal()
        moved = self._ports(address, length, asking, last, number, announced, due, active)
        data = Mux(self.coherent, self.acp.rdata, self.hp_read.rdata)
        self.comb += [
            begin.eq(self.start & ~self.busy),
            self.busy.eq(active | adding),
            self.settled.eq(~self.busy & ~self.start),
            burst.eq(Mux(self.coherent, ACP_BURST, HP_BURST)),
            beats.eq(Mux(to_ask < burst, to_ask, burst)),
            ask.eq(active & (to_ask != 0) & (~asking | asked) & (open_ < _OPEN - 2)),
            asked.eq(moved["address"]),
            beat.eq(moved["beat"]),
            response.eq(moved["response"]),
            failed.eq(moved["failed"]),
            arrived.eq(Mux(self.write, response, beat)),
            last.eq((phase == burst - 1) | (due == 1)),
            ended.eq((to_ask == 0) & ~asking & (due == 0) & (open_ == 0)),
        ]
        written = self.write & beat & last
        self.sync += [
            If(active, count.eq(count + 1)),
            If(ask, asking.eq(1), address.eq(next_address), length.eq(beats - 1)).Elif(asked, asking.eq(0)),
            If(ask, to_ask.eq(to_ask - beats), next_address.eq(next_address + (beats << _BEAT_LOG2))),
            If(beat, due.eq(due - 1), number.eq(number + 1), phase.eq(Mux(last, 0, phase + 1))),
            announced.eq(announced + (asked & self.write) - written),
            open_.eq(open_ + (ask & self.write) - response),
            If(arrived, self.last.eq(count), If(self.first == 0, self.first.eq(count))),
            If(failed, self.error.eq(1)),
            adding.eq(beat & ~self.write),
            pair.eq(data[:32] + data[32:]),
            If(adding, self.sum.eq(self.sum + pair)),
            If(ended, active.eq(0)),
            If(
                begin,
                active.eq(1),
                count.eq(1),
                to_ask.eq(self.size[_BEAT_LOG2:]),
                due.eq(self.size[_BEAT_LOG2:]),
                next_address.eq(Cat(C(0, _ALIGNMENT_LOG2), self.address[_ALIGNMENT_LOG2:])),
                number.eq(self.seed),
                phase.eq(0),
                *[signal.eq(0) for signal in [self.first, self.last, self.sum, self.error]],
            ),
        ]

    def _ports(self, address, length, asking, last, number, announced, due, active):
        """Drives the ports; returns the events on the one in use: address accepted, beat
        transferred, response, an error."""
        taken, beat, response, failed = Signal(), Signal(), Signal(), Signal()
        self.comb += [
            self.wants_acp.eq(active & self.coherent),
            self.wants_hp_write.eq(active & ~self.coherent & self.write),
        ]
        for reading, writing, mine in [
            (self.hp_read, self.hp_write, ~self.coherent),
            (self.acp, self.acp, self.coherent),
        ]:
            read, write = mine & ~self.write, mine & self.write
            self.comb += [
                reading.arvalid.eq(asking & read),
                writing.awvalid.eq(asking & write),
                writing.wvalid.eq((announced != 0) & (due != 0) & write),
                *[signal.eq(address) for signal in [reading.araddr, writing.awaddr]],
                *[signal.eq(length) for signal in [reading.arlen, writing.awlen]],
                writing.wlast.eq(last),
                writing.wdata.eq(Cat(number, ~number)),
                writing.wstrb.eq(0xFF),
                reading.rready.eq(1),
                writing.bready.eq(1),
                If(read & reading.arvalid & reading.arready, taken.eq(1)),
                If(write & writing.awvalid & writing.awready, taken.eq(1)),
                If(read & reading.rvalid & active, beat.eq(1), failed.eq(reading.rresp[1])),
                If(write & writing.wvalid & writing.wready, beat.eq(1)),
                If(write & writing.bvalid & active, response.eq(1), failed.eq(writing.bresp[1])),
            ]
        return {"address": taken, "beat": beat, "response": response, "failed": failed}
