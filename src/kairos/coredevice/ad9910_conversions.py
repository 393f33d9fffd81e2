"""Conversion between words of an AD9910 and quantities: Hz, turns, fractions of full scale, and words of its RAM."""

from ..language import TFloat, TInt32, TList, portable
from ..numeric import int32
from .chips.ad9910 import ASF, POW, RAM
from .parts.numbers import to_word
from .parts.scales import Scale

__all__ = ["Conversions"]


class _Amplitude(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid AD9910 fractional amplitude!")


_AMPLITUDE = _Amplitude(bits=ASF.asf.width, steps=ASF.asf.steps)
_TURNS = POW.pow.steps


class Conversions:
    """Base of `AD9910`, which supplies `ftw_per_hz`, steps of the frequency word per Hz."""

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Frequency word for Hz, modulo the system clock. ValueError if it is not a finite number."""
        return to_word(frequency * self.ftw_per_hz)

    @portable(flags={"fast-math"})
    def ftw_to_frequency(self, ftw) -> TFloat:
        """Hz of a frequency word."""
        return ftw / self.ftw_per_hz

    @portable
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns, modulo one turn. ValueError if it is not a finite number."""
        return POW.pow.get(to_word(turns * _TURNS))

    @portable(flags={"fast-math"})
    def pow_to_turns(self, pow_) -> TFloat:
        """Turns of a phase word."""
        return pow_ / _TURNS

    @portable
    def amplitude_to_asf(self, amplitude) -> TInt32:
        """Amplitude word for a fraction of full scale. ValueError outside of 0 to 1."""
        return int32(_AMPLITUDE.code(amplitude))

    @portable
    def asf_to_amplitude(self, asf) -> TFloat:
        """Fraction of full scale of an amplitude word."""
        return _AMPLITUDE.quantity(asf)

    @portable
    def frequency_to_ram(self, frequency: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for frequencies in Hz."""
        ram[:] = [self.frequency_to_ftw(frequency[at]) for at in range(len(ram))]

    @portable
    def turns_to_ram(self, turns: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for phases in turns."""
        ram[:] = [RAM.pow.place(self.turns_to_pow(turns[at])) for at in range(len(ram))]

    @portable
    def amplitude_to_ram(self, amplitude: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for fractions of full scale."""
        ram[:] = [RAM.asf.place(self.amplitude_to_asf(amplitude[at])) for at in range(len(ram))]

    @portable
    def turns_amplitude_to_ram(self, turns: TList(TFloat), amplitude: TList(TFloat), ram: TList(TInt32)):
        """Fill `ram` with the RAM words for phases in turns and fractions of full scale."""
        radii = [RAM.polar_asf.place(self.amplitude_to_asf(amplitude[at])) for at in range(len(ram))]
        ram[:] = [radii[at] | RAM.pow.place(self.turns_to_pow(turns[at])) for at in range(len(ram))]
