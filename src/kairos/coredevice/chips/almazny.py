"""Output stages of four channels on top of a Mirny: an attenuator of 0 to 31.5 dB and a switch for each.

Source: Sinara Almazny, revisions 1.1 (legacy), 1.2 and later.

Generated from src/contracts/chips/almazny.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ATT_BITS",
    "ATT_STEPS",
    "CHANNEL",
    "LEGACY",
    "checked_channel",
]

ATT_BITS = 6
"""bits of an attenuation"""

ATT_STEPS = 2
"""steps of an attenuation in a dB"""


class LEGACY(Register):
    """Shift register of a channel, revision 1.1."""

    chip = "Almazny"
    width = 8

    rf_switch = Field(6, 1, doc="output on")
    reversed_att = Field(0, 6, doc="attenuation in steps of 0.5 dB, with reversed bit order")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(rf_switch=0, reversed_att=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((rf_switch & 0x1) << 6) | (reversed_att & 0x3F)


class CHANNEL(Register):
    """Shift register of a channel, revision 1.2 and later."""

    chip = "Almazny"
    width = 8

    led = Field(7, 1, doc="light the LED")
    enable = Field(6, 1, doc="output on")
    reversed_att = Field(0, 6, doc="attenuation in steps of 0.5 dB, with reversed bit order")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(led=0, enable=0, reversed_att=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((led & 0x1) << 7) | ((enable & 0x1) << 6) | (reversed_att & 0x3F)


@portable
def checked_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 4:
        raise ValueError("the channels of an Almazny are 0 to 3")
    return index
