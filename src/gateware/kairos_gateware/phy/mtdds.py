"""A Phaser whose gateware, a satellite's, adds up many tones (multi-tone DDS): its controls, and its tones. Clock
domain sys.

A tone has a frequency, a phase, an amplitude, and an accumulator of its phase, which rests at 0 while the tone is
cleared: the addresses of a `mtdds_tone`. Each RF channel has as many tones. What the DAC gets of them, or of the test
words instead: `mtdds_samples.py`.

Channel `mtdds` has the controls (`src/contracts/chips/phaser_mtdds.toml`): an event writes one, or with bit `read` of
its address reads it, which an input event answers. Some of them are pins of the card's chips: `txena`, `resetb`
and `sleep` of the DAC with its `alarm`; `attrst0` and `attrst1` (0: an attenuator is in reset); `save0` and `save1`
(1: an upconverter saves power) with `locked0` and `locked1`. After a reset everything is 0: the DAC is
in reset, and the tones have no amplitude.

Timing: a setting holds from the cycle of its event's time on, and an accumulator advances at the end of each cycle; an
answer is stamped with the time of its read, and has the pins' levels of the cycle before. One event per cycle and
channel.

No board has the pins of the card's DAC, so only simulation builds accept these channels. These do not compute samples:
they show the settings (`Shown`), from which a bench does.
"""

from migen import *

from ..contracts import phaser_mtdds as facts
from ..contracts.descriptor import ChannelKind
from ..contracts.phaser import CHANNELS
from ..pad import SAMPLES
from ..rtio.link import Channel, InputLink, OutputLink
from ..rtio.timing import INPUT_LATENCY
from .kind import Context, Figure, Kind, Parameter
from .mtdds_samples import Samples
from .shuttler import FIELDS, SHOWN_BITS

__all__ = ["INPUTS", "KINDS", "OUTPUTS", "Mtdds", "MtddsTone", "Shown", "Tone"]

_DATA = facts.CONTROL_BITS
OUTPUTS = ("txena", "resetb", "sleep", "attrst0", "attrst1", "save0", "save1")
"""Pins of chips that the card sets."""
INPUTS = ("alarm", "locked0", "locked1")
"""Pins of chips that it reads."""
_ADDRESSES = {"ftw": facts.FREQUENCY, "pow": facts.PHASE, "asf": facts.AMPLITUDE, "clr": facts.CLEAR}


class Tone:
    """Settings of a tone: `ftw` (in, 32 bits), `pow` (in, 16 bits), `asf` (in, 15 bits), `clr` (in)."""

    def __init__(self, name):
        self.ftw = Signal(facts.FTW_BITS, name=f"{name}_ftw")
        self.pow = Signal(facts.POW_BITS, name=f"{name}_pow")
        self.asf = Signal(len(Record(facts.ASF).raw_bits()), name=f"{name}_asf")
        self.clr = Signal(name=f"{name}_clr")

    def shown(self):
        """All of it in 64 bits."""
        return Cat(self.ftw, self.pow, self.asf, self.clr)


class Mtdds(Module):
    """The channel of the controls. pads: by the names in `OUTPUTS` and `INPUTS`. tones: of each RF channel. samples:
    in a cycle, 2 or 4. baseband: the card has no upconverters.

    `tones`: a list of `Tone` for each RF channel. `sources` (out, 4 bits), `test_words` (out): as written.
    """

    def __init__(self, number, pads, tones=facts.USUAL_TONES, samples=facts.LEAST_SAMPLES, baseband=0):
        link = OutputLink(data_width=_DATA, address_width=len(Record(facts.PORT).raw_bits()))
        inputs = InputLink(data_width=_DATA)
        self.channel = Channel(number, output=link, input=inputs)
        self.pads = [pads[name] for name in (*OUTPUTS, *INPUTS)]
        self.samples = samples
        self.tones = [[Tone(f"tone_{c}_{n}") for n in range(tones)] for c in range(CHANNELS)]
        self.sources = Signal(len(Record(facts.SOURCE).raw_bits()))
        self.test_words = [Signal(_DATA, name=f"test_{n}") for n in range(2 * CHANNELS)]

        # # #

        port, pins = Record(facts.PORT), Record(facts.PINS)
        resets, saves = Signal(CHANNELS), Signal(CHANNELS)
        levels = [pins.txena, pins.resetb, pins.sleep, *resets, *saves]
        for name, level in zip(OUTPUTS, levels, strict=True):
            self.comb += [pads[name].o.eq(Replicate(level, SAMPLES)), pads[name].oe.eq(1)]
        alarm, *locked = [pads[name].i[-1] for name in INPUTS]
        written = {
            facts.DAC_PINS: pins.raw_bits(),
            facts.SOURCES: self.sources,
            **{facts.TEST_WORDS + n: word for n, word in enumerate(self.test_words)},
            facts.ATTENUATORS: resets,
            facts.SAVES: saves,
        }
        read = {
            facts.HARDWARE: C(int(bool(baseband))),
            facts.VARIANT: C(facts.GATEWARE),
            facts.SAMPLES: C(samples),
            facts.TONES: C(tones),
            facts.ALARM: alarm,
            facts.LOCKED: Cat(*locked),
        }
        answers = [Signal(_DATA, name=f"answer_{n}") for n in range(INPUT_LATENCY + 1)]
        answered, answer = Signal(len(answers)), Signal(_DATA)
        self.comb += [
            port.raw_bits().eq(link.address),
            Case(port.control, {place: answer.eq(value) for place, value in {**written, **read}.items()}),
            inputs.stb.eq(answered[-1]),
            inputs.data.eq(answers[-1]),
            self.channel.settled.eq(answered == 0),
        ]
        self.sync += [
            answered.eq(Cat(link.stb & port.read, answered)),
            Cat(*answers).eq(Cat(answer, *answers)),
            If(
                link.stb & ~port.read,
                Case(port.control, {place: value.eq(link.data) for place, value in written.items()}),
            ),
        ]


class MtddsTone(Module):
    """Settings of a `Tone`. `probes`: its frequency word."""

    def __init__(self, number, tone):
        link = OutputLink(data_width=facts.FTW_BITS, address_width=2)
        self.channel = Channel(number, output=link)
        self.pads, self.probes = [], [tone.ftw]

        # # #

        cases = {place: getattr(tone, name).eq(link.data) for name, place in _ADDRESSES.items()}
        self.sync += If(link.stb, Case(link.address, cases))


class Shown(Module):
    """What determines the samples of a `Mtdds`, for the recording of a simulation (section 6 of docs/interfaces.md),
    from the time of an event on: the sources, the test words, then each tone. `fields`: these, in groups.
    `parameters`: what a bench has to know of the card."""

    def __init__(self, card):
        words = [card.sources, Cat(*card.test_words), *[tone.shown() for tones in card.tones for tone in tones]]
        words = [Cat(word, C(0, SHOWN_BITS - len(word))) if len(word) < SHOWN_BITS else word for word in words]
        words += [C(0, SHOWN_BITS)] * (-len(words) % FIELDS)
        self.fields = [words[first : first + FIELDS] for first in range(0, len(words), FIELDS)]
        self.parameters = {"tones": len(card.tones[0]), "samples": card.samples}


def _make(context):
    pads = {name: context.pad(name) for name in OUTPUTS} | {name: context.pad(name, "in") for name in INPUTS}
    return Mtdds(context.number, pads, *[context[name] for name in ("tones", "samples", "baseband")])


def _tone(context):
    card = context.earlier("mtdds", Mtdds, "mtdds")
    tones = card.tones[context["channel"]]
    if context["tone"] >= len(tones):
        raise ValueError(f"{context.name}: an RF channel of this card has {len(tones)} tones")
    return MtddsTone(context.number, tones[context["tone"]])


class _Whole(Module):
    """All channels, and what the DAC gets; `channel` is that of the controls."""

    def __init__(self, tones):
        self.submodules.card = card = _make(Context(0, "mtdds", {"tones": tones, "samples": 2, "baseband": 0}, {}))
        self.submodules.samples = samples = Samples(card)
        self.channel, self.pads = card.channel, card.pads
        self.outputs = [part for pair in samples.samples for sample in pair for part in sample]
        others = [MtddsTone(1, tone) for tones in card.tones for tone in tones]
        self.submodules += others
        self.others = [other.channel for other in others]


KINDS = (
    Kind(
        ChannelKind.MTDDS,
        _make,
        pads=", ".join(f"`{name}`" for name in (*OUTPUTS, *INPUTS)),
        parameters=(
            Parameter(
                "tones",
                facts.USUAL_TONES,
                range(1, facts.MOST_TONES + 1),
                f"an RF channel of a Phaser as a satellite has 1 to {facts.MOST_TONES} tones",
                meaning="of each RF channel",
            ),
            Parameter(
                "samples",
                facts.LEAST_SAMPLES,
                range(facts.LEAST_SAMPLES, 2 * facts.LEAST_SAMPLES + 1, facts.LEAST_SAMPLES),
                "a Phaser as a satellite has 2 or 4 samples in a cycle",
                meaning="in a cycle: 2 for a bandwidth of 250 MHz, 4 for one of 500 MHz",
            ),
            Parameter("baseband", 0, range(2), "baseband is 0 or 1", meaning="1: no upconverters"),
        ),
        figures={"mtdds_1": Figure("with one tone for each RF channel, and their samples", lambda: _Whole(1))},
    ),
    Kind(
        ChannelKind.MTDDS_TONE,
        _tone,
        parameters=(
            Parameter("mtdds", meaning="channel of a `mtdds`, before it"),
            Parameter("channel", 0, range(CHANNELS), "a Phaser has RF channels 0 and 1"),
            Parameter("tone", 0, meaning="number of the tone"),
        ),
    ),
)
