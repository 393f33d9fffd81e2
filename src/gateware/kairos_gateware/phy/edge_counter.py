"""Edge counter beside a TTL input: counts edges in the logic, so that count rates are not limited
by the input FIFO.

Address 0, a configuration effective from the event's time on: bit 0 count rising edges, bit 1 count
falling edges, bit 2 send the count of the edges before this time, bit 3 then restart from zero.
Counting and gates are exact to the sample: on a serialised pad all edges of a cycle count, up to
eight. The count saturates at 2**(width - 1) - 1, which the driver takes as overflow.

    cycle (coarse time)   T-1    T      T+1    T+2
    link.stb              /‾‾‾‾‾\\_____________________
    input.stb                                  /‾‾‾‾‾   the count, stamped with the event's time
"""

from functools import reduce
from operator import add

from migen import *

from ..contracts.descriptor import ChannelKind
from ..pad import Pad
from ..rtio.link import Channel, InputLink, OutputLink
from .edges import DelayedEvent, EdgeDetector
from .kind import Figure, Kind, Parameter
from .ttl import InOut

__all__ = ["KINDS", "EdgeCounter"]


class EdgeCounter(Module):
    """edges: the `EdgeDetector` of the input. width: bits of the count as reported to the
    driver."""

    def __init__(self, number, edges, width=31):
        link = OutputLink(data_width=4)
        inputs = InputLink(data_width=width)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = []

        # # #

        self.submodules.event = event = DelayedEvent(link, edges.width)
        config = Signal(2)
        counted_before = Signal(edges.width)  # with the configuration before the event
        counted_after = Signal(edges.width)
        after = Mux(event.stb, event.data[:2], config)
        limits = Mux(event.stb, event.from_fine, 0)
        self.comb += [
            counted_before.eq(
                ~limits & ((edges.rising & self._all(config[0], edges)) | (edges.falling & self._all(config[1], edges)))
            ),
            counted_after.eq(
                limits & ((edges.rising & self._all(after[0], edges)) | (edges.falling & self._all(after[1], edges)))
            ),
        ]
        count = Signal(width - 1)
        before = Signal(width - 1)
        total = Signal(width - 1)
        number_after = Signal(max=edges.width + 1)
        number_before = Signal(max=edges.width + 1)
        self.comb += [
            number_before.eq(reduce(add, [counted_before[i] for i in range(edges.width)])),
            number_after.eq(reduce(add, [counted_after[i] for i in range(edges.width)])),
            inputs.stb.eq(event.stb & event.data[2]),
            inputs.data.eq(before),
            inputs.fine.eq(event.fine),
            self.channel.settled.eq(edges.settled & event.settled),
        ]
        if edges.width == 1:
            # At most one edge per cycle, and none of them before an event: a saturating incrementer
            # is enough
            full = count == 2 ** (width - 1) - 1
            self.comb += [before.eq(count), total.eq(count + ((number_before | number_after) & ~full))]
        else:
            self.comb += [
                before.eq(self._saturated(count, number_before)),
                total.eq(self._saturated(count, number_before + number_after)),
            ]
        self.sync += [
            count.eq(total),
            If(event.stb, config.eq(event.data[:2]), If(event.data[3], count.eq(number_after))),
        ]

    def _saturated(self, count, number):
        """count + number, all ones if that does not fit."""
        sum_ = Signal(len(count) + 1)
        self.comb += sum_.eq(count + number)
        return sum_[:-1] | Replicate(sum_[-1], len(count))

    @staticmethod
    def _all(bit, edges):
        return Replicate(bit, edges.width)


class _WithDetector(Module):
    """The counter with the edge detector that it shares with a TTL input."""

    def __init__(self, pad):
        self.submodules.edges = EdgeDetector(pad)
        self.submodules.counter = counter = EdgeCounter(1, self.edges)
        self.channel = counter.channel
        self.pads = [pad]


KINDS = (
    Kind(
        ChannelKind.EDGE_COUNTER,
        lambda context: EdgeCounter(
            context.number, context.earlier("input", InOut, "ttl_inout").edges, context["gateware_width"]
        ),
        parameters=(
            Parameter("input", meaning="channel of a `ttl_inout` before it"),
            Parameter("gateware_width", 31),
        ),
        figures={
            "edge_counter": Figure(
                "8 ns, 31 bits, with edge detector",
                lambda: _WithDetector(Pad("i", "in", 0)),
                {"lut": 13, "ff": 67, "bram": 0},
            ),
            "edge_counter_serialised": Figure(
                "1 ns, 31 bits, with edge detector", lambda: _WithDetector(Pad("i", "in", 0, True))
            ),
        },
    ),
)
