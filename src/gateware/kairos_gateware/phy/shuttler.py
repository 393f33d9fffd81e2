"""Shuttler: a card with 16 DACs, each of which plays a level and a tone, both of them splines. Clock
domain sys.

Of each output, a level a, an amplitude b and a phase c follow from coefficients a0 to a3, b0 to b3
and c0 to c2, which are differences (`differences.py`): in steps of the 16-bit level, and in turns,
with 32 bits of fraction (`LEVEL_WORDS` and `TONE_WORDS` in `src/contracts/chips/shuttler.toml`).
What the DAC gets of them: `shuttler_samples.py`.

Channels: that of the card (`shuttler`) takes the settings of each output, at the addresses of
`PORT`; a read is answered by an input event. A `shuttler_spline` takes the coefficients of a level
or of a tone, 16 bits in each event, at consecutive addresses, the lowest first. Nothing changes
until `shuttler_trigger` gets a mask of outputs: these load what has been written, and begin. They
continue forever. The phase begins at c0 if the output's clear bit is set; otherwise c0 takes the place
of the one before, and what has been accumulated since goes on. After a reset all coefficients and
settings are 0, and all clear bits set.

    cycle (coarse time)   T-1     T          T+1
    trigger               /‾‾‾‾‾‾\\______________________
    coefficient written   old     new                     a word of time T is not loaded
    a                     ...     old a0     old a0 + a1

Timing: at T the waveform is in its first cycle; an answer is stamped with the time of its read. One
event per cycle and channel.

No board has the pins of the DACs, so only simulation builds accept these channels. These do not
compute samples: they show the coefficients (`Shown`), from which a bench does.
"""

from migen import *

from ..contracts import shuttler as facts
from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, FreeRunning, InputLink, OutputLink
from ..rtio.timing import INPUT_LATENCY
from .differences import Differences, Elapsed
from .kind import Kind, Parameter

__all__ = ["FIELDS", "KINDS", "SHOWN_BITS", "Shown", "Shuttler", "ShuttlerSpline", "ShuttlerTrigger", "coefficients"]

_WORDS = [facts.LEVEL_WORDS, facts.TONE_WORDS]
_SUM_BITS = facts.LEVEL_BITS + facts.FRACTION_BITS
_AMPLITUDE = len(facts.LEVEL_WORDS)
"""The tone's first coefficients, of its amplitude; the others are those of its phase."""
FIELDS = 12
"""Shown of each output."""
SHOWN_BITS = 64
"""Of each field."""


def coefficients(words, rows, width):
    """Of each row, its words as a number of `width` bits, in units of the last bit of fraction."""
    found, at = [], 0
    for count, bits, _ in rows:
        missing = [C(0, width - bits)] if bits < width else []  # fraction of the first ones
        found.append(Cat(*missing, *words[at : at + count]))
        at += count
    return found


class Waveform(Module):
    """Of an output. trigger: pulse. clear: the phase then begins at c0. elapsed: `Elapsed`.

    `words`: as written, of the level, of the tone. `level`, `amplitude`, `phase`: the coefficients
    that a trigger loads, of the phase with the one at which it begins. `running`: the phase.
    """

    def __init__(self, trigger, clear, elapsed):
        self.words = [
            [Signal(facts.WORD_BITS, name=f"{kind}_{n}") for n in range(sum(count for count, *_ in rows))]
            for kind, rows in zip(["level", "tone"], _WORDS, strict=True)
        ]
        level, tone = self.words
        rows = facts.TONE_WORDS[:_AMPLITUDE]
        self.level = coefficients(level, facts.LEVEL_WORDS, _SUM_BITS)
        self.amplitude = coefficients(tone, rows, _SUM_BITS)
        first, *rates = coefficients(
            tone[sum(count for count, *_ in rows) :], facts.TONE_WORDS[_AMPLITUDE:], facts.FRACTION_BITS
        )
        start, offset = Signal(facts.FRACTION_BITS), Signal(facts.FRACTION_BITS)
        self.phase = [start, *rates]
        self.trigger = trigger
        self.submodules.phases = phases = Differences(self.phase, trigger, elapsed)
        self.running = phases.values[0]

        # # #

        self.comb += start.eq(first + Mux(clear, 0, phases.values[0] + phases.values[1] - offset))
        self.sync += If(trigger, offset.eq(first))


class Settings(Module):
    """link, inputs: of the channel. `gains`, `offsets`: of each output. `clears` (out, 16 bits): mask of
    the outputs whose phase is cleared when their waveform begins. `settled` (out): nothing is to be
    answered."""

    def __init__(self, link, inputs):
        self.gains = [Signal((facts.LEVEL_BITS, True), name=f"gain_{n}") for n in range(facts.OUTPUTS)]
        self.offsets = [Signal((facts.LEVEL_BITS, True), name=f"offset_{n}") for n in range(facts.OUTPUTS)]
        self.clears = Signal(facts.OUTPUTS, reset=2**facts.OUTPUTS - 1)
        self.settled = Signal()

        # # #

        port = Record(facts.PORT)
        setting = Signal(facts.WORD_BITS)
        answers = [Signal(facts.WORD_BITS, name=f"answer_{n}") for n in range(INPUT_LATENCY + 1)]
        answered = Signal(len(answers))
        settings = {
            facts.PORT_SETTING_GAIN: self.gains,
            facts.PORT_SETTING_OFFSET: self.offsets,
            facts.PORT_SETTING_CLEAR: [self.clears],
        }

        def each(make):
            """make: a statement for a setting, of the addressed output."""
            cases = {number: enumerate(values) for number, values in settings.items()}
            return Case(
                port.setting,
                {number: Case(port.output, {n: make(value) for n, value in of}) for number, of in cases.items()},
            )

        self.comb += [
            port.raw_bits().eq(link.address),
            each(setting.eq),
            inputs.stb.eq(answered[-1]),
            inputs.data.eq(answers[-1]),
            self.settled.eq(answered == 0),
        ]
        self.sync += [
            answered.eq(Cat(link.stb & port.read, answered)),
            Cat(*answers).eq(Cat(setting, *answers)),
            If(link.stb & ~port.read, each(lambda value: value.eq(link.data))),
        ]


class Shuttler(Module):
    """The channel of the settings. `waveforms`: a `Waveform` of each output. `settings`: their `Settings`.
    `triggers` (in, 16 bits): mask of the outputs that begin."""

    def __init__(self, number):
        link = OutputLink(data_width=facts.WORD_BITS, address_width=sum(width for _, width in facts.PORT))
        inputs = InputLink(data_width=facts.WORD_BITS)
        self.channel = Channel(number, output=link, input=inputs, free_running=FreeRunning(limited=False))
        self.pads = []
        self.triggers = Signal(facts.OUTPUTS)
        self.submodules.settings = settings = Settings(link, inputs)
        self.submodules.elapsed = elapsed = Elapsed(self.channel.free_running, _SUM_BITS)
        self.waveforms = [Waveform(self.triggers[n], settings.clears[n], elapsed) for n in range(facts.OUTPUTS)]
        self.submodules += self.waveforms

        # # #

        self.comb += self.channel.settled.eq(settings.settled)


class ShuttlerSpline(Module):
    """words: one of the lists of a `Waveform`."""

    def __init__(self, number, words):
        link = OutputLink(data_width=facts.WORD_BITS, address_width=(len(words) - 1).bit_length())
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        self.sync += If(link.stb, Case(link.address, {n: word.eq(link.data) for n, word in enumerate(words)}))


class ShuttlerTrigger(Module):
    """triggers: of a `Shuttler`."""

    def __init__(self, number, triggers):
        link = OutputLink(data_width=facts.OUTPUTS)
        self.channel = Channel(number, output=link)
        self.pads = []

        # # #

        self.comb += triggers.eq(Mux(link.stb, link.data, 0))


class Shown(Module):
    """What determines the samples of a `Shuttler`, for the recording of a simulation (section 6 of
    docs/interfaces.md): `fields` of each output, from the trigger's time, or a setting's, on."""

    def __init__(self, shuttler):
        self.fields = []

        # # #

        settings = shuttler.settings
        for waveform, gain, offset in zip(shuttler.waveforms, settings.gains, settings.offsets, strict=True):
            loads = [*waveform.level, *waveform.amplitude, *waveform.phase]
            loaded, triggers = [Signal((len(value), True)) for value in loads], Signal(32)
            self.sync += If(
                waveform.trigger,
                [old.eq(new) for old, new in zip(loaded, loads, strict=True)],
                triggers.eq(triggers + 1),
            )
            extended = [Cat(value, Replicate(value[-1], SHOWN_BITS - len(value))) for value in loaded]
            self.fields.append([*extended, Cat(gain, offset, triggers)])


def _spline(context):
    shuttler = context.earlier("shuttler", Shuttler, "shuttler")
    return ShuttlerSpline(context.number, shuttler.waveforms[context["output"]].words[context["kind"]])


def _trigger(context):
    return ShuttlerTrigger(context.number, context.earlier("shuttler", Shuttler, "shuttler").triggers)


_SHUTTLER = Parameter("shuttler", meaning="channel of a `shuttler`, before it")

KINDS = (
    Kind(ChannelKind.SHUTTLER, lambda context: Shuttler(context.number)),
    Kind(
        ChannelKind.SHUTTLER_SPLINE,
        _spline,
        parameters=(
            _SHUTTLER,
            Parameter("output", 0, range(facts.OUTPUTS), "a Shuttler has outputs 0 to 15"),
            Parameter("kind", 0, range(2), "kind is 0 or 1", meaning="0 level, 1 tone"),
        ),
    ),
    Kind(
        ChannelKind.SHUTTLER_TRIGGER,
        _trigger,
        parameters=(_SHUTTLER,),
    ),
)
