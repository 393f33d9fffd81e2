"""HMC542B: a digital step attenuator on an SPI bus.

Machine units: 255 minus the attenuation in units of 1/8 dB, as for the attenuators of an Urukul.
The chip has steps of 0.5 dB and ignores finer settings, rounding the attenuation down.
"""

from ..language import kernel, portable
from .chips.hmc542b import SETTING
from .parts.attenuators import step_scale
from .parts.scales import Scale
from .parts.spi import Transfer

__all__ = ["HMC542B"]


class _Attenuation(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid HMC542B attenuation!")


ATTENUATION = step_scale(_Attenuation)


class HMC542B:
    """The attenuator on the SPI bus `spi_device`."""

    kernel_invariants = {"bus", "core"}

    setting = Transfer(length=SETTING.width, div=5, cs=1)

    def __init__(self, dmgr, spi_device, core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)

    @portable
    def att_to_mu(self, att):
        """Setting for an attenuation in dB (float). ValueError if it is out of range."""
        return ATTENUATION.code(att)

    @portable
    def mu_to_att(self, att_mu):
        """Attenuation in dB of a setting."""
        return ATTENUATION.quantity(att_mu & ATTENUATION.highest)

    @kernel
    def set_att_mu(self, att):
        """Set the attenuation in machine units, 0 to 255."""
        self.setting.send(att)

    @kernel
    def set_att(self, att):
        """Set the attenuation in dB (float)."""
        self.set_att_mu(self.att_to_mu(att))
