"""Almazny: output stages of the four channels of a Mirny, with an attenuator of 0 to 31.5 dB and a switch for each."""

from ..language import TFloat, TInt32, delay, kernel, portable, us
from .chips.almazny import ATT_BITS, ATT_STEPS, CHANNEL, LEGACY, checked_channel
from .chips.mirny import CONTROL, EXTENSION
from .parts.scales import Scale

__all__ = ["AlmaznyChannel", "AlmaznyLegacy"]

EXT_DIV = 32
"""SPI clock divider for the shift registers, in coarse cycles."""
CHANNELS = 4


class _Attenuation(Scale):
    @portable
    def refuse(self):
        raise ValueError("the attenuation of an Almazny is between 0 and 31.5 dB")


ATTENUATION = _Attenuation(bits=ATT_BITS, steps=ATT_STEPS)


@portable
def _mirrored(att_mu) -> TInt32:
    """The steps of an attenuation as the shift registers take them: the highest bit last."""
    found = 0
    for place in range(ATT_BITS):
        found = (found << 1) | ((att_mu >> place) & 1)
    return found


class AlmaznyLegacy:
    """An Almazny of revision 1.1 on the Mirny `host_mirny`; controls all channels together."""

    kernel_invariants = {"core", "mirny_cpld"}

    def __init__(self, dmgr, host_mirny):
        self.mirny_cpld = dmgr.get(host_mirny)
        self.core = self.mirny_cpld.core
        self.output_enable = False

    @kernel
    def init(self):
        """Restore the outputs' on/off state, initially off. The Mirny must be initialised first."""
        self.output_toggle(self.output_enable)

    @portable
    def att_to_mu(self, att) -> TInt32:
        """Setting for an attenuation in dB (float), steps of 0.5 dB. ValueError if it is out of range."""
        return ATTENUATION.code(att)

    @portable
    def mu_to_att(self, att_mu) -> TFloat:
        """Attenuation in dB of a setting."""
        return ATTENUATION.quantity(att_mu)

    @kernel
    def set_att(self, channel, att, rf_switch: TInt32 = 1):
        """Set the attenuation of a channel in dB (float), and its switch."""
        self.set_att_mu(channel, self.att_to_mu(att), rf_switch)

    @kernel
    def set_att_mu(self, channel, att_mu, rf_switch: TInt32 = 1):
        """Set the attenuation of a channel in steps of 0.5 dB (0 to 63), and its switch."""
        word = LEGACY.word(rf_switch=1 if rf_switch else 0, reversed_att=_mirrored(att_mu))
        self.mirny_cpld.write_ext(EXTENSION + checked_channel(channel), LEGACY.width, word, EXT_DIV)

    @kernel
    def output_toggle(self, oe):
        """Switch all outputs on (True) or off."""
        self.output_enable = oe
        word = self.mirny_cpld.read_reg(CONTROL.address)
        delay(100 * us)
        self.mirny_cpld.write_reg(CONTROL.address, CONTROL.almazny_oe.switch_at(word, 0, oe))
        delay(100 * us)


class AlmaznyChannel:
    """Channel `channel` (0 to 3) of an Almazny of revision 1.2 or later on the Mirny `host_mirny`."""

    kernel_invariants = {"channel", "core", "mirny_cpld"}

    def __init__(self, dmgr, host_mirny, channel):
        if channel not in range(CHANNELS):
            raise ValueError(f"channel of an Almazny is between 0 and {CHANNELS - 1}, not {channel}")
        self.channel = channel
        self.mirny_cpld = dmgr.get(host_mirny)
        self.core = self.mirny_cpld.core

    @portable
    def to_mu(self, att, enable, led) -> TInt32:
        """Setting for an attenuation in dB (float, steps of 0.5 dB), output and LED on or off.
        ValueError if the attenuation is out of range."""
        return CHANNEL.word(1 if led else 0, 1 if enable else 0, _mirrored(ATTENUATION.code(att)))

    @kernel
    def set_mu(self, mu):
        """Write a setting (8 bits)."""
        self.mirny_cpld.write_ext(EXTENSION + self.channel, CHANNEL.width, mu, EXT_DIV)

    @kernel
    def set(self, att, enable, led: TInt32 = 0):
        """Set attenuation in dB (float), output and LED (True or 1: on)."""
        self.set_mu(self.to_mu(att, enable, led))
