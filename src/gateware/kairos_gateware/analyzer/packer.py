"""Packs analyzer messages into units of 32 bytes, one message each or a pair.

A unit is one message, byte for byte as in the dump. With `pack`, two messages that are available at
the same time, whose counters have equal upper 46 bits and whose other fields are short, share a
unit. No message ever waits for another one to pair with.

Clock domain sys. Throughput: one unit every other cycle, which is hidden by a burst of four beats.
A message is on offer 3 cycles after its `valid`.
"""

from litex.soc.interconnect import stream
from migen import *
from migen.genlib.fifo import SyncFIFOBuffered
from migen.genlib.record import layout_len

from ..contracts.analyzer import MESSAGE, Pair
from ..rtio.timing import FINE_BITS
from .tap import message_layout

__all__ = ["Packer"]

_LOW = Pair.MARK - Pair.NEWER_COUNTER_LOW + Pair.NEWER_CHANNEL - Pair.NEWER_COUNTER_HIGH
"""Bits of the newer message's counter in a pair."""


def _reversed_bytes(word):
    return Cat(*[word[8 * n : 8 * n + 8] for n in reversed(range(len(word) // 8))])


def _whole(message):
    """A message as in the dump: a big-endian number, so its most significant word is first, bytes
    reversed."""
    number = Cat(
        message.type,
        message.channel,
        C(0, 6),
        message.timestamp,
        C(0, FINE_BITS),
        message.coarse,
        message.address,
        C(0, 24),
        message.data,
    )
    return Cat(*[_reversed_bytes(number[64 * n : 64 * n + 64]) for n in reversed(range(4))])


def _pair(older, newer):
    """Two messages in one unit."""
    low = Pair.MARK - Pair.NEWER_COUNTER_LOW
    fields = {
        Pair.OLDER_DATA: older.data,
        Pair.OLDER_SLACK: older.slack,
        Pair.NEWER_DATA: newer.data,
        Pair.NEWER_SLACK: newer.slack,
        Pair.OLDER_COUNTER: older.coarse,
        Pair.OLDER_TYPE: older.type,
        Pair.NEWER_TYPE: newer.type,
        Pair.UNUSED: Signal(),
        Pair.OLDER_CHANNEL: older.channel,
        Pair.OLDER_ADDRESS: older.address,
        Pair.NEWER_ADDRESS: newer.address,
        Pair.NEWER_COUNTER_LOW: newer.coarse,
        Pair.MARK: Signal(reset=1),
        Pair.NEWER_COUNTER_HIGH: newer.coarse[low:],
        Pair.NEWER_CHANNEL: newer.channel,
    }
    ends = [*list(Pair)[1:], 8 * MESSAGE]
    return Cat(*[fields[field][: end - field] for field, end in zip(Pair, ends, strict=True)])


class Packer(Module):
    """depth: messages that can wait. `pack` (in): pairs are permitted.

    `valid`, `message` (in): input; a message that finds no room is lost, and `lost` (out) is high in that
    cycle. `room` (out): space for at least 8 more. `units` (out): stream of {unit, double};
    `double`: it holds two messages. `idle` (out): nothing is left.
    """

    def __init__(self, depth):
        self.valid = Signal()
        self.message = Record(message_layout())
        self.pack = Signal()
        self.lost = Signal()
        self.room = Signal()
        self.units = units = stream.Endpoint([("unit", 256), ("double", 1)])
        self.idle = Signal()

        # # #

        self.submodules.fifo = fifo = SyncFIFOBuffered(layout_len(message_layout()), depth)
        # The unit being formed: `first`, and the FIFO's head after it
        first = Record(message_layout(), name="first")
        second = Record(message_layout(), name="second")
        load = Signal()
        self.comb += [
            fifo.we.eq(self.valid),
            fifo.din.eq(self.message.raw_bits()),
            self.lost.eq(self.valid & ~fifo.writable),
            self.room.eq(fifo.fifo.level < depth - 8),
            second.raw_bits().eq(fifo.dout),
            units.double.eq(
                self.pack & fifo.readable & first.short & second.short & (first.coarse[_LOW:] == second.coarse[_LOW:])
            ),
            units.unit.eq(Mux(units.double, _pair(first, second), _whole(first))),
            load.eq(units.valid & units.ready),
            # A pair consumes the head as well; `first` is refilled one cycle later, which a unit's
            # four beats hide
            fifo.re.eq(~units.valid | load),
            self.idle.eq(~self.valid & (fifo.fifo.level == 0) & ~fifo.readable & ~units.valid),
        ]
        self.sync += [
            If(
                fifo.re,
                units.valid.eq(fifo.readable & ~(load & units.double)),
                first.raw_bits().eq(fifo.dout),
            )
        ]
