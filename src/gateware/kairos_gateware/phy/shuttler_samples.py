"""What the 16 DACs of a Shuttler get, from the channels of `shuttler.py`. Clock domain sys.

In each cycle, with level a, amplitude b, phase c, gain g and offset o (16 bits, two's complement):

    w = a + TONE_GAIN b cos(2 pi c)     code = limit(w (1 + g / 2^16) + o) / 4

where limit is to 16 bits, and the DAC's code is its upper 14 bits. Before multiplications the level
has 7 bits of fraction and the amplitude 9, which fit the 25 bits of a multiplier. Without a tone
the result is exact except for these; a tone is within a few steps of the 16 bits, because of the
cosine (`pulse/sine.py`).

Timing: the waveform's first cycle, a trigger's time, is in `codes` LATENCY = 11 cycles later; gains and
offsets are delayed alike. What remains until `LATENCY` of `src/contracts/chips/shuttler.toml` is
for the lines to the DACs and the DACs. A skip of time advances the sums, not what is on its way to
`codes`: for LATENCY cycles they are those of other times.

Each output needs, by yosys for 7-series, with its words and sums about 800 LUT and 1400 FF, four
DSP48E1 and half a BRAM36.
"""

from migen import *

from ..contracts import shuttler as facts
from ..pulse import sine
from .differences import Differences

__all__ = ["LATENCY", "Samples"]

LATENCY = sine.LATENCY + 6
"""Cycles from a trigger's time, or a setting's, to its first code."""
_FACTOR_BITS, _OTHER_BITS = 25, 18
"""Of a multiplier's operands."""
_GAIN_FRACTION = (facts.GAIN_STEPS - 1).bit_length()
_TONE_GAIN = round(facts.TONE_GAIN * facts.GAIN_STEPS)
_SUM_FRACTION = 7
"""Of the sum of level and tone, whose integer part needs two bits more than a level's."""
_COSINE_FRACTION = _OTHER_BITS - 1


class Samples(Module):
    """shuttler: `Shuttler`, with the same reset. `codes`: of each output."""

    def __init__(self, shuttler):
        settings = shuttler.settings
        outputs = [
            _Output(waveform, gain, offset, shuttler.elapsed)
            for waveform, gain, offset in zip(shuttler.waveforms, settings.gains, settings.offsets, strict=True)
        ]
        self.submodules += outputs
        self.outputs = outputs
        self.codes = [output.code for output in outputs]


class _Output(Module):
    """`level`, `amplitude`: the sums. `code` (out, 14 bits, signed): of the DAC, two's complement."""

    def __init__(self, waveform, gain, offset, elapsed):
        self.submodules.levels = levels = Differences(waveform.level, waveform.trigger, elapsed)
        self.submodules.amplitudes = amplitudes = Differences(waveform.amplitude, waveform.trigger, elapsed)
        self.submodules.cosine = cosine = sine.Cosine()
        self.level, self.amplitude = levels.values[0], amplitudes.values[0]
        self.code = Signal((facts.DAC_BITS, True))

        # # #

        phase = waveform.running[facts.FRACTION_BITS - len(cosine.phase) :]
        level = Signal((facts.LEVEL_BITS + _SUM_FRACTION, True))
        amplitude = Signal((_FACTOR_BITS, True))
        factor = Signal((_OTHER_BITS, True))
        self.comb += [
            cosine.phase.eq(phase),
            level.eq(self.level[-len(level) :]),
            amplitude.eq(self.amplitude[-len(amplitude) :]),
            factor.eq(facts.GAIN_STEPS + gain),
        ]
        # The amplitude with its factor, when the cosine is there
        scaled = Signal((_FACTOR_BITS + _OTHER_BITS, True))
        tall = Signal((_FACTOR_BITS, True))
        fraction = _FACTOR_BITS - facts.LEVEL_BITS - _SUM_FRACTION
        self.sync += [
            scaled.eq(self._later(amplitude, sine.LATENCY - 2) * C(_TONE_GAIN, (_OTHER_BITS, True))),
            tall.eq(scaled >> _GAIN_FRACTION + fraction),
        ]
        product, total = [Signal((_FACTOR_BITS + _OTHER_BITS, True), name=name) for name in ["product", "total"]]
        wave = Signal((_FACTOR_BITS, True))
        self.sync += [
            product.eq(tall * cosine.value),
            total.eq(product + (self._later(level, sine.LATENCY + 1) << _COSINE_FRACTION)),
            wave.eq(total >> _COSINE_FRACTION),
        ]
        at = sine.LATENCY + 3  # cycles to `wave`
        changed, placed = [Signal((_FACTOR_BITS + _OTHER_BITS + 1, True), name=name) for name in ["changed", "placed"]]
        below = _SUM_FRACTION + _GAIN_FRACTION
        self.sync += [
            changed.eq(wave * self._later(factor, at)),
            placed.eq(changed + (self._later(offset, at + 1) << below)),
            self.code.eq(self._limited(placed, below + facts.LEVEL_BITS - facts.DAC_BITS)),
        ]

    def _later(self, value, cycles):
        """The value, so many cycles later."""
        for n in range(cycles):
            before, value = value, Signal((len(value), value.signed), name=f"later_{n}")
            self.sync += value.eq(before)
        return value

    def _limited(self, value, shift):
        """The code of a value with so many bits below it, rounded down."""
        code, most = Signal((len(value) - shift, True)), (1 << facts.DAC_BITS - 1) - 1
        self.comb += code.eq(value >> shift)
        return Mux(code > most, most, Mux(code < -most - 1, -most - 1, code))
