"""Writes units of 32 bytes to a ring in memory: one burst of four beats each.

Clock domain sys. Throughput: one unit every four cycles if the port is ready. A message's first
beat is offered 4 cycles after its `valid`: one cycle after the unit is on offer (`packer.py`).
"""

from migen import *

from ..hp import HpWrite
from .packer import Packer

__all__ = ["Writer"]

UNIT_LOG2 = 5
_BEATS = 4


class Writer(Module):
    """depth: messages that can wait. `base`, `last` (in, 32 bits): address of the ring's first byte and of
    any byte of its last unit. `restart` (in): returns to the beginning of the ring and clears the counters;
    only while `idle`.

    `valid`, `message`, `pack`, `lost`, `room`: as of `Packer`. `units` (out, 59 bits): written, with the
    port's response; `messages` (out, 64 bits): in them. `bus_error` (out): a response was not OKAY. `idle`
    (out): nothing left to write and no response pending; `waits` (out): nothing changes before a response
    arrives, if one is due.
    """

    def __init__(self, depth=512):
        self.bus = bus = HpWrite()
        self.submodules.packer = packer = Packer(depth)
        self.valid, self.message, self.pack = packer.valid, packer.message, packer.pack
        self.lost, self.room = packer.lost, packer.room
        self.base, self.last = Signal(32), Signal(32)
        self.restart = Signal()
        self.units, self.messages = Signal(59), Signal(64)
        self.bus_error = Signal()
        self.idle, self.waits = Signal(), Signal()

        # # #

        source = packer.units
        unit = Signal(256)
        beats = Signal(max=_BEATS + 1)
        double = Signal()
        address = Signal(32 - UNIT_LOG2)
        awaited = Signal(max=256)
        full = awaited[-1]
        beat_end, load, begun = Signal(), Signal(), Signal()
        self.comb += [
            beat_end.eq(bus.wvalid & bus.wready & bus.wlast),
            source.ready.eq(((beats == 0) | beat_end) & (~bus.awvalid | bus.awready) & ~full),
            load.eq(source.valid & source.ready),
            bus.wvalid.eq(beats != 0),
            bus.wlast.eq(beats == 1),
            bus.wdata.eq(unit[:64]),
            bus.wstrb.eq(0xFF),
            bus.awaddr.eq(Cat(C(0, UNIT_LOG2), address)),
            bus.awlen.eq(_BEATS - 1),
            bus.bready.eq(1),
            self.waits.eq(packer.idle & (beats == 0) & ~begun & ~bus.awvalid & ~bus.bvalid),
            self.idle.eq(self.waits & (awaited == 0)),
        ]
        self.sync += [
            If(bus.awready, bus.awvalid.eq(0)),
            If(
                bus.awvalid & bus.awready,
                address.eq(Mux(address == self.last[UNIT_LOG2:], self.base[UNIT_LOG2:], address + 1)),
            ),
            If(bus.wvalid & bus.wready, beats.eq(beats - 1), unit.eq(unit[64:])),
            If(load, beats.eq(_BEATS), bus.awvalid.eq(1), unit.eq(source.unit)),
            awaited.eq(awaited + load - bus.bvalid),
            begun.eq(load),
            double.eq(source.double),
            If(bus.bvalid, self.units.eq(self.units + 1), If(bus.bresp != 0, self.bus_error.eq(1))),
            If(begun, self.messages.eq(self.messages + 1 + double)),
            If(
                self.restart,
                address.eq(self.base[UNIT_LOG2:]),
                self.units.eq(0),
                self.messages.eq(0),
                self.bus_error.eq(0),
            ),
        ]
