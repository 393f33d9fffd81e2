"""Fastino: 32 DACs of 16 bits on a card at the end of a fast link (`fastlink.py`), which transmits
the state of all of them in each frame of 49 cycles (392 ns, 2.55 MS/s). Clock domain sys.

| RTIO address | Write |
|---|---|
| 0-31 | data of `2**log2_width` DACs, of that DAC's group, the lowest in bits 15..0; sent next if not held |
| 32 | mask of the next frame, instead of what it was: DACs to be updated |
| 33 | mask of DACs that are held |
| 34 | configuration: bit 0 reset, 1 power down of the analogue part, 2 clear the DACs, 3 clear errors |
| 35 | LEDs, 8 bits |
| 36 | reserved bits of each frame, 7 bits |
| 37 | mask with which every frame begins |
| 38 | interpolator setting (CIC): rate mantissa 5..0, rate exponent 9..6, gain exponent 15..10 |
| 39 | mask of the next frame, instead of what it was: it carries the setting, in place of the codes |

Address bit 7 set reads an answer register of the card (low four bits), as it was sent last: an
input event of 14 bits.

The payload of a frame is `FRAME` of `src/contracts/chips/fastino.toml`, and the codes of DAC 0 to 31
(16 bits each), or 32 times the interpolator setting. Codes written while the next frame carries a
setting are stored, but are not in its mask nor in that of the following one. Of a write in the cycle in
which a frame begins, the mask is that of the next one.

The card answers a frame with the register whose number the frame has; the answer arrives during the
following one, later by the delay of the cable.

Timing: an event at T is in the frame that begins at S, the first multiple of 49 after T, and which
has been sent after S + 49: 50 to 98 cycles after T. One event per cycle. Of events in a cycle with
the same address the last one counts.
"""

from migen import *

from ..contracts import fastino as facts
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, InputLink, OutputLink
from ..rtio.timing import INPUT_LATENCY
from .fastlink import FastLink, geometry
from .kind import Context, Figure, Kind, Parameter

__all__ = ["KINDS", "Fastino", "DACS"]

DACS = 32
_BITS = 16
_BEHIND = 3
"""Begun when an answer is complete, since before the frame that asked: that one, the one during which
it came, and the next one."""


class Fastino(Module):
    """clock: pad; lanes: list of six pads; back: pad. log2_width: see address 0 to 31; must be the
    driver's.

    `probes`: data of each DAC as written last, and as number 32 the card's answer in the last
    frame.
    """

    def __init__(self, number, clock, lanes, back, log2_width=0):
        width = 1 << log2_width
        link = OutputLink(data_width=max(DACS, _BITS * width), address_width=8)
        inputs = InputLink(data_width=facts.FRAME_WORDS)
        self.submodules.fast_link = fast_link = FastLink(clock, lanes, back, **geometry(facts))
        self.channel = Channel(number, output=link, input=inputs, free_running=fast_link.free_running)
        self.pads = [clock, *lanes, back]
        data = [Signal(_BITS, name=f"dac_{i}") for i in range(DACS)]
        self.probes = [*data, fast_link.answer]

        # # #

        def at(address):
            return link.stb & (link.address == address)

        header = Record(facts.FRAME)
        hold, continuous = Signal(DACS), Signal(DACS)
        setting = Signal(_BITS)
        fresh = Signal()
        begin = fast_link.begin
        codes = Cat(*data)
        self.comb += [
            header.answer.eq(fast_link.frames),
            fast_link.payload.eq(Cat(header.raw_bits(), Mux(header.kind, Replicate(setting, DACS), codes))),
            fast_link.fresh.eq(fresh),
        ]
        self.sync += [
            If(begin, header.kind.eq(facts.FRAME_KIND_CODES), header.mask.eq(continuous), fresh.eq(0)),
            If(link.stb & ~link.address[-1], fresh.eq(1)),
        ]
        # The mask and the kind that this event finds: those of the next frame
        carries = Signal()
        self.comb += carries.eq(header.kind & ~begin)
        for i in range(DACS):
            hit = link.stb & (link.address[log2_width:] == i >> log2_width)
            part = i % width
            self.sync += If(
                hit,
                data[i].eq(link.data[_BITS * part : _BITS * (part + 1)]),
                If(~hold[i] & ~carries, header.mask[i].eq(1)),
            )
        self.sync += [
            If(at(facts.UPDATE_ADDRESS), header.kind.eq(facts.FRAME_KIND_CODES), header.mask.eq(link.data)),
            If(at(facts.CIC_APPLY_ADDRESS), header.kind.eq(facts.FRAME_KIND_INTERPOLATOR), header.mask.eq(link.data)),
            If(at(facts.HOLD_ADDRESS), hold.eq(link.data)),
            If(at(facts.CFG_ADDRESS), header.configuration.eq(link.data)),
            If(at(facts.LEDS_ADDRESS), header.leds.eq(link.data)),
            If(at(facts.RESERVED_ADDRESS), header.reserved.eq(link.data)),
            If(at(facts.CONTINUOUS_ADDRESS), continuous.eq(link.data)),
            If(at(facts.CIC_ADDRESS), setting.eq(link.data)),
        ]
        self._answer(link, inputs, fast_link)

    def _answer(self, link, inputs, fast_link):
        """Stores the card's answers, and gives the one that is read as an input event."""
        stored = Memory(facts.FRAME_WORDS, facts.ANSWERS)
        write, read = stored.get_port(write_capable=True), stored.get_port(async_read=True)
        self.specials += stored, write, read
        reading, found = Signal(INPUT_LATENCY), Signal(facts.FRAME_WORDS)
        self.comb += [
            write.adr.eq(fast_link.frames - _BEHIND),
            write.dat_w.eq(fast_link.answer),
            write.we.eq(fast_link.answered),
            read.adr.eq(link.address),
            inputs.stb.eq(reading[-1]),
            self.channel.settled.eq(fast_link.settled & (reading == 0)),
        ]
        self.sync += [
            reading.eq(Cat(link.stb & link.address[-1], reading)),
            found.eq(read.dat_r),
            inputs.data.eq(found),
        ]


def _make(context):
    clock, *lanes = context.pads(["clk", *(f"mosi{i}" for i in range(facts.LANES))], serialised=True)
    return Fastino(context.number, clock, lanes, context.pad("miso", "in"), context["log2_width"])


def _figure(what, log2_width):
    return Figure(what, lambda: _make(Context(0, "fastino", {"log2_width": log2_width}, {})))


KINDS = (
    Kind(
        ChannelKind.FASTINO,
        _make,
        pads="`clk`, `mosi0`–`mosi5`, `miso`",
        parameters=(Parameter("log2_width", 0, range(6), "log2_width of a Fastino is 0 to 5"),),
        figures={"fastino": _figure("one DAC for an event", 0), "fastino_wide": _figure("32 DACs for an event", 5)},
    ),
)
