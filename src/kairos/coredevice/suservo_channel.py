"""A channel of an SU-Servo: its switch, its filter, and the words of its profiles."""

from ..contracts.servo import (
    CHANNEL_PROFILE_AT,
    COEFF_SHIFT,
    COEFF_WIDTH,
    DELAY_WIDTH,
    PROFILE_WIDTH,
    T_CYCLE,
    URUKUL_CHANNELS,
    WORD_BITS,
    Control,
    Word,
)
from ..language import TFloat, TInt32, delay, kernel, ns, portable, us
from ..numeric import int32
from .chips.sampler import checked_channel
from .parts.channel import RTIODevice
from .parts.numbers import nearest
from .parts.scales import Scale
from .rtio import rtio_output

__all__ = ["Channel", "Y_FULL_SCALE_MU", "y_mu_to_full_scale"]

Y_FULL_SCALE_MU = (1 << COEFF_WIDTH - 1) - 1
"""Y at full amplitude."""
PERIOD = T_CYCLE * 8 * ns
_OUT, _IIR, _TRACK = int(Control.OUT), int(Control.IIR), int(Control.PHASE_TRACKING)
_POW, _B1, _FTW_LOW, _ADC_DLY, _OFFSET, _A1, _FTW_HIGH, _B0 = (int(word) for word in Word)
_WORDS = 1 << WORD_BITS
_HALF = 16
_LONGEST_DELAY = (1 << DELAY_WIDTH) - 1
_UNIT_A = float(1 << COEFF_SHIFT)
_UNIT_B = 2.0 * _UNIT_A
"""Samples have half the weight of Y."""
_HIGHEST = (1 << COEFF_WIDTH - 1) - 1
_OFFSET_CODES = 1 << COEFF_WIDTH - 1
_READ_PAUSE = 4 * us
_HALF_MASK = 0xFFFF


@portable
def _checked_profile(profile) -> TInt32:
    """Return a profile's number; ValueError for another: its words would be those of another channel."""
    if profile < 0 or profile >= 1 << PROFILE_WIDTH:
        raise ValueError("the profiles of an SU-Servo are 0 to 31")
    return profile


class _Amplitude(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid SUServo y-value!")


class _Offset(Scale):
    @portable
    def refuse(self):
        raise ValueError("the offset of an SU-Servo is at least -1 and less than 1")


_OFFSETS = _Offset(bits=COEFF_WIDTH, steps=_OFFSET_CODES, zero=_OFFSET_CODES)
_Y = _Amplitude(bits=COEFF_WIDTH - 1, steps=Y_FULL_SCALE_MU)


@portable
def y_mu_to_full_scale(y) -> TFloat:
    """Convert Y to an amplitude, a fraction of full scale."""
    return _Y.quantity(y)


class Channel(RTIODevice):
    """The channel of the servo `servo_device` on RTIO channel `channel`."""

    kernel_invariants = {"dds", "servo", "servo_channel"}

    def __init__(self, dmgr, channel, servo_device):
        servo = dmgr.get(servo_device)
        # The channels precede the servo.
        place = channel - (servo.channel - servo.num_channels)
        if place not in range(servo.num_channels):
            raise ValueError(f"RTIO channel {channel} does not belong to the SU-Servo on channel {servo.channel}")
        self.core, self.channel = servo.core, channel
        self.servo, self.servo_channel, self.dds = servo, place, servo.ddses[place // URUKUL_CHANNELS]

    @kernel
    def set(self, en_out, en_iir=0, en_pt=0, profile=0):
        """Switch the output, the updates of Y and the tracking of the phase on or off and select a profile
        (0 to 31), whose delay begins. The cursor does not move.

        A tracked phase is that of an oscillator that has always had the profile's frequency, and the
        profile's phase at its reference time; without, the profile's phase is added to the synthesiser's.

        While the servo runs it sends the chip the words of this profile, even while the output is
        off: a profile that has not been set has a frequency of 0 Hz.
        """
        word = _OUT * (int32(en_out) & 1) | _IIR * (int32(en_iir) & 1) | _TRACK * (int32(en_pt) & 1)
        rtio_output(self.target, word | (_checked_profile(profile) << CHANNEL_PROFILE_AT))

    # Words of profiles

    @kernel
    def _place(self, profile) -> TInt32:
        """Return the place of a profile among those of all channels."""
        return (self.servo_channel << PROFILE_WIDTH) | _checked_profile(profile)

    @kernel
    def _word_address(self, profile, word) -> TInt32:
        return self._place(profile) * _WORDS + word

    @kernel
    def _y_address(self, profile) -> TInt32:
        return self.servo.state_sel | self._place(profile)

    @kernel
    def _put(self, profile, word, value):
        self.servo.write(self._word_address(profile, word), value)

    @kernel
    def set_dds_mu(self, profile, ftw, offs, pow_=0):
        """Set frequency word (32 bits), offset (18 bits, signed) and phase word (16 bits) of a
        profile; advances by four coarse cycles."""
        self._put(profile, _FTW_HIGH, (ftw >> _HALF) & 0xFFFF)
        self._put(profile, _FTW_LOW, ftw & 0xFFFF)
        self._put(profile, _OFFSET, offs)
        self._put(profile, _POW, pow_)

    @kernel
    def set_dds(self, profile, frequency, offset, phase=0.0):
        """Set frequency in Hz, offset (fraction of the ADC's full scale, added to its samples) and phase in turns."""
        offs = self.dds_offset_to_mu(offset)
        self.set_dds_mu(profile, self.dds.frequency_to_ftw(frequency), offs, self.dds.turns_to_pow(phase))

    @kernel
    def set_dds_offset_mu(self, profile, offs):
        """Set the offset of a profile (18 bits, signed)."""
        self._put(profile, _OFFSET, offs)

    @kernel
    def set_dds_offset(self, profile, offset):
        """Set the offset of a profile, a fraction of the ADC's full scale."""
        self.set_dds_offset_mu(profile, self.dds_offset_to_mu(offset))

    @portable
    def dds_offset_to_mu(self, offset) -> TInt32:
        """The word for an offset, a fraction of the ADC's full scale. ValueError outside of -1 to less than 1."""
        return _OFFSETS.code(offset) - _OFFSET_CODES

    @kernel
    def set_iir_mu(self, profile, adc, a1, b0, b1, dly=0):
        """Set the filter of a profile: ADC channel, coefficients (18 bits, signed), and the number
        of samples for which Y is held after each `set`; advances by four coarse cycles.
        """
        self._put(profile, _ADC_DLY, checked_channel(adc) | (dly << 8))
        self._put(profile, _B1, b1)
        self._put(profile, _A1, a1)
        self._put(profile, _B0, b0)

    @kernel
    def set_iir(self, profile, adc, kp, ki=0.0, g=0.0, delay=0.0):
        """Set the filter of a profile to kp + ki / (s + ki / g): proportional gain, integral gain
        in rad/s, and the integrator's gain at zero frequency (0: unlimited); `delay` in seconds.

        ValueError for gains or a delay that the filter cannot represent.
        """
        # Bilinear transform: pole of the integrator, and the contribution of a sample and its
        # predecessor
        pole, feed = 0.0, 0.0
        if ki != 0.0:
            decay = 0.0 if g == 0.0 else ki / g * (PERIOD / 2.0)
            pole = (1.0 - decay) / (1.0 + decay)
            feed = ki * (PERIOD / 2.0) / (1.0 + decay)
        a1 = nearest(pole * _UNIT_A)
        b0, b1 = nearest((kp + feed) * _UNIT_B), nearest((feed - kp * pole) * _UNIT_B)
        if ki != 0.0 and b0 + b1 == 0:
            raise ValueError("low integrator gain and/or gain limit")
        if max(b0, b1) > _HIGHEST or min(b0, b1) < -_HIGHEST - 1:
            raise ValueError("high gains")
        samples = nearest(delay / PERIOD)
        if samples < 0 or samples > _LONGEST_DELAY:
            raise ValueError("the delay of an SU-Servo is at most 255 of its cycles")
        self.set_iir_mu(profile, adc, a1, b0, b1, samples)

    @kernel
    def get_profile_mu(self, profile, data):
        """Fill `data` (8 elements, int32) with the words of a profile; advances by 4 us per word."""
        for word in range(len(data)):
            data[word] = self.servo.read(self._word_address(profile, word))
            delay(_READ_PAUSE)

    # Y

    @kernel
    def get_y_mu(self, profile) -> TInt32:
        """Read Y of a profile."""
        return self.servo.read(self._y_address(profile))

    @kernel
    def get_y(self, profile) -> TFloat:
        """Read Y of a profile as a fraction of full scale."""
        return _Y.quantity(self.get_y_mu(profile))

    @kernel
    def set_y_mu(self, profile, y):
        """Set Y of a profile, 0 to `Y_FULL_SCALE_MU`. If it is active with updates on, the filter continues
        from there."""
        self.servo.write(self._y_address(profile), y)

    @kernel
    def set_y(self, profile, y) -> TInt32:
        """Set Y of a profile, a fraction of full scale; returns it in machine units. ValueError outside of 0 to 1."""
        code = _Y.code(y)
        self.servo.write(self._y_address(profile), code)
        return code

    # Phase tracking

    @kernel
    def _reference_address(self, profile) -> TInt32:
        return self.servo.phase_sel | (self._place(profile) << 1)

    @kernel
    def _tracked_address(self, word) -> TInt32:
        place = (self.servo.num_channels << PROFILE_WIDTH) + 2 * self.servo_channel + word
        return self.servo.phase_sel | (place << 1)

    @kernel
    def _put_halves(self, address, word):
        self.servo.write(address, word & _HALF_MASK)
        self.servo.write(address + 1, (word >> _HALF) & _HALF_MASK)

    @kernel
    def _get_halves(self, address) -> TInt32:
        self.core.break_realtime()
        low = self.servo.read(address)
        self.core.break_realtime()
        return (self.servo.read(address + 1) << _HALF) | (low & _HALF_MASK)

    @kernel
    def set_reference_time(self, profile, fiducial_mu):
        """Set the time of a profile at which a tracked phase is the profile's: in the servo's time, which
        counts machine units since its start, modulo 2^32. Advances by two coarse cycles."""
        self._put_halves(self._reference_address(profile), int32(fiducial_mu))

    @kernel
    def copy_reference_time(self, profile):
        """Set that time to the servo's time at the cursor. Advances by a coarse cycle."""
        self.servo.write(self._reference_address(profile) | self.servo.state_sel, 0)

    @kernel
    def get_reference_time(self, profile) -> TInt32:
        """Read that time."""
        return self._get_halves(self._reference_address(profile))

    @kernel
    def get_tracked_phase_accumulator(self) -> TInt32:
        """Read minus the phase that the synthesiser has accumulated, 2^32 for a turn."""
        return self._get_halves(self._tracked_address(1))

    @kernel
    def clear_tracked_phase_accumulator(self):
        """Set that phase to 0, as after `SUServo.clear_dds_phase_accumulator`."""
        self._put_halves(self._tracked_address(1), 0)

    @kernel
    def get_tracked_ftw(self) -> TInt32:
        """Read the frequency word that the synthesiser got last."""
        return self._get_halves(self._tracked_address(0))

    @kernel
    def clear_tracked_ftw(self):
        """Set that word to 0, so that the synthesiser's phase does not count up to the next cycle."""
        self._put_halves(self._tracked_address(0), 0)
