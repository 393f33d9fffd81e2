"""Clock generator: a phase accumulator whose highest bit is the output.

Every cycle adds the frequency word: frequency = word / 2**width * 125 MHz, up to 62.5 MHz. An event
sets the word and presets the accumulator to half scale, so that the first rising edge is in the
cycle of the event's time (its fine part is truncated); word 0 stops the clock at level 0. Clock
domain sys; reset stops it.

    cycle (coarse time)   T-1    T      T+1
    link.stb              /‾‾‾‾‾\\_______
    accumulator                  half   half + word
    pad.o                 _______/‾‾‾‾‾
"""

from migen import *

from ..contracts.descriptor import ChannelKind
from ..pad import SAMPLES, Pad
from ..rtio.link import Channel, FreeRunning, OutputLink, Wave
from .kind import Figure, Kind, Parameter

__all__ = ["KINDS", "ClockGenerator"]


class ClockGenerator(Module):
    """Address 0: frequency word of `width` bits."""

    def __init__(self, number, pad, width=24):
        link = OutputLink(data_width=width)
        accumulator = Signal(width)
        word = Signal(width)
        self.channel = Channel(number, output=link, free_running=FreeRunning(Wave(pad, accumulator, word)))
        self.pads = [pad]

        # # #

        skip = self.channel.free_running
        self.sync += [
            accumulator.eq(accumulator + word),
            If(skip.stb, accumulator.eq(accumulator + word * skip.cycles[:width])),
            If(link.stb, word.eq(link.data), accumulator.eq(Mux(link.data == 0, 0, 1 << (width - 1)))),
        ]
        self.comb += [pad.o.eq(Replicate(accumulator[-1], SAMPLES)), pad.oe.eq(1)]
        # Its edges are known without running it, except that a word above half of the range aliases
        aliased = word > 1 << (width - 1)
        self.comb += skip.limit.eq(Mux(aliased, 0, 2 ** len(skip.limit) - 1))


KINDS = (
    Kind(
        ChannelKind.TTL_CLOCKGEN,
        lambda context: ClockGenerator(context.number, context.pad(), context["acc_width"]),
        pads="the pin",
        parameters=(Parameter("acc_width", 24, range(2, 33), "the width of a clock generator is 2 to 32 bits"),),
        figures={
            "clock_generator": Figure(
                "24 bits", lambda: ClockGenerator(0, Pad("clock", "out", 0)), {"lut": 33, "ff": 49, "bram": 0}
            )
        },
    ),
)
