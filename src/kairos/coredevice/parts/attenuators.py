"""Digital step attenuators of several channels, set in decibels."""

from ...language import TFloat, TInt32, kernel, portable
from .scales import Scale

__all__ = ["StepAttenuators", "step_scale"]


def step_scale(kind=Scale):
    """Scale of attenuators with 8 bits and steps of 1/8 dB, whose code 255 means no attenuation."""
    return kind(bits=8, steps=-8, zero=255)


class StepAttenuators:
    """Base of a card with attenuators, which supplies the `Scale` `attenuation` and the kernel
    method ``set_att_mu(channel, code)`` to set codes."""

    attenuation = step_scale()

    @portable
    def mu_to_att(self, att_mu) -> TFloat:
        """Attenuation in dB of a setting."""
        return self.attenuation.quantity(att_mu & self.attenuation.highest)

    @portable
    def att_to_mu(self, att) -> TInt32:
        """Setting for an attenuation in dB (float). ValueError if it is out of range."""
        return self.attenuation.code(att)

    @kernel
    def set_att(self, channel, att):
        """Set the attenuation of a channel in dB (float). ValueError if it is out of range."""
        self.set_att_mu(channel, self.att_to_mu(att))
