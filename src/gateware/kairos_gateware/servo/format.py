"""Numbers and addresses of the SU-Servo, beside those that its driver also uses
(`contracts/servo.py`; docs/gateware/servo.md).

A profile of a channel is eight words of 18 bits, two to a row of the coefficient memory: one that
goes to the synthesiser, or the offset, and one of the filter. Y is stored in 25 bits, of which the
driver sees the upper 18.
"""

from dataclasses import dataclass

from ..contracts.servo import (
    ADC_CHANNELS,
    ADC_WIDTH,
    ADDRESS_BITS,
    COEFF_SHIFT,
    COEFF_WIDTH,
    DELAY_WIDTH,
    DEPTH_LEAST,
    PHASE_AT,
    PROFILE_WIDTH,
    STATE_AT,
    T_CYCLE,
    URUKUL_CHANNELS,
    WORD_BITS,
    WRITE_AT,
    Word,
)

__all__ = [
    "ADC_CHANNELS",
    "ADC_WIDTH",
    "ASF_WIDTH",
    "COEFF_SHIFT",
    "COEFF_WIDTH",
    "DELAY_WIDTH",
    "HALF_WIDTH",
    "PHASE_AT",
    "PROFILE_WIDTH",
    "STATE_WIDTH",
    "T_CYCLE",
    "URUKUL_CHANNELS",
    "WORDS",
    "Y_FULL_SCALE",
    "AddressMap",
]

HALF_WIDTH = 16
"""Of the halves in which the words of phase tracking are accessed."""
STATE_WIDTH = 25
"""Y, signed; 2**24 is full scale. With the coefficients' 18 bits, the operands of a DSP48E1."""
ASF_WIDTH = 14
Y_FULL_SCALE = 2 ** (COEFF_WIDTH - 1) - 1
"""Largest Y that the driver sees."""

WORDS = {word.name.lower(): int(word) for word in Word}
"""Number of each word of a profile. adc_dly: ADC channel in bits 7..0, delay in bits 15..8."""


@dataclass(frozen=True)
class AddressMap:
    """Addresses of the servo's RTIO channel with `urukuls` cards. All are for reading; add
    `write`."""

    urukuls: int

    @property
    def coeff_bits(self) -> int:
        return DEPTH_LEAST + (self.urukuls - 1).bit_length()

    @property
    def channels(self) -> int:
        return self.urukuls * URUKUL_CHANNELS

    @property
    def write(self) -> int:
        return 1 << self.coeff_bits + WRITE_AT

    @property
    def phase(self) -> int:
        """Phase tracking: halves of words; with `state`, both halves of a reference time are set to the
        servo's time."""
        return 1 << self.coeff_bits + PHASE_AT

    @property
    def state(self) -> int:
        return 1 << self.coeff_bits + STATE_AT

    @property
    def config(self) -> int:
        """Configuration (write), status (read)."""
        return self.state | 1 << self.coeff_bits - 1

    def word(self, channel: int, profile: int, name: str) -> int:
        """A word of a profile."""
        return (channel << PROFILE_WIDTH | profile) << WORD_BITS | WORDS[name]

    def y(self, channel: int, profile: int) -> int:
        """Y of a profile, upper 18 bits."""
        return self.state | channel << PROFILE_WIDTH | profile

    def x(self, adc: int, before: bool = False) -> int:
        """Newest sample of an ADC channel, or the one before it; times 2, sign in bit 17."""
        return self.state | (self.channels << PROFILE_WIDTH) + (adc << 1) + before

    def reference_time(self, channel: int, profile: int) -> int:
        """Lower half of the time at which a profile's phase is its word; the upper half follows."""
        return self.phase | (channel << PROFILE_WIDTH | profile) << 1

    def tracked_ftw(self, channel: int) -> int:
        """Lower half of the frequency word sent last."""
        return self.phase | (self.channels << PROFILE_WIDTH) + (channel << 1) << 1

    def tracked_phase(self, channel: int) -> int:
        """Lower half of the phase accumulated by the chip."""
        return self.phase | (self.channels << PROFILE_WIDTH) + (channel << 1) + 1 << 1

    def event(self, address: int, value: int = 0) -> tuple[int, int]:
        """(RTIO address, data) of the output event."""
        return address & (1 << ADDRESS_BITS) - 1, address >> ADDRESS_BITS << COEFF_WIDTH | value & 2**COEFF_WIDTH - 1
