"""The DDS chip AD9914 on a dedicated parallel bus: up to 3.5 GS/s, with frequency words of 32 or 63
bits.

The bus is that of the gateware (`docs/gateware/phys.md`), the registers follow the data sheet
(`kairos.coredevice.chips.ad9914`). A word on the bus takes five coarse cycles. Methods that set the
output write *before* the cursor, so that the chip's update is at the cursor, which does not move;
the bus is free again five cycles later. Not tested with a card.

Machine units: frequency word `ftw` (32 bits for the system clock; `xftw`: 63 bits), phase word
`pow` (16 bits per turn), amplitude word `asf` (12 bits for full scale).
"""

from ..language import (
    PHASE_MODE_ABSOLUTE,
    PHASE_MODE_CONTINUOUS,
    PHASE_MODE_TRACKING,
    TFloat,
    TInt32,
    TInt64,
    at_mu,
    delay,
    delay_mu,
    host_only,
    kernel,
    now_mu,
    portable,
)
from ..numeric import Wide, int32, int64
from .chips.ad9914 import (
    ADDRESSES,
    BUS_LINES,
    BUS_UPDATE,
    CALIBRATION_S,
    CFR1,
    CFR2,
    CFR4,
    LOWER_HALF,
    MODULUS_B,
    MODULUS_DENOMINATOR,
    MODULUS_FTW,
    MODULUS_NUMERATOR,
    PROFILE_FREQUENCY,
    PROFILE_OUTPUT,
    UPPER_HALF,
    USR0,
)
from .parts.channel import CoreDevice
from .parts.monitored import Monitored
from .parts.numbers import to_int32, to_wide_word, to_word
from .parts.scales import Scale
from .rtio import rtio_output

__all__ = ["AD9914", "PHASE_MODE_ABSOLUTE", "PHASE_MODE_CONTINUOUS", "PHASE_MODE_TRACKING"]

_PHASE_MODE_DEFAULT = -1
_NO_TIME = Wide(-1)

_HALF = 16
_WORD_CYCLES = 5
_SETS, _SETS_FINE = 6, 10
"""Words before the update, including the chip selection."""
_PLAIN, _RESTARTED = (to_int32(CFR1.encode(osk_enable=1, phase_autoclear=clear)) & 0xFFFF for clear in (0, 1))
_BY_PROFILE = CFR2.encode(profile_enable=1) >> _HALF
_BY_MODULUS = CFR2.encode(drg_enable=1, modulus_enable=1) >> _HALF
_REST = CFR4.encode() >> _HALF
_CALIBRATE = CFR4.encode(dac_cal_enable=1) >> _HALF
_STEPS = float(1 << PROFILE_FREQUENCY.width)
_FINE_BITS = 31
_FINE_STEPS = float(1 << PROFILE_FREQUENCY.width + _FINE_BITS)
_FINE_MASK = Wide((1 << _FINE_BITS) - 1)
_B = to_int32(MODULUS_B)
_TURN = PROFILE_OUTPUT.pow.steps


class _Amplitude(Scale):
    @portable
    def refuse(self):
        raise ValueError("an amplitude of an AD9914 is between 0 and 1")


_AMPLITUDE = _Amplitude(bits=PROFILE_OUTPUT.asf.width, steps=PROFILE_OUTPUT.asf.steps)


class AD9914(CoreDevice):
    """Chip `channel` of the bus on the RTIO channel `bus_channel`; `sysclk`: its system clock in Hz."""

    kernel_invariants = {"bus_channel", "channel", "selection", "sysclk", "sysclk_per_mu", "word_mu"}
    kernel_invariants |= {"write_duration_mu", "set_duration_mu", "set_x_duration_mu"}

    def __init__(self, dmgr, sysclk, bus_channel, channel, core_device="core"):
        super().__init__(dmgr, core_device)
        if channel not in range(BUS_LINES.chips.width):
            raise ValueError(f"channel of an AD9914 is between 0 and {BUS_LINES.chips.width - 1}, not {channel}")
        self.bus_channel, self.channel = bus_channel, channel
        self.selection = BUS_LINES.encode(chips=1 << channel)
        self.sysclk = float(sysclk)
        per_mu = self.sysclk * self.core.ref_period
        # Phases are tracked in whole clock cycles per machine unit; 0 if the ratio is not an
        # integer.
        self.sysclk_per_mu = round(per_mu) if abs(per_mu - round(per_mu)) < 1e-9 else 0
        self.word_mu = Wide(_WORD_CYCLES * self.core.ref_multiplier)
        # How long a word takes, and how long before the cursor `set` and `set_x` begin to write.
        self.write_duration_mu = self.word_mu
        self.set_duration_mu, self.set_x_duration_mu = _SETS * self.word_mu, _SETS_FINE * self.word_mu
        self.phase_mode = PHASE_MODE_CONTINUOUS

    @staticmethod
    def get_rtio_channels(bus_channel, **_arguments):
        """Return the RTIO channels of a device with these arguments: pairs of number and name
        suffix."""
        return [(bus_channel, None)]

    @host_only
    def monitored(self):
        """Return the probe of the frequency."""
        return [Monitored(None, self.bus_channel, self.channel, self.ftw_to_frequency, "Hz")]

    # The bus

    @kernel
    def _put(self, address, word):
        rtio_output(self.bus_channel << 8 | address, word)
        delay_mu(self.word_mu)

    @kernel
    def _put_both(self, register, word):
        """Write 32 bits to a register."""
        first = ADDRESSES * register
        self._put(first + LOWER_HALF, word & 0xFFFF)
        self._put(first + UPPER_HALF, (word >> _HALF) & 0xFFFF)

    @kernel
    def _select(self):
        self._put(BUS_LINES.address, self.selection)

    @kernel
    def _apply(self):
        self._put(BUS_UPDATE.address, 0)

    # The chip

    @kernel
    def init(self):
        """Enable amplitude words and profiles, and calibrate the DAC; advances by slightly more
        than 1 ms. The chip must have been reset since power-up (`reset_all`)."""
        self._select()
        self._configure()
        self._calibrate()

    @kernel
    def init_sync(self, sync_delay):
        """As `init`, with the chip's clocks started by the signal at its input SYNC_IN, delayed by
        `sync_delay` (0 to 7). Without a signal the DAC remains uncalibrated."""
        self._select()
        self._configure()
        lower = ADDRESSES * USR0.address + LOWER_HALF
        self._put(lower, USR0.word(cal_with_sync=1, sync_in_delay=sync_delay))
        self._apply()
        self._calibrate()
        self._put(lower, USR0.word(sync_in_delay=sync_delay))
        self._apply()

    @kernel
    def reset_all(self):
        """Reset all chips of the bus, not only this one; each needs `init` afterwards. Advances by
        three words."""
        self._put(BUS_LINES.address, BUS_LINES.word(hold=1))
        self._put(BUS_LINES.address, BUS_LINES.word(hold=1))
        self._put(BUS_LINES.address, 0)

    @kernel
    def _configure(self):
        self._put(ADDRESSES * CFR1.address + LOWER_HALF, _PLAIN)
        self._put(ADDRESSES * CFR2.address + UPPER_HALF, _BY_PROFILE)
        self._apply()

    @kernel
    def _calibrate(self):
        upper = ADDRESSES * CFR4.address + UPPER_HALF
        self._put(upper, _CALIBRATE)
        self._apply()
        delay(CALIBRATION_S)
        self._put(upper, _REST)
        self._apply()

    # The output

    @kernel
    def set_phase_mode(self, phase_mode):
        """Set the default phase mode of `set` and `set_mu`."""
        self.phase_mode = phase_mode

    @kernel
    def set_mu(self, ftw, pow=0, phase_mode=_PHASE_MODE_DEFAULT, asf=0xFFF, ref_time_mu=_NO_TIME) -> TInt32:
        """Set frequency, phase and amplitude in machine units; returns the phase word, corrected
        according to the phase mode. The update is at the cursor, which does not move; writing
        begins six times five coarse cycles earlier. ValueError in a tracking mode if the system
        clock is not a whole multiple of the machine unit's rate.
        """
        mode = self.phase_mode if phase_mode == _PHASE_MODE_DEFAULT else phase_mode
        update = now_mu()
        lines = _PLAIN
        if mode != PHASE_MODE_CONTINUOUS:
            lines = _RESTARTED
            start = ref_time_mu
            if mode == PHASE_MODE_TRACKING:
                start = max(start, int64(0))
            if start >= 0:
                pow += self._turned(ftw, update - start)
        at_mu(update - _SETS * self.word_mu)
        self._select()
        self._put(ADDRESSES * CFR1.address + LOWER_HALF, lines)
        self._put_both(PROFILE_FREQUENCY.address, ftw)
        self._put_both(PROFILE_OUTPUT.address, PROFILE_OUTPUT.word(asf, pow))
        self._apply()
        at_mu(update)
        return pow

    @kernel
    def _turned(self, ftw, duration: TInt64) -> TInt32:
        """Phase word accumulated by a frequency over a duration."""
        if self.sysclk_per_mu == 0:
            raise ValueError("phases of an AD9914 are tracked where its clock is a whole multiple of 1/ref_period")
        return (int32(duration) * ftw * self.sysclk_per_mu) >> (PROFILE_FREQUENCY.width - _HALF)

    @kernel
    def set(self, frequency, phase=0.0, phase_mode=_PHASE_MODE_DEFAULT, amplitude=1.0) -> TFloat:
        """As `set_mu` with Hz, turns and a fraction of full scale (all float); returns turns."""
        pow_ = self.set_mu(
            self.frequency_to_ftw(frequency),
            self.turns_to_pow(phase),
            phase_mode,
            self.amplitude_to_asf(amplitude),
        )
        return self.pow_to_turns(pow_)

    @kernel
    def set_x_mu(self, xftw: TInt64, amplitude=0xFFF):
        """Set the frequency by a 63-bit word (int64), and the amplitude by its word. The phase
        accumulator runs on. The update is at the cursor, which does not move; writing begins ten
        times five coarse cycles earlier. Until `exit_x` the frequency words of `set_mu` have no
        effect.
        """
        update = now_mu()
        at_mu(update - _SETS_FINE * self.word_mu)
        self._select()
        self._put(ADDRESSES * CFR1.address + LOWER_HALF, _PLAIN)
        self._put(ADDRESSES * CFR2.address + UPPER_HALF, _BY_MODULUS)
        self._put_both(MODULUS_FTW.address, int32(xftw >> _FINE_BITS))
        self._put_both(MODULUS_DENOMINATOR.address, _B)
        self._put_both(MODULUS_NUMERATOR.address, int32(xftw & _FINE_MASK))
        self._put(ADDRESSES * PROFILE_OUTPUT.address + UPPER_HALF, amplitude)
        self._apply()
        at_mu(update)

    @kernel
    def set_x(self, frequency, amplitude=1.0):
        """As `set_x_mu`, with Hz (limited to the 53 bits of a float) and a fraction of full scale."""
        self.set_x_mu(self.frequency_to_xftw(frequency), self.amplitude_to_asf(amplitude))

    @kernel
    def exit_x(self):
        """Return from the frequency of `set_x_mu` to that of `set_mu`, at the cursor, which does
        not move."""
        update = now_mu()
        at_mu(update - 2 * self.word_mu)
        self._select()
        self._put(ADDRESSES * CFR2.address + UPPER_HALF, _BY_PROFILE)
        self._apply()
        at_mu(update)

    # Quantities

    @portable
    def _check(self, frequency):
        if not (frequency >= 0.0 and 2.0 * frequency < self.sysclk):
            raise ValueError("the frequency of an AD9914 is less than half of its system clock's")

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Frequency word for Hz. ValueError at half of the system clock or above."""
        self._check(frequency)
        return to_word(frequency * (_STEPS / self.sysclk))

    @portable(flags={"fast-math"})
    def ftw_to_frequency(self, ftw) -> TFloat:
        """Hz of a frequency word."""
        return ftw * (self.sysclk / _STEPS)

    @portable
    def frequency_to_xftw(self, frequency) -> TInt64:
        """Frequency word of 63 bits for Hz. ValueError at half of the system clock or above."""
        self._check(frequency)
        return to_wide_word(frequency * (_FINE_STEPS / self.sysclk))

    @portable(flags={"fast-math"})
    def xftw_to_frequency(self, xftw: TInt64) -> TFloat:
        """Hz of a frequency word of 63 bits."""
        return xftw * (self.sysclk / _FINE_STEPS)

    @portable
    def turns_to_pow(self, turns) -> TInt32:
        """Phase word for turns, modulo one turn. ValueError if it is not a finite number."""
        return PROFILE_OUTPUT.pow.get(to_word(turns * _TURN))

    @portable(flags={"fast-math"})
    def pow_to_turns(self, pow_) -> TFloat:
        """Turns of a phase word."""
        return pow_ / _TURN

    @portable
    def asf_to_amplitude(self, asf) -> TFloat:
        """Fraction of full scale of an amplitude word."""
        return _AMPLITUDE.quantity(asf)

    @portable
    def amplitude_to_asf(self, amplitude) -> TInt32:
        """Amplitude word for a fraction of full scale. ValueError outside of 0 to 1."""
        return int32(_AMPLITUDE.code(amplitude))
