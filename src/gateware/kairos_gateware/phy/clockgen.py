"""Clock generator: a phase accumulator whose highest bit is the output.

Every cycle adds the frequency word: frequency = word / 2**width * 125 MHz, up to 62.5 MHz. An event sets the word and
presets the accumulator to half scale, so that the first rising edge comes with the cycle of the event's time (its fine
part is truncated); word 0 stops the clock at level 0. Clock domain sys; reset stops it.

    cycle (coarse time)   T-1    T      T+1
    link.stb              /‾‾‾‾‾\\_______
    accumulator                  half   half + word
    pad.o                 _______/‾‾‾‾‾
"""

from migen import *

from ..contracts.descriptor import ChannelKind
from ..pad import SAMPLES, Pad
from ..rtio.link import Channel, FreeRunning, OutputLink
from .kind import Driver, Figure, Kind, Parameter

__all__ = ["KINDS", "ClockGenerator"]


class ClockGenerator(Module):
    """Address 0: frequency word of `width` bits."""

    def __init__(self, number, pad, width=24):
        link = OutputLink(data_width=width)
        self.channel = Channel(number, output=link, free_running=FreeRunning())
        self.pads = [pad]

        # # #

        accumulator = Signal(width)
        word = Signal(width)
        skip = self.channel.free_running
        self.sync += [
            accumulator.eq(accumulator + word),
            If(skip.stb, accumulator.eq(accumulator + word * skip.cycles[:width])),
            If(link.stb, word.eq(link.data), accumulator.eq(Mux(link.data == 0, 0, 1 << (width - 1)))),
        ]
        self.comb += [pad.o.eq(Replicate(accumulator[-1], SAMPLES)), pad.oe.eq(1)]
        # The output keeps its level for at least (distance to the next toggle) / (power of two above the word) cycles
        distance = Signal(width)
        self.comb += [
            distance.eq((1 << (width - 1)) - accumulator[:-1]),
            skip.limit.eq(2 ** len(skip.limit) - 1),
            [If(word[i], skip.limit.eq(distance[i + 1 :] if i + 1 < width else 0)) for i in range(width)],
        ]


KINDS = (
    Kind(
        ChannelKind.TTL_CLOCKGEN,
        lambda place: ClockGenerator(place.number, place.pad(), place["acc_width"]),
        pads="the pin",
        parameters=(
            Parameter("acc_width", 24, range(2, 33), "the width of a clock generator is 2 to 32 bits", argument=True),
        ),
        driver=Driver("ttl", "TTLClockGen"),
        figures={
            "clock_generator": Figure(
                "24 bits", lambda: ClockGenerator(0, Pad("clock", "out", 0)), {"lut": 33, "ff": 49, "bram": 0}
            )
        },
    ),
)
