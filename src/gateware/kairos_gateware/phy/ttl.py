"""TTL PHYs. On a simple pad outputs change and inputs are sampled once per cycle of 8 ns, and the
fine part of timestamps is truncated; on a serialised pad everything is exact to the sample of 1 ns.
Clock domain sys, reset by `rtio_phy_reset` (level 0, not driven, gate closed).

    cycle (coarse time)   T-1    T      T+1    T+2
    link.stb              /‾‾‾‾‾\\_____________________
    pad.o                 xxxxxxx new level             from the event's sample on (simple pad: the whole cycle)
    pad.i                        sampled                simple pad: the last sample, so an edge anywhere belongs to T
    input.stb                                  /‾‾‾‾‾   stamped T and the sample's number
"""

from migen import *

from ..contracts.descriptor import ChannelKind
from ..pad import SAMPLES, Pad, reached
from ..rtio.link import Channel, InputLink, OutputLink
from .adc_monitor import adc_of
from .edges import DelayedEvent, EdgeDetector
from .kind import Figure, Kind, Parameter

__all__ = ["KINDS", "LevelDriver", "Output", "InOut"]

ADDRESS_LEVEL = 0
ADDRESS_OUTPUT_ENABLE = 1
ADDRESS_SENSITIVITY = 2
ADDRESS_SAMPLE = 3


class LevelDriver(Module):
    """The pad's samples: the previous level up to the event's sample, and the event's from it on.
    write: one cycle ahead.

    `settled` (out): the pad keeps its level without an event; constant for a pad that is not serialised.
    """

    def __init__(self, pad, write, value, fine):
        self.settled = Signal()

        # # #

        level = Signal()
        self.sync += If(write, level.eq(value))
        if pad.serialised:
            samples = Signal(SAMPLES)
            self.sync += [samples[i].eq(Mux(write & reached(fine, i), value, level)) for i in range(SAMPLES)]
            self.comb += [pad.o.eq(samples), self.settled.eq(samples == Replicate(level, SAMPLES))]
        else:
            self.comb += [pad.o.eq(Replicate(level, SAMPLES)), self.settled.eq(1)]


class Output(Module):
    """Output-only TTL. Address 0: level (bit 0)."""

    def __init__(self, number, pad):
        link = OutputLink(data_width=1)
        self.channel = Channel(number, output=link)
        self.pads = [pad]

        # # #

        self.submodules.driver = driver = LevelDriver(pad, link.stb, link.data, link.fine)
        self.comb += [pad.oe.eq(1), self.channel.settled.eq(driver.settled)]


class InOut(Module):
    """Bidirectional TTL. Address 0: level; 1: output enable; 2: sensitivity (bit 0 rising, bit 1
    falling edges); 3: sensitivity, and one input event with the present level. Input events carry
    the level (data bit 0).

    Gate times are exact: edges from the opening event's time up to, not including, the closing event's are
    recorded. There is at most one input event per cycle: that of the sample, or else that of the first edge
    within the gate. The output enable changes with the cycle of its event. Inputs are sampled whether the
    pad is driven or not. `edges` may be used by other PHYs on the same pad. `gate` (out): it is open, from
    the cycle after that of the opening event to the closing event's; `hit` (out): it admits edges of this
    cycle.
    """

    def __init__(self, number, pad):
        link = OutputLink(data_width=2, address_width=2)
        inputs = InputLink(data_width=1)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = [pad]

        # # #

        write = link.stb & (link.address == ADDRESS_LEVEL)
        self.submodules.driver = driver = LevelDriver(pad, write, link.data[0], link.fine)
        enable = Signal()
        self.sync += If(link.stb & (link.address == ADDRESS_OUTPUT_ENABLE), enable.eq(link.data[0]))
        self.comb += pad.oe.eq(enable)

        self.submodules.edges = edges = EdgeDetector(pad)
        self.submodules.event = event = DelayedEvent(link, edges.width)
        sensitivity = Signal(2)
        self.gate, self.hit = Signal(), Signal()
        opens = Signal()
        sample = Signal()
        mask = [Signal(edges.width, name=f"mask_{name}") for name in ["rising", "falling"]]
        hits = Signal(edges.width)
        at_edge = Signal(max=SAMPLES)
        position = Signal(max=SAMPLES)
        self.comb += [
            opens.eq(event.stb & event.address[1]),
            sample.eq(event.stb & (event.address == ADDRESS_SAMPLE)),
            [
                mask[edge][i].eq(Mux(opens & event.from_fine[i], event.data[edge], sensitivity[edge]))
                for edge in range(2)
                for i in range(edges.width)
            ],
            hits.eq((edges.rising & mask[0]) | (edges.falling & mask[1])),
            [If(hits[i], at_edge.eq(i)) for i in reversed(range(edges.width))],
            position.eq(Mux(sample, event.fine, at_edge)),
            inputs.stb.eq(sample | (hits != 0)),
            inputs.fine.eq(position),
            Case(position, {i: inputs.data.eq(edges.level[i]) for i in range(edges.width)}),
            self.channel.settled.eq(driver.settled & edges.settled & event.settled),
        ]
        self.comb += [self.gate.eq(sensitivity != 0), self.hit.eq(hits != 0)]
        self.sync += If(opens, sensitivity.eq(event.data))


class SharedOutput(Module):
    """Output on a pin that a servo's update pulses use as well (`updates`: eight samples): the OR
    of both."""

    def __init__(self, number, pad, updates):
        inner = Pad(pad.name, pad.direction, number, pad.serialised)
        self.submodules.output = output = Output(number, inner)
        self.channel = output.channel
        self.pads = [pad]

        # # #

        self.comb += [pad.oe.eq(inner.oe), pad.o.eq(inner.o | updates)]


def _make_output(context):
    if context["servo"] is None:
        output = Output(context.number, context.pad(serialised=bool(context["serialised"])))
        if context["adc"] is not None:
            output.comb += adc_of(context).conversion.eq(output.pads[0].o != 0)
        return output
    updates = getattr(context.phys.get(context["servo"]), "updates", ())
    if not context["urukul"] < len(updates):
        raise ValueError(
            f"{context.name}: parameters `servo` and `urukul` must be a suservo channel before it, and its card"
        )
    return SharedOutput(context.number, context.pad(serialised=True), updates[context["urukul"]])


def _figures(name, what, make, direction, baseline):
    return {
        name: Figure(f"{what}, 8 ns", lambda: make(0, Pad("io", direction, 0)), baseline),
        f"{name}_serialised": Figure(f"{what}, 1 ns", lambda: make(0, Pad("io", direction, 0, True))),
    }


_SERIALISED = Parameter("serialised", 0, meaning="1: resolution 1 ns")

KINDS = (
    Kind(
        ChannelKind.TTL_OUT,
        _make_output,
        pads="the pin",
        parameters=(
            _SERIALISED,
            Parameter("servo", meaning="channel of a `suservo` whose update pin this is"),
            Parameter("urukul", 0, meaning="which of its cards"),
            Parameter("adc", meaning="channel of the bus of a Sampler's ADC whose CNV this is"),
        ),
        injectable=True,
        figures=_figures("ttl_out", "output", Output, "out", {"lut": 0, "ff": 2, "bram": 0}),
    ),
    Kind(
        ChannelKind.TTL_INOUT,
        lambda context: InOut(context.number, context.pad(direction="inout", serialised=bool(context["serialised"]))),
        pads="the pin",
        parameters=(_SERIALISED,),
        injectable=True,
        figures=_figures("ttl_inout", "input and output", InOut, "inout", {"lut": 3, "ff": 6, "bram": 0}),
    ),
)
