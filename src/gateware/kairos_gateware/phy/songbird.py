"""Songbird: a card with one fast DAC, which plays the sum of some tones. Clock domain sys.

A tone has an amplitude, from coefficients b0 to b3 as those of a Shuttler (`shuttler.py`), and a phase, from
an offset, a frequency and the change of that (`PHASE_WORDS` in `src/contracts/chips/songbird.toml`). What the DAC
gets of them: `songbird_samples.py`.

Channels: `songbird` takes a mask of tones whose accumulated phase is held at 0, `songbird_reset` a level that
sets all tones to 0, `songbird_trigger` masks of the tones whose amplitude (address 0) or phase (address 1)
begins. A `songbird_tone` takes the coefficients of an amplitude or of a phase, 16 bits in each event, at
consecutive addresses, the lowest first.

    cycle (coarse time)   T-1     T          T+1
    trigger               /‾‾‾‾‾‾\\______________________
    coefficient written   old     new                     a word of time T is not loaded
    amplitude             ...     old b0     old b0 + b1

Timing: at T the tone is in its first cycle. One event per cycle and channel.

No board has the pins of the DAC, so only simulation builds accept these channels. These do not compute samples:
they show the coefficients (`Shown`), from which a bench does.
"""

from migen import *

from ..contracts import songbird as facts
from ..contracts.descriptor import ChannelKind
from ..contracts.shuttler import FRACTION_BITS, LEVEL_WORDS, WORD_BITS
from ..rtio.link import Channel, OutputLink
from .kind import Figure, Kind, Parameter
from .shuttler import FIELDS, SHOWN_BITS, coefficients
from .songbird_samples import Samples

__all__ = ["KINDS", "Shown", "Songbird", "SongbirdLevel", "SongbirdTone", "SongbirdTrigger"]

_WORDS = [LEVEL_WORDS, facts.PHASE_WORDS]
_SUM_BITS = facts.LEVEL_BITS + FRACTION_BITS


class Tone(Module):
    """`words`: as written, of the amplitude, of the phase. `triggers` (in, 2 bits): pulses, likewise; `clear`,
    `reset` (in): levels. `amplitude`: the coefficients that its trigger loads; `offset` (18 bits), `frequency`, `chirp`
    (32 bits) and `shift`: what that of the phase loads."""

    def __init__(self):
        self.words = [
            [Signal(WORD_BITS, name=f"{kind}_{n}") for n in range(sum(count for count, *_ in rows))]
            for kind, rows in zip(["amplitude", "phase"], _WORDS, strict=True)
        ]
        self.triggers, self.clear, self.reset = Signal(2), Signal(), Signal()
        amplitude, phase = self.words
        self.amplitude = coefficients(amplitude, LEVEL_WORDS, _SUM_BITS)
        rate = Record(facts.RATE_WORD)
        self.comb += rate.raw_bits().eq(phase[-1])
        self.offset = Cat(rate.low, phase[0])
        self.frequency, self.chirp = Cat(*phase[1:3]), Cat(*phase[3:5])
        self.shift = rate.shift


class Songbird(Module):
    """The channel of the clears, of so many tones. `tones`: a `Tone` of each. `reset_tones` (in): of all of them.
    `triggers` (in): masks of the amplitudes, and of the phases, that begin."""

    def __init__(self, number, tones=facts.TONES):
        link = OutputLink(data_width=tones)
        self.channel = Channel(number, output=link)
        self.pads = []
        self.reset_tones = Signal()
        self.triggers = [Signal(tones, name=f"trigger_{of}") for of in ("amplitude", "phase")]
        self.tones = [Tone() for _ in range(tones)]
        self.submodules += self.tones

        # # #

        clears = Signal(tones)
        self.sync += If(link.stb, clears.eq(link.data))
        for n, tone in enumerate(self.tones):
            self.comb += [
                tone.triggers.eq(Cat(*[triggers[n] for triggers in self.triggers])),
                tone.clear.eq(clears[n]),
                tone.reset.eq(self.reset_tones),
            ]


class SongbirdLevel(Module):
    """A channel that keeps `level` as it was written."""

    def __init__(self, number, level):
        link = OutputLink(data_width=1)
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        kept = Signal()
        self.sync += If(link.stb, kept.eq(link.data))
        self.comb += level.eq(kept)


class SongbirdTrigger(Module):
    """triggers: of a `Songbird`."""

    def __init__(self, number, triggers):
        link = OutputLink(data_width=len(triggers[0]), address_width=1)
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        for address, trigger in zip([facts.TRIGGER_AMPLITUDE, facts.TRIGGER_PHASE], triggers, strict=True):
            self.comb += trigger.eq(Mux(link.stb & (link.address == address), link.data, 0))


class SongbirdTone(Module):
    """words: one of the lists of a `Tone`."""

    def __init__(self, number, words):
        link = OutputLink(data_width=WORD_BITS, address_width=(len(words) - 1).bit_length())
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        self.sync += If(link.stb, Case(link.address, {n: word.eq(link.data) for n, word in enumerate(words)}))


class Shown(Module):
    """What determines the samples of a `Songbird`, for the recording of a simulation (section 6 of
    docs/interfaces.md): `fields` of each tone, from the time of an event on: what the triggers have loaded (four
    coefficients of the amplitude; offset, frequency, chirp), the levels (shift, clear and reset, lowest first), the
    number of triggers (of amplitudes, of phases). A reset does not change what is shown as loaded."""

    def __init__(self, songbird):
        self.fields = []

        # # #

        for tone in songbird.tones:
            phase = [tone.offset, tone.frequency, tone.chirp]
            loads = [[(Signal((len(new), True)), new) for new in of] for of in (tone.amplitude, phase)]
            shift, counts = Signal(len(tone.shift)), [Signal(32, name=f"triggers_{n}") for n in range(2)]
            for trigger, count, of in zip(tone.triggers, counts, loads, strict=True):
                self.sync += If(trigger, count.eq(count + 1), [old.eq(new) for old, new in of])
            self.sync += If(tone.triggers[1], shift.eq(tone.shift))
            # Amplitudes have a sign, phases wrap
            signs = [of[-1] if len(of) == _SUM_BITS else C(0) for pair in loads for of, _ in pair]
            loaded = [of for pair in loads for of, _ in pair]
            padded = [
                Cat(value, Replicate(sign, SHOWN_BITS - len(value))) for value, sign in zip(loaded, signs, strict=True)
            ]
            levels = Signal(SHOWN_BITS)
            self.comb += levels.eq(Cat(shift, tone.clear, tone.reset))
            fields = [*padded, levels, Cat(*counts)]
            self.fields.append([*fields, *[C(0, SHOWN_BITS)] * (FIELDS - len(fields))])


def _of(context):
    return context.earlier("songbird", Songbird, "songbird")


def _tone(context):
    songbird = _of(context)
    if context["tone"] >= len(songbird.tones):
        raise ValueError(f"{context.name}: the Songbird has {len(songbird.tones)} tones")
    return SongbirdTone(context.number, songbird.tones[context["tone"]].words[context["kind"]])


class _Whole(Module):
    """All channels, of so many tones, and what the DAC gets; `channel` is that of the clears."""

    def __init__(self, tones=facts.TONES):
        self.submodules.songbird = songbird = Songbird(0, tones)
        self.submodules.samples = samples = Samples(songbird)
        self.channel, self.pads, self.outputs = songbird.channel, songbird.pads, samples.samples
        others = [SongbirdLevel(1, songbird.reset_tones), SongbirdTrigger(2, songbird.triggers)]
        others += [SongbirdTone(3, words) for tone in songbird.tones for words in tone.words]
        self.submodules += others
        self.others = [other.channel for other in others]


_SONGBIRD = Parameter("songbird", meaning="channel of a `songbird`, before it")

KINDS = (
    Kind(
        ChannelKind.SONGBIRD,
        lambda context: Songbird(context.number, context["tones"]),
        parameters=(Parameter("tones", facts.TONES, range(1, facts.TONES_MAX + 1), "a Songbird has 1 to 16 tones"),),
        figures={
            "songbird_1": Figure("with one tone, and its samples", lambda: _Whole(1)),
            "songbird": Figure("with four tones, and their samples", _Whole),
        },
    ),
    Kind(
        ChannelKind.SONGBIRD_RESET,
        lambda context: SongbirdLevel(context.number, _of(context).reset_tones),
        parameters=(_SONGBIRD,),
    ),
    Kind(
        ChannelKind.SONGBIRD_TRIGGER,
        lambda context: SongbirdTrigger(context.number, _of(context).triggers),
        parameters=(_SONGBIRD,),
    ),
    Kind(
        ChannelKind.SONGBIRD_TONE,
        _tone,
        parameters=(
            _SONGBIRD,
            Parameter("tone", 0, meaning="number of the tone"),
            Parameter("kind", 0, range(2), "kind is 0 or 1", meaning="0 amplitude, 1 phase"),
        ),
    ),
)
