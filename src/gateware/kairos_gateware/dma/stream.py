"""Streams of 256-bit words from memory, as listed by descriptors: tables and sequences for the
pulse core. Clock domain sys.

The list has descriptors of 16 bytes: address of the words (32 bits, aligned to a word), number of
words (32 bits), and 8 bytes of 0. A descriptor of no words ends it. The list begins at a multiple
of 128 bytes; up to 128 bytes after its end are read, and the words in whole blocks of 128 bytes.

If bit 0 of the address is set, the words stand in the list, after their descriptor: up to three fit
into the block that is read first, and need no second read.

    cycle     0        L + 7                     2 L + 14
    start     /‾\\
    list               /‾ first descriptor
    valid                                        /‾‾ first word, then one each 4 cycles

Words in the list: the first after L + 11 cycles. Throughput: 8 bytes per cycle, the port's maximum; from the last
word of a descriptor to the first of the next one L + 11 cycles. `start` while busy is ignored. `stop`, or a word
that cannot be read, ends the stream; `busy` falls when all requested data have arrived.
"""

from migen import *

from .reader import BURST, BurstReader

__all__ = ["DESCRIPTOR_BYTES", "StreamReader"]

DESCRIPTOR_BYTES = 16
_BEATS = 4
"""Beats of a word."""


class StreamReader(Module):
    """buses: of the list and of the words, `hp.HpRead`.

    `start`, `stop` (in): pulses. `base` (in, 32 bits): address of the list, stable in the cycle after the start.
    `valid` (out), `ready` (in), `word` (out, 256 bits): the stream. `busy` (out): there is one. `error` (out):
    since the start something could not be read; `words` (out, 32 bits): delivered since the start. For time
    skip: `settled` (out), nothing changes but by the port or by `ready`; `idle` (out), there is no stream.
    """

    def __init__(self, bursts=8):
        self.start, self.stop = Signal(), Signal()
        self.base = Signal(32)
        self.valid, self.ready, self.word = Signal(), Signal(), Signal(64 * _BEATS)
        self.busy, self.error, self.words = Signal(), Signal(), Signal(32)
        self.settled, self.idle = Signal(), Signal()
        self.submodules.list = list_ = BurstReader(1)
        self.submodules.data = data = BurstReader(bursts, limited=True)
        self.buses = [list_.bus, data.bus]

        # # #

        play, second = Signal(), Signal()  # a list is played; the descriptor's second half is next
        address, count = list_.source.data[:32], list_.source.data[32:]
        end, failed, begin = Signal(), Signal(), Signal()
        block = log2_int(8 * BURST)
        inline = Signal()  # they stand in the list
        skip, left = Signal(4), Signal(32)  # beats before the first word; words of the descriptor
        reading = Signal()  # a descriptor's words
        beat, given, last = Signal(max=_BEATS), Signal(), Signal()
        source, accepts, taken, wrong = data.source, Signal(), Signal(), Signal()
        follows = list_.source.valid & inline & reading & ~second
        self.comb += [
            list_.base.eq(self.base),
            list_.active.eq(play),
            data.active.eq(reading & play & ~inline),
            self.busy.eq(play | ~list_.idle | ~data.idle),
            begin.eq(play & list_.source.valid & ~second & ~reading & data.idle),
            list_.source.ready.eq(begin | second | (follows & accepts & ~last)),
            failed.eq((begin & list_.source.error) | (taken & wrong)),
            end.eq(begin & (count == 0)),
            accepts.eq(~self.valid | self.ready),
            source.ready.eq((skip != 0) | accepts),
            taken.eq(Mux(inline, follows & accepts & ~last, source.valid & source.ready)),
            wrong.eq(Mux(inline, list_.source.error, source.error)),
            given.eq(self.valid & self.ready),
            last.eq(given & (left == 1)),
        ]
        self.sync += [
            If(self.start & ~self.busy, play.eq(1), self.error.eq(0), self.words.eq(0)),
            If(self.stop | end | failed, play.eq(0)),
            If(failed & play, self.error.eq(1)),
            If(second & list_.source.valid, second.eq(0)),
            If(
                begin & ~end,
                second.eq(1),
                reading.eq(1),
                inline.eq(address[0]),
                data.base.eq(address),
                # Blocks that the words touch
                data.count.eq((address[:block] + (count << 5) + (1 << block) - 1) >> block),
                skip.eq(Mux(address[0], 0, address[3:block])),
                left.eq(count),
                beat.eq(0),
            ),
            If(given, self.valid.eq(0), left.eq(left - 1), self.words.eq(self.words + 1)),
            If(last, reading.eq(0)),
            If(
                taken & ~last,
                If(skip != 0, skip.eq(skip - 1)).Else(
                    self.word.eq(Cat(self.word[64:], Mux(inline, list_.source.data, source.data))),
                    beat.eq(beat + 1),
                    self.valid.eq(beat == _BEATS - 1),
                ),
            ),
            If(~play, reading.eq(0), self.valid.eq(0), second.eq(0)),
        ]
        # A word is waiting, and every earlier stage is full: nothing changes
        waiting = play & reading & self.valid & ~self.ready & data.settled & list_.settled & ~second
        self.comb += [self.idle.eq(~self.busy & ~self.start), self.settled.eq(self.idle | waiting)]
