"""The pulse core on an RTIO channel: events bring words, triggers and measurement results at exact times. Clock domain
sys.

| RTIO address | Write |
|---|---|
| 0 | a word of the stream, 256 bits (a wide event); refused as busy while a channel that it names has no room |
| 1 | trigger (data: none) |
| 2 | a measurement's result, 4 bits |
| 3 | control: bit 0 an early trigger is remembered, bit 1 amplitudes stay in an underrun |
| 4 | cycles that engines may wait while others run; 0: for ever |
| 5 | cycles that a branch waits for its result; 0: for ever |
| 6 | channels that a trigger asks for |
| 7 | ask for the status, and clear the errors of the mask |

The status is an input event: bits 8..0 errors, as they were; 23..16 channels that are armed; 31..24 channels that run.

A trigger at T starts the engines so that their first values show PIN_LATENCY cycles behind T, and the pins with them:
for each tone its enable and its general-purpose level, which the amplitude's segment has in its flags. Reset stops
all and empties the FIFOs; tables stay.
"""

from migen import *

from ..contracts import pulse as facts
from ..contracts.descriptor import ChannelKind
from ..pad import SAMPLES
from ..pulse.sequencing import Sequencing
from ..rtio.link import Channel, InputLink, OutputLink
from .kind import Driver, Kind, Parameter

__all__ = ["KINDS", "PIN_LATENCY", "Pulse", "pad_names"]

WORD, TRIGGER, RESULT, CONTROL, MISALIGN_LIMIT, BRANCH_TIMEOUT, TRIGGER_CHANNELS, STATUS = range(8)
_LEVELS = ["enable", "gpo"]
PIN_LATENCY = 1
"""Cycles from a trigger's time to the first levels at the pins."""


def pad_names(channels):
    """Parts of the names of the pads, in their order."""
    return [f"{c}_{level}{tone}" for c in range(channels) for level in _LEVELS for tone in range(facts.TONES)]


class Pulse(Module):
    """pads: as `pad_names` says. options: of the `Sequencing`. `sequencing`: the core."""

    def __init__(self, number, pads, channels, **options):
        link = OutputLink(data_width=facts.WORD_BITS, address_width=3)
        inputs = InputLink(data_width=32)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = pads
        self.submodules.sequencing = core = Sequencing(channels, **options)

        # # #

        def at(address):
            return link.stb & (link.address == address)

        self.comb += [
            core.word.eq(link.data),
            core.valid.eq(at(WORD)),
            link.busy.eq(at(WORD) & ~core.ready),
            core.trigger.eq(at(TRIGGER)),
            core.result.eq(link.data),
            core.result_valid.eq(at(RESULT)),
            If(at(STATUS), core.clear.eq(link.data)),
            inputs.stb.eq(at(STATUS)),
            inputs.data.eq(Cat(core.errors, C(0, 16 - len(core.errors)), core.armed, C(0, 8 - channels), core.running)),
            self.channel.settled.eq(~link.stb & core.settled),
        ]
        self.sync += [
            If(at(CONTROL), Cat(core.trigger_strict, core.hold).eq(link.data)),
            If(at(MISALIGN_LIMIT), core.misalign_limit.eq(link.data)),
            If(at(BRANCH_TIMEOUT), core.branch_timeout.eq(link.data)),
            If(at(TRIGGER_CHANNELS), core.trigger_channels.eq(link.data)),
        ]
        for channel, first in zip(core.channels, range(0, len(pads), 2 * facts.TONES), strict=True):
            levels = Cat(channel.enable, channel.gpo)
            for n, pad in enumerate(pads[first : first + 2 * facts.TONES]):
                self.comb += [pad.o.eq(Replicate(levels[n], SAMPLES)), pad.oe.eq(1)]


def _make(place):
    channels = place["channels"]
    tables = {f"{name}_bits": place[f"{name}_bits"] for name in ["mlut", "plut"]}
    return Pulse(place.number, place.pads(pad_names(channels)), channels, **tables)


def _bits(name, most, what):
    return Parameter(
        f"{name}_bits",
        most,
        range(6, most + 1),
        f"{what} has 6 to {most} address bits",
        meaning=f"address bits of {what}",
    )


KINDS = (
    Kind(
        ChannelKind.PULSE,
        _make,
        pads="for each channel and tone, its enable and its general-purpose level",
        parameters=(
            Parameter(
                "channels", 8, range(1, 9), "a pulse core has 1 to 8 channels", argument=True, meaning="of two tones"
            ),
            _bits("mlut", facts.MLUT_ADDRESS_BITS, "the memory map"),
            _bits("plut", facts.PLUT_ADDRESS_BITS, "the pulse table"),
        ),
        driver=Driver("pulse", "Pulse"),
    ),
)
