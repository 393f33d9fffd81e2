"""Fastino: 32 DACs of 16 bits on a card at the end of a fast link (`fastlink.py`), which transmits
the state of all of them in each frame of 49 cycles (392 ns, 2.55 MS/s). Clock domain sys.

| RTIO address | Write |
|---|---|
| 0-31 | data of `2**log2_width` DACs, of the group to which that DAC belongs: the lowest one in bits 15..0 |
| 32 | mask of DACs to be updated by the next frame |
| 33 | mask of DACs that are held: data written to the others mark them for update |
| 34 | configuration: bit 0 reset, 1 power down of the analogue part, 2 clear the DACs, 3 clear errors |
| 35 | LEDs, 8 bits |
| 37 | mask of DACs that every frame updates |
| 38 | interpolator setting (CIC): rate mantissa 5..0, rate exponent 9..6, gain exponent 15..10 |
| 39 | mask of DACs that apply that setting with the next frame |

The payload of a frame, from bit 0: configuration (4), LEDs (8), kind of the frame (4), interpolator
setting (16), mask (32), data of DAC 0 to 31 (16 each). Kind 0: the mask selects the DACs to update.
Kind 1: it selects the DACs that apply the interpolator setting; updates wait for the next frame.
The CRC takes the rest of the 98 bits on each of six lanes.

The driver fixes the addresses, the length of a frame and the number of lanes; the arrangement of
the bits is this project's choice and has not been checked against a card. It is defined in
`src/contracts/chips/fastino.toml`.

Timing: an event at T is in the frame that begins at S, the first multiple of 49 after T, and which
has been sent after S + 49: 50 to 98 cycles after T. One event per cycle. Of events in a cycle with
the same address the last one counts.
"""

from migen import *

from ..contracts import fastino as facts
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, OutputLink
from .fastlink import FastLink, geometry
from .kind import Figure, Kind, Parameter, Place

__all__ = ["KINDS", "Fastino", "DACS"]

DACS = 32
_BITS = 16


class Fastino(Module):
    """clock: pad; lanes: list of six pads; back: pad. log2_width: see address 0 to 31; must be the
    driver's.

    `probes`: data of each DAC as written last, and as number 32 the card's answer in the last
    frame.
    """

    def __init__(self, number, clock, lanes, back, log2_width=0):
        width = 1 << log2_width
        link = OutputLink(data_width=max(DACS, _BITS * width), address_width=8)
        self.submodules.fast_link = fast_link = FastLink(clock, lanes, back, **geometry(facts))
        self.channel = Channel(number, output=link, free_running=fast_link.free_running)
        self.pads = [clock, *lanes, back]
        data = [Signal(_BITS, name=f"dac_{i}") for i in range(DACS)]
        self.probes = [*data, fast_link.answer]

        # # #

        def at(address):
            return link.stb & (link.address == address)

        header = Record(facts.FRAME)
        hold = Signal(DACS)
        continuous = Signal(DACS)
        updates = Signal(DACS)  # for the next frame of kind 0
        new_updates = Signal(DACS)
        applies = Signal(DACS)  # for the next frame
        applying = Signal()
        fresh = Signal()
        for i in range(DACS):
            hit = link.stb & (link.address[log2_width:] == i >> log2_width)
            part = i % width
            self.comb += If(hit, new_updates[i].eq(~hold[i]))
            self.sync += If(hit, data[i].eq(link.data[_BITS * part : _BITS * (part + 1)]))
        self.comb += [
            If(at(facts.UPDATE_ADDRESS), new_updates.eq(link.data)),
            applying.eq(applies != 0),
            If(applying, header.kind.eq(facts.FRAME_KIND_INTERPOLATOR), header.mask.eq(applies)).Else(
                header.kind.eq(facts.FRAME_KIND_UPDATE), header.mask.eq(updates | continuous)
            ),
            fast_link.payload.eq(Cat(header.raw_bits(), *data)),
            fast_link.fresh.eq(fresh),
            self.channel.settled.eq(fast_link.settled),
        ]
        self.sync += [
            # An interpolator setting is followed by a frame with the updates that had to wait
            If(link.stb, fresh.eq(1)).Elif(fast_link.begin, fresh.eq(applying)),
            updates.eq(Mux(fast_link.begin & ~applying, 0, updates) | new_updates),
            applies.eq(Mux(fast_link.begin, 0, applies) | Mux(at(facts.CIC_APPLY_ADDRESS), link.data[:DACS], 0)),
            If(at(facts.HOLD_ADDRESS), hold.eq(link.data)),
            If(at(facts.CFG_ADDRESS), header.configuration.eq(link.data)),
            If(at(facts.LEDS_ADDRESS), header.leds.eq(link.data)),
            If(at(facts.CONTINUOUS_ADDRESS), continuous.eq(link.data)),
            If(at(facts.CIC_ADDRESS), header.interpolator.eq(link.data)),
        ]


def _make(place):
    clock, *lanes = place.pads(["clk", *(f"mosi{i}" for i in range(facts.LANES))], serialised=True)
    return Fastino(place.number, clock, lanes, place.pad("miso", "in"), place["log2_width"])


def _figure(what, log2_width):
    return Figure(what, lambda: _make(Place(0, "fastino", {"log2_width": log2_width}, {})))


KINDS = (
    Kind(
        ChannelKind.FASTINO,
        _make,
        pads="`clk`, `mosi0`–`mosi5`, `miso`",
        parameters=(Parameter("log2_width", 0, range(6), "log2_width of a Fastino is 0 to 5"),),
        figures={"fastino": _figure("one DAC for an event", 0), "fastino_wide": _figure("32 DACs for an event", 5)},
    ),
)
