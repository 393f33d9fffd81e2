"""Songbird: a card with one fast DAC (LTC2000), whose gateware adds up tones.

A tone is ``a(t) * cos(2 pi c(t))`` with a cubic spline `a` and a chirp `c`. `DDS` writes its coefficients, which
have no effect until a trigger: that for amplitudes ("b") and that for phases ("c") are separate, one coarse cycle
apart. `Songbird` initialises the card, triggers and clears.

The card is wired in the emulator only: no board has the pins of its DAC.
"""

from math import isclose

from ..language import TInt32, TInt64, delay, delay_mu, kernel, ms, portable, us
from ..numeric import int32, int64
from .chips.songbird import (
    AMPLITUDE_SPAN,
    DAC_CLOCK,
    DAC_DATA_CLOCK,
    DAC_PRESENT,
    DAC_RESET,
    FTW_BITS,
    MESSAGE,
    PHASE_BITS,
    PHASE_WORDS,
    RATE_WORD,
    SETTINGS,
    SHIFT_MAX,
    TRIGGER_AMPLITUDE,
    TRIGGER_PHASE,
    checked_tone,
)
from .parts.channel import RTIODevice
from .parts.numbers import nearest
from .parts.spi import SPI_END, SPI_INPUT, Transfer
from .parts.spline import LEVEL, WORD_BITS, SplineDevice
from .rtio import rtio_output

__all__ = ["DDS", "Songbird", "volt_to_mu"]

_LOW = PHASE_BITS - WORD_BITS
_PHASE = [words for words, _ in PHASE_WORDS]
_RATES = [(1e-9, 2.5e9), (1.25e-9, 2.4e9)]
"""Machine units in s, and samples a second with them."""


@portable
def volt_to_mu(volt, width=16) -> TInt32:
    """Convert an amplitude in V to the word of `width` bits."""
    return int32(nearest(volt * float(int64(1) << width) / AMPLITUDE_SPAN)) & ((1 << width) - 1)


class Songbird(RTIODevice):
    """The card on the SPI bus `spi_device`; the RTIO channels from `channel` on are its clear,
    reset and trigger."""

    channel_suffixes = ("clear", "reset", "trigger")
    kernel_invariants = {"bus", "target_reset", "target_trigger", "sample_rate"}

    message = Transfer(length=32, div=256, cs=1)
    question = Transfer(length=32, div=256, cs=1, flags=SPI_END | SPI_INPUT)
    idle = Transfer(length=32, div=256, cs=0)

    def __init__(self, dmgr, spi_device, channel, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.bus = dmgr.get(spi_device)
        self.target_reset, self.target_trigger = (channel + 1) << 8, (channel + 2) << 8
        rates = [rate for period, rate in _RATES if isclose(self.core.ref_period, period, rel_tol=1e-6)]
        if not rates:
            raise ValueError("a Songbird needs a ref_period of 1 ns or 1.25 ns")
        self.sample_rate = rates[0]
        self.cleared = 0

    # The DAC

    @kernel
    def write_reg(self, register, value):
        """Write a register of the DAC."""
        self.message.send(MESSAGE.value.put(MESSAGE.register.put(0, register), value))
        self.idle.prepare()

    @kernel
    def read_reg(self, register) -> TInt32:
        """Read a register of the DAC."""
        word = self.question.exchange(MESSAGE.read.put(MESSAGE.register.put(0, register), 1))
        self.idle.prepare()
        return MESSAGE.value.get(word)

    @kernel
    def reset(self, on):
        """Set or release the reset of the card's logic."""
        rtio_output(self.target_reset, int32(on))

    @kernel
    def init(self):
        """Reset the card and configure its DAC. ValueError if the DAC does not answer, or has no clock."""
        self.reset(1)
        delay(10 * us)
        self.reset(0)
        delay(10 * ms)
        for register, value, microseconds in SETTINGS:
            self.write_reg(register, value)
            delay(float(microseconds) * us)
        if self.read_reg(DAC_RESET) != 0:
            raise ValueError("LTC2000 reset not deasserted")
        delay(100 * us)
        if self.read_reg(DAC_CLOCK) & DAC_PRESENT == 0:
            raise ValueError("LTC2000 clock not present")
        delay(100 * us)
        if self.read_reg(DAC_DATA_CLOCK) & DAC_PRESENT == 0:
            raise ValueError("LTC2000 DCKI not present")

    # Tones

    @kernel
    def trigger(self, mask):
        """Start what has been written for the tones in `mask`: amplitudes now, phases a coarse cycle later,
        by which the time advances."""
        self.trigger_b(mask)
        delay_mu(int64(self.core.ref_multiplier))
        self.trigger_c(mask)

    @kernel
    def trigger_b(self, mask):
        """Start the amplitudes of the tones in `mask`."""
        rtio_output(self.target_trigger | TRIGGER_AMPLITUDE, mask)

    @kernel
    def trigger_c(self, mask):
        """Start the phases of the tones in `mask`."""
        rtio_output(self.target_trigger | TRIGGER_PHASE, mask)

    @kernel
    def clear(self, mask):
        """Hold the phases of the tones in `mask` at 0, and release the others."""
        self.cleared = mask
        rtio_output(self.target, mask)

    @kernel
    def clear_channel(self, number, clear):
        """Hold the phase of one tone at 0, or release it. ValueError for a tone but 0 to 15."""
        bit = 1 << checked_tone(number)
        mask = self.cleared & ~bit
        if clear:
            mask |= bit
        self.clear(mask)


class DDS(SplineDevice):
    """Tone `dds_no` of the card `config_device`: amplitudes are written to the RTIO channel `channel`, phases to
    the one after it."""

    channel_suffixes = ("amplitude", "phase")
    kernel_invariants = {"config", "dds_no", "mask", "target_phase"}

    def __init__(self, dmgr, channel, config_device, dds_no, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.config, self.dds_no = dmgr.get(config_device), checked_tone(dds_no)
        self.mask, self.target_phase = 1 << dds_no, (channel + 1) << 8

    @portable
    def frequency_to_mu(self, frequency) -> TInt32:
        """Convert Hz to a frequency word."""
        return int32(nearest(frequency * float(int64(1) << FTW_BITS) / self.config.sample_rate))

    @kernel
    def set_waveform(
        self,
        ampl_offset: TInt32,
        damp: TInt32,
        ddamp: TInt64,
        dddamp: TInt64,
        phase_offset: TInt32,
        ftw: TInt32,
        chirp: TInt32,
        shift=0,
    ):
        """Set amplitude and phase: `set_ampl`, then `set_phase`."""
        self.set_ampl(ampl_offset, damp, ddamp, dddamp)
        self.set_phase(phase_offset, ftw, chirp, shift)

    @kernel
    def set_ampl(self, ampl_offset: TInt32, damp: TInt32, ddamp: TInt64, dddamp: TInt64):
        """Set the coefficients of the amplitude, of 16, 32, 48 and 48 bits; advances by nine coarse cycles."""
        self._write_coefficients(self.target, [int64(ampl_offset), int64(damp), ddamp, dddamp], LEVEL)

    @kernel
    def set_phase(self, phase_offset: TInt32, ftw: TInt32, chirp: TInt32, shift=0):
        """Set phase (18 bits, 2**18 a turn), frequency word, its change, and the shift of the rate at which
        amplitude and frequency change; advances by six coarse cycles. ValueError for a wrong shift."""
        if shift < 0 or shift > SHIFT_MAX:
            raise ValueError("Shift must be between 0 and 15")
        last = RATE_WORD.low.put(RATE_WORD.shift.put(0, shift), phase_offset)
        self._write_coefficients(
            self.target_phase,
            [int64(phase_offset) >> _LOW, int64(ftw), int64(chirp), int64(last)],
            _PHASE,
        )

    @kernel
    def trigger(self):
        """Start what has been written: the amplitude now, the phase a coarse cycle later."""
        self.config.trigger(self.mask)

    @kernel
    def trigger_b(self):
        """Start the amplitude."""
        self.config.trigger_b(self.mask)

    @kernel
    def trigger_c(self):
        """Start the phase."""
        self.config.trigger_c(self.mask)

    @kernel
    def clear(self, clear=True):
        """Hold the phase at 0, or release it."""
        self.config.clear_channel(self.dds_no, clear)
