"""Settings of the pulse core that act on the samples: feed-forward, crosstalk compensation, global counter. In the
logic of boards with converter cards, and in an emulated device's recording."""

from numpy import int32, int64

from ...contracts import pulse as facts
from ...language import TInt32, kernel, portable
from ..rtio import rtio_output, rtio_output_wide
from .channel import Address, RTIODevice
from .numbers import nearest, to_wide_word

__all__ = ["SAMPLES_PER_CYCLE", "SampleSettings"]

SAMPLES_PER_CYCLE = 8
TURN = float(1 << facts.VALUE_BITS)
FACTOR_BITS = facts.CROSSTALK_BITS
FACTOR_ONE = float(1 << facts.CROSSTALK_FRACTION)
DELAYS = 1 << 6
DELAY_AT, OFFSET_AT, CHANNEL_AT = 4, 10, 12
"""Bit positions in the upper 32 bits of a coupling."""


@portable
def _factor(part) -> TInt32:
    """Encode the real or imaginary part of a coupling's factor."""
    steps = nearest(part * FACTOR_ONE)
    if steps >= int32(FACTOR_ONE):
        steps = int32(FACTOR_ONE) - 1
    return steps & (1 << FACTOR_BITS) - 1


class SampleSettings(RTIODevice):
    """The settings of a core with `channels` channels and `sample_rate` samples per second."""

    error = Address(19)
    harmonic = Address(20)
    coupling = Address(21)
    couple = Address(22)
    counter = Address(23)

    @kernel
    def set_frequency_error(self, error):
        """Let the feed-forward accumulate a frequency error in Hz, for segments that request it
        (`feed_forward`).

        This, harmonics, couplings and the global counter are settings of sample generation: in the
        logic of boards with converter cards, and in an emulated device's recording. ValueError if the error is more
        than half the sample rate.
        """
        if not (error >= -self.sample_rate / 2.0 and error < self.sample_rate / 2.0):
            raise ValueError("a frequency error beyond half the sample rate")
        word = to_wide_word(error / self.sample_rate * TURN)
        rtio_output_wide(self.error, [int32(word), int32(word >> 32)])

    @kernel
    def _require_channel(self, channel):
        """Raise ValueError if there is no such channel."""
        if not 0 <= channel < self.channels:
            raise ValueError("channel {0}: the core has {1} channels, from 0 on", int64(channel), int64(self.channels))

    @kernel
    def set_harmonic(self, channel, tone, harmonic):
        """Multiply the feed-forward of a channel's tone by `harmonic`, -32768 to 32767. ValueError if
        one of them does not exist."""
        self._require_channel(channel)
        if not (0 <= tone <= 1 and -0x8000 <= harmonic < 0x8000):
            raise ValueError(
                "tone {0} with harmonic {1}: a tone is 0 or 1, a harmonic -32768 to 32767", int64(tone), int64(harmonic)
            )
        rtio_output(self.harmonic, harmonic & 0xFFFF | tone << 16 | channel << 17)

    @kernel
    def set_coupling(self, channel, offset, real, imaginary, delay=0):
        """Add to `channel` the signal of the channel at `offset` (-2, -1, 1 or 2) times a complex
        factor, with parts from -1 to below 1, once `use_couplings` is called; `delay`, up to 63
        cycles, delays the signal. ValueError if one of them is out of range.
        """
        self._require_channel(channel)
        if not 0 <= delay < DELAYS:
            raise ValueError("a delay is 0 to 63 cycles, not {0}", int64(delay))
        if offset == 0 or abs(offset) > 2 or not (-1.0 <= real < 1.0 and -1.0 <= imaginary < 1.0):
            raise ValueError("a coupling is to a channel at -2, -1, 1 or 2, with parts of -1 to below 1")
        number = offset + 2 if offset < 0 else offset + 1
        high = _factor(imaginary)
        low = _factor(real) | high << FACTOR_BITS
        place = delay << DELAY_AT | number << OFFSET_AT | channel << CHANNEL_AT
        rtio_output_wide(self.coupling, [low, high >> (32 - FACTOR_BITS) | place])

    @kernel
    def use_couplings(self, zero=0):
        """Apply all couplings set so far simultaneously; `zero` is the delay setting that means no
        delay. ValueError if it is none."""
        if not 0 <= zero < DELAYS:
            raise ValueError("a delay is 0 to 63 cycles, not {0}", int64(zero))
        rtio_output(self.couple, zero)

    @kernel
    def set_counter(self, samples):
        """Set the global sample counter, to which tones synchronise, to `samples` (int64) in the
        next cycle."""
        rtio_output_wide(self.counter, [int32(samples), int32(samples >> 32)])
