"""Fastino: a card with 32 DAC channels of 16 bits, each updated up to 2.55 million times a second.

Writes do not advance the cursor; a frame to the card, which carries all channels, takes `t_frame`.
Its interpolators (CIC filters of third order) fill in the frames between two codes.
"""

from ..language import TInt32, TList, delay_mu, host_only, kernel, portable
from ..numeric import Wide, int32
from .chips.fastino import (
    BITS_PER_CYCLE,
    CFG,
    CIC,
    CIC_APPLY,
    CONTINUOUS,
    DAC,
    FRAME_WORD_BITS,
    FRAME_WORDS,
    HOLD,
    LEDS,
    UPDATE,
    checked_dac,
)
from .parts.channel import RTIODevice
from .parts.monitored import Monitored
from .parts.scales import Scale
from .rtio import rtio_output, rtio_output_wide

__all__ = ["Fastino"]


class _Volts(Scale):
    @portable
    def refuse(self):
        raise ValueError("DAC voltage out of bounds")


VOLTS = _Volts(bits=DAC.width, steps=DAC.code.steps, zero=0x8000)
QUIET = [
    (CFG.address, CFG.encode(clr_err=1)),
    (CFG.address, CFG.encode()),
    (CONTINUOUS.address, 0),
    (CIC.address, CIC.encode()),
    (CIC_APPLY.address, -1),
    (HOLD.address, 0),
    (LEDS.address, 0),
]
"""Register writes that bring a card into a known state, one per frame."""
ORDER = 3
"""Of the interpolating filter."""
HIGHEST_RATE = (CIC.rate_mantissa.mask + 1) << 10
"""Largest rate of an interpolator, in frames per sample."""


class Fastino(RTIODevice):
    """The Fastino on RTIO channel `channel`, which takes 2 ** `log2_width` DACs per event."""

    kernel_invariants = {"width", "t_frame"}

    def __init__(self, dmgr, channel, core_device="core", log2_width=0):
        super().__init__(dmgr, channel << 8, core_device)
        self.width = 1 << log2_width
        self.t_frame = Wide(FRAME_WORDS * FRAME_WORD_BITS * self.core.ref_multiplier // BITS_PER_CYCLE)

    @host_only
    def monitored(self):
        """Return the probes of all DACs: the last value written to each, in volts."""
        return [Monitored(n, self.channel >> 8, n, VOLTS.quantity, "V") for n in range(DAC.count)]

    @property
    def target(self):
        """Target word of address 0; `channel` of this device holds it already."""
        return self.channel

    @kernel
    def write(self, addr, data):
        """Write a register (int32)."""
        rtio_output(self.target + addr, data)

    @kernel
    def read(self, addr):
        """Not supported by the card: raises NotImplementedError."""
        raise NotImplementedError

    @kernel
    def init(self):
        """Bring the card into a known state: out of reset, errors cleared, no hold, no
        interpolation, LEDs off."""
        for address, word in QUIET:
            self.write(address, word)
            delay_mu(self.t_frame)

    # Codes and voltages

    @portable
    def voltage_to_mu(self, voltage) -> TInt32:
        """Code for a voltage. ValueError outside of -10 V to 9.9997 V."""
        return VOLTS.code(voltage)

    @portable
    def voltage_group_to_mu(self, voltage, data):
        """Fill `data` (int32) with the codes of a list of voltages, two per word, the first in the
        lower half."""
        for dac in range(0, len(voltage), 2):
            pair = int32(self.voltage_to_mu(voltage[dac]))
            if dac + 1 < len(voltage):
                pair |= int32(self.voltage_to_mu(voltage[dac + 1])) << DAC.width
            data[dac // 2] = pair

    @kernel
    def set_dac_mu(self, dac, data):
        """Write a code (16 bits) to a DAC. ValueError if there is no such DAC, or an event covers several DACs,
        since the others would be set to the lowest code: use `set_group_mu`."""
        if self.width != 1:
            raise ValueError("the DACs of this Fastino are grouped (log2_width): use set_group")
        self.write(DAC.address + checked_dac(dac), data)

    @kernel
    def set_dac(self, dac, voltage):
        """Set a DAC in volts; see `set_dac_mu`."""
        self.set_dac_mu(dac, self.voltage_to_mu(voltage))

    @kernel
    def set_group_mu(self, dac, data: TList(TInt32)):
        """Write codes, two per word, to the group of DACs that begins at `dac`. ValueError if no
        group does, or `data` is not for all DACs of the group: the others would be set to the lowest code."""
        self._check_group(dac, len(data) == (self.width + 1) // 2)
        rtio_output_wide(self.target + DAC.address + dac, data)

    @kernel
    def set_group(self, dac, voltage):
        """Set a group of DACs in volts (list of float, as long as the group); see `set_group_mu`."""
        self._check_group(dac, len(voltage) == self.width)
        words = [0 for _ in range((len(voltage) + 1) // 2)]
        self.voltage_group_to_mu(voltage, words)
        self.set_group_mu(dac, words)

    @kernel
    def _check_group(self, dac, whole):
        if checked_dac(dac) % self.width != 0:
            raise ValueError("no group of DACs begins with this one")
        if not whole:
            raise ValueError("a group of this Fastino has 2 ** log2_width DACs: give a value for each of them")

    # The card

    @kernel
    def update(self, update):
        """Let the next frame update the DACs in the mask `update`, and no others: it replaces what
        the codes written since the frame before would have updated."""
        self.write(UPDATE.address, update)

    @kernel
    def set_hold(self, hold):
        """Hold codes written to the DACs in the mask `hold` until `update`."""
        self.write(HOLD.address, hold)

    @kernel
    def set_continuous(self, channel_mask):
        """Update the DACs in the mask with every frame."""
        self.write(CONTINUOUS.address, channel_mask)

    @kernel
    def set_cfg(self, reset=0, afe_power_down=0, dac_clr=0, clr_err=0):
        """Set the configuration bits."""
        self.write(CFG.address, CFG.word(reset, afe_power_down, dac_clr, clr_err))

    @kernel
    def set_leds(self, leds):
        """Light the LEDs whose bits in `leds` (8 bits) are 1."""
        self.write(LEDS.address, leds)

    # Interpolation

    @kernel
    def stage_cic_mu(self, rate_mantissa, rate_exponent, gain_exponent):
        """Stage the interpolator setting that `apply_cic` applies: rate ``(rate_mantissa + 1) <<
        rate_exponent``, and the power of two by which the filter's gain is taken back. ValueError
        for a number that does not fit."""
        if rate_mantissa < 0 or rate_mantissa > CIC.rate_mantissa.mask:
            raise ValueError("rate_mantissa out of bounds")
        if rate_exponent < 0 or rate_exponent > CIC.rate_exponent.mask:
            raise ValueError("rate_exponent out of bounds")
        if gain_exponent < 0 or gain_exponent > CIC.gain_exponent.mask:
            raise ValueError("gain_exponent out of bounds")
        self.write(CIC.address, CIC.word(rate_mantissa, rate_exponent, gain_exponent))

    @kernel
    def stage_cic(self, rate) -> TInt32:
        """Stage the interpolator setting for a rate of 1 to 65536 frames per sample, and return the
        rate that it has: at most `rate`. ValueError if it is out of range."""
        if rate < 1 or rate > HIGHEST_RATE:
            raise ValueError("rate out of bounds")
        mantissa, exponent = rate, 0
        while mantissa > CIC.rate_mantissa.mask + 1:
            mantissa >>= 1
            exponent += 1
        # The filter of third order has a gain of mantissa ** 3 between its stages of a power of two
        gain, grown = 0, 1
        while grown < mantissa * mantissa * mantissa:
            grown <<= 1
            gain += 1
        self.stage_cic_mu(mantissa - 1, exponent, gain + ORDER * exponent)
        return mantissa << exponent

    @kernel
    def apply_cic(self, channel_mask):
        """Apply the interpolator setting to the DACs in the mask, whose filters are reset. The next
        frame carries the setting and updates no DAC: codes that are written before it begins are
        stored only."""
        self.write(CIC_APPLY.address, channel_mask)
