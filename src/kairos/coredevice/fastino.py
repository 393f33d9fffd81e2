"""Fastino: a card with 32 DAC channels of 16 bits, each updated up to 2.55 million times a second.

Writes take no time on the timeline; a frame to the card, which has room for all channels, takes `t_frame`.
"""

from numpy import int64

from ..language import TInt32, TList, delay_mu, kernel, portable
from .rtio import rtio_output, rtio_output_wide

__all__ = ["Fastino"]


class Fastino:
    """The Fastino on RTIO channel `channel`, which takes 2 ** `log2_width` DACs in an event."""

    kernel_invariants = {"core", "channel", "width", "t_frame"}

    def __init__(self, dmgr, channel, core_device="core", log2_width=0):
        self.channel = channel << 8
        self.core = dmgr.get(core_device)
        self.width = 1 << log2_width
        # 14 words of 7 bits, two bits in a coarse cycle
        self.t_frame = int64(14 * 7 * self.core.ref_multiplier // 2)

    @staticmethod
    def get_rtio_channels(channel, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel, None)]

    @kernel
    def init(self):
        """Bring the card into a known state: out of reset, no errors, nothing held, LEDs off."""
        self.set_cfg(reset=0, afe_power_down=0, dac_clr=0, clr_err=1)
        delay_mu(self.t_frame)
        self.set_cfg(reset=0, afe_power_down=0, dac_clr=0, clr_err=0)
        delay_mu(self.t_frame)
        self.set_continuous(0)
        delay_mu(self.t_frame)
        self.stage_cic_mu(0, 0, 0)
        delay_mu(self.t_frame)
        self.apply_cic(0xFFFFFFFF)
        delay_mu(self.t_frame)
        self.set_hold(0)
        delay_mu(self.t_frame)
        self.set_leds(0)
        delay_mu(self.t_frame)

    @kernel
    def write(self, addr, data):
        """Write a register (int32)."""
        rtio_output(self.channel | addr, data)

    @kernel
    def read(self, addr):
        """The card cannot be read."""
        raise NotImplementedError

    @kernel
    def set_dac_mu(self, dac, data):
        """Write a code (16 bits) to a DAC."""
        self.write(dac, data)

    @kernel
    def set_group_mu(self, dac, data: TList(TInt32)):
        """Write codes, two to a word, to the group of DACs that begins at `dac`. ValueError if none does."""
        if dac & (self.width - 1) != 0:
            raise ValueError("no group of DACs begins with this one")
        rtio_output_wide(self.channel | dac, data)

    @portable
    def voltage_to_mu(self, voltage):
        """Code for a voltage. ValueError outside of -10 V to 9.9997 V."""
        data = int(round((0x8000 / 10.0) * voltage)) + 0x8000
        if data < 0 or data > 0xFFFF:
            raise ValueError("DAC voltage out of bounds")
        return data

    @portable
    def voltage_group_to_mu(self, voltage, data):
        """Fill `data` with the codes of a list of voltages, two to a word."""
        for i in range(len(voltage)):
            v = self.voltage_to_mu(voltage[i])
            if i & 1:
                v = data[i // 2] | (v << 16)
            data[i // 2] = v

    @kernel
    def set_dac(self, dac, voltage):
        """Set a DAC in volts."""
        self.set_dac_mu(dac, self.voltage_to_mu(voltage))

    @kernel
    def set_group(self, dac, voltage):
        """Set a group of DACs in volts (list of float)."""
        data = [0] * ((len(voltage) + 1) // 2)
        self.voltage_group_to_mu(voltage, data)
        self.set_group_mu(dac, data)

    @kernel
    def update(self, update):
        """Make held data of the DACs in the mask `update` their output."""
        self.write(0x20, update)

    @kernel
    def set_hold(self, hold):
        """Hold data that is written to the DACs in the mask `hold` until `update`."""
        self.write(0x21, hold)

    @kernel
    def set_cfg(self, reset=0, afe_power_down=0, dac_clr=0, clr_err=0):
        """Set the configuration bits."""
        self.write(0x22, reset | (afe_power_down << 1) | (dac_clr << 2) | (clr_err << 3))

    @kernel
    def set_leds(self, leds):
        """Light the LEDs whose bits in `leds` (8 bits) are 1."""
        self.write(0x23, leds)

    @kernel
    def set_continuous(self, channel_mask):
        """Update the DACs in the mask with every frame."""
        self.write(0x25, channel_mask)

    @kernel
    def stage_cic_mu(self, rate_mantissa, rate_exponent, gain_exponent):
        """Give the interpolator setting that `apply_cic` applies."""
        self.write(0x26, rate_mantissa | (rate_exponent << 6) | (gain_exponent << 10))

    @kernel
    def apply_cic(self, channel_mask):
        """Apply the interpolator setting to the DACs in the mask."""
        self.write(0x27, channel_mask)
