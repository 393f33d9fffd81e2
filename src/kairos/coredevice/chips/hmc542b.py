"""Digital step attenuator, 0 to 31.5 dB in steps of 0.5 dB.

Source: Analog Devices, HMC542B data sheet, sections "Truth table" and "Serial input".

Generated from src/contracts/chips/hmc542b.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "SETTING",
]


class SETTING(Register):
    """Shift register."""

    chip = "HMC542B"
    width = 8
    reset = 0x00

    att = Field(2, 6, unit="dB", steps=2, doc="63 less the attenuation")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(att=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (att & 0x3F) << 2
