"""Writes analyzer messages to a ring in memory, in units of 32 bytes: one burst of four beats each.

A unit is one message, byte for byte as in the dump. With `pack`, two messages that are there at the same time, and of
which the counters' upper 46 bits are equal and the other fields short, share a unit; so one message takes four cycles
of the port, but two under load. No message ever waits for another one to pair with.

Clock domain sys. Throughput: a unit every four cycles if the port is ready. A message's first beat is offered 4 cycles
after its `valid`.
"""

from migen import *
from migen.genlib.fifo import SyncFIFOBuffered
from migen.genlib.record import layout_len

from ..hp import HpWrite
from ..rtio.timing import FINE_BITS
from .tap import message_layout

__all__ = ["Writer"]

UNIT_LOG2 = 5
_BEATS = 4
_LOW = 15  # bits of the second message's counter in a pair


def _reversed_bytes(word):
    return Cat(*[word[8 * n : 8 * n + 8] for n in reversed(range(len(word) // 8))])


class Writer(Module):
    """depth: messages that can wait. `base`, `last`: address of the ring's first byte and of any byte of its last unit.
    `restart`: go to the ring's begin and clear the counters; only while `idle`.

    `valid`, `message`: in; one that finds no room is lost, and `lost` is high in that cycle. `room`: space for at least
    8 more. `units`: written, with the port's response; `messages`: in them. `bus_error`: a response was not OKAY.
    `idle`: nothing left to write and no response awaited.
    """

    def __init__(self, depth=512):
        self.bus = bus = HpWrite()
        self.valid = Signal()
        self.message = Record(message_layout())
        self.pack = Signal()
        self.base, self.last = Signal(32), Signal(32)
        self.restart = Signal()
        self.lost = Signal()
        self.room = Signal()
        self.units, self.messages = Signal(59), Signal(64)
        self.bus_error = Signal()
        self.idle = Signal()

        # # #

        self.submodules.fifo = fifo = SyncFIFOBuffered(layout_len(message_layout()), depth)
        second = Record(message_layout(), name="second")
        first = Record(message_layout(), name="first")
        first_valid = Signal()
        self.comb += [
            fifo.we.eq(self.valid),
            fifo.din.eq(self.message.raw_bits()),
            self.lost.eq(self.valid & ~fifo.writable),
            self.room.eq(fifo.fifo.level < depth - 8),
            second.raw_bits().eq(fifo.dout),
        ]

        # A unit in the making: `first`, and the FIFO's head behind it
        pair = Signal()
        load = Signal()
        whole = Signal(256)
        packed = Signal(256)
        self.comb += [
            pair.eq(
                self.pack & fifo.readable & first.short & second.short & (first.coarse[_LOW:] == second.coarse[_LOW:])
            ),
            whole.eq(
                Cat(
                    first.type,
                    first.channel,
                    C(0, 6),
                    first.timestamp,
                    C(0, FINE_BITS),
                    first.coarse,
                    first.address,
                    C(0, 24),
                    first.data,
                )
            ),
            packed.eq(
                Cat(
                    first.data[:32],
                    first.slack,
                    second.data[:32],
                    second.slack,
                    first.coarse,
                    first.type[0],
                    second.type[0],
                    C(0, 1),
                    first.channel[:16],
                    first.address,
                    second.address,
                    second.coarse[:7],
                    C(1, 1),
                    second.coarse[7:_LOW],
                    second.channel[:16],
                )
            ),
            # A pair uses up the head as well; `first` is refilled one cycle later, which a unit's four beats hide
            fifo.re.eq(~first_valid | load),
        ]
        self.sync += [
            If(
                fifo.re,
                first_valid.eq(fifo.readable & ~(load & pair)),
                first.raw_bits().eq(fifo.dout),
            )
        ]

        # Four beats, and one address
        unit = Signal(256)
        beats = Signal(max=_BEATS + 1)
        double = Signal()
        address = Signal(32 - UNIT_LOG2)
        awaited = Signal(max=256)
        full = awaited[-1]
        beat_end = Signal()
        finished = Signal()
        begun = Signal()
        self.comb += [
            beat_end.eq(bus.wvalid & bus.wready & bus.wlast),
            finished.eq(((beats == 0) | beat_end) & (~bus.awvalid | bus.awready)),
            load.eq(first_valid & finished & ~full),
            bus.wvalid.eq(beats != 0),
            bus.wlast.eq(beats == 1),
            bus.wdata.eq(unit[:64]),
            bus.wstrb.eq(0xFF),
            bus.awaddr.eq(Cat(C(0, UNIT_LOG2), address)),
            bus.awlen.eq(_BEATS - 1),
            bus.bready.eq(1),
        ]
        self.sync += [
            If(bus.awready, bus.awvalid.eq(0)),
            If(
                bus.awvalid & bus.awready,
                address.eq(Mux(address == self.last[UNIT_LOG2:], self.base[UNIT_LOG2:], address + 1)),
            ),
            If(bus.wvalid & bus.wready, beats.eq(beats - 1), unit.eq(unit[64:])),
            If(
                load,
                beats.eq(_BEATS),
                bus.awvalid.eq(1),
                # A message is a big-endian number: its most significant word goes first, bytes reversed
                unit.eq(
                    Mux(pair, packed, Cat(*[_reversed_bytes(whole[64 * n : 64 * n + 64]) for n in reversed(range(4))]))
                ),
            ),
            awaited.eq(awaited + load - bus.bvalid),
            begun.eq(load),
            double.eq(pair),
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
        self.comb += self.idle.eq(
            ~self.valid
            & (fifo.fifo.level == 0)
            & ~fifo.readable
            & ~first_valid
            & (beats == 0)
            & (awaited == 0)
            & ~begun
        )
