"""A simulated fibre that carries words: delays the words between two ends of a link by some cycles.

The delay is a signal, so that one compiled bench serves all lengths of fibre. Unplugging the fibre
loses the words in flight.
"""

from migen import *

from ..link.line.word import WORD_BITS

__all__ = ["Cable", "Fibre", "Joined"]

_EPOCH_BITS = 4


class Fibre(Module):
    """One direction. longest: greatest `delay` in cycles; with delay 0 a word comes out in the
    cycle in which it goes in.

    `into`, `out`: word with `valid`. `plugged`: if 0, nothing passes. `deaf`: words that go in are
    lost. `empty`: no word is in flight.
    """

    def __init__(self, longest):
        layout = [("valid", 1), ("word", WORD_BITS)]
        self.into, self.out = Record(layout), Record(layout)
        self.delay = Signal(max=longest + 1)
        self.plugged = Signal(reset=1)
        self.deaf = Signal()
        self.empty = Signal()

        # # #

        places = 2 ** bits_for(longest + 1)
        memory = Memory(1 + WORD_BITS + _EPOCH_BITS, places)
        write, read = memory.get_port(write_capable=True), memory.get_port()
        self.specials += memory, write, read
        place = Signal(max=places)
        epoch, was_plugged = Signal(_EPOCH_BITS), Signal(reset=1)
        read_epoch, late = Signal(_EPOCH_BITS), Record(layout)
        under_way, passes = Signal(max=places + 1), Signal()
        self.sync += [
            place.eq(place + 1),
            was_plugged.eq(self.plugged),
            If(~self.plugged & was_plugged, epoch.eq(epoch + 1)),
            If(self.plugged, under_way.eq(under_way + passes - self.out.valid)).Else(under_way.eq(0)),
        ]
        self.comb += [
            write.adr.eq(place),
            passes.eq(self.into.valid & self.plugged & ~self.deaf),
            write.dat_w.eq(Cat(passes, self.into.word, epoch)),
            write.we.eq(1),
            read.adr.eq(place - self.delay + 1),
            Cat(late.raw_bits(), read_epoch).eq(read.dat_r),
            self.out.word.eq(Mux(self.delay == 0, self.into.word, late.word)),
            If(self.delay == 0, self.out.valid.eq(passes)).Else(
                self.out.valid.eq(late.valid & (read_epoch == epoch) & self.plugged & was_plugged)
            ),
            self.empty.eq(under_way == 0),
        ]

    def between(self, out, into):
        """Statements that connect the fibre to a sender and a receiver."""
        return [
            out.ready.eq(1),
            self.into.valid.eq(out.valid),
            self.into.word.eq(out.word),
            into.valid.eq(self.out.valid),
            into.word.eq(self.out.word),
        ]


class Cable(Module):
    """Two fibres. ends: of a link, two objects with `endpoint` and `line_up`. `delay`, `plugged`,
    `empty`: of both; `longer`: the return path takes one cycle more; `deaf`: of each."""

    def __init__(self, ends, longest):
        self.submodules.there = there = Fibre(longest)
        self.submodules.back = back = Fibre(longest + 1)
        self.delay = Signal.like(there.delay)
        self.plugged, self.longer = Signal(reset=1), Signal()
        self.empty = there.empty & back.empty
        self.deaf = [there.deaf, back.deaf]

        # # #

        for fibre, delay, source, sink in [
            (there, self.delay, *ends),
            (back, self.delay + self.longer, *reversed(ends)),
        ]:
            self.comb += [
                fibre.delay.eq(delay),
                fibre.plugged.eq(self.plugged),
                fibre.between(source.endpoint.out, sink.endpoint.into),
                sink.line_up.eq(self.plugged),
            ]


class Joined(Module):
    """Two endpoints with fibres of constant delay between them, which pass nothing unless `plugged`."""

    def __init__(self, ends, delay, plugged):
        for source, sink in [ends, ends[::-1]]:
            self.submodules += (fibre := Fibre(max(delay, 1)))
            self.comb += [
                fibre.delay.eq(delay),
                fibre.plugged.eq(plugged),
                fibre.between(source.out, sink.into),
                sink.line.eq(plugged),
            ]
