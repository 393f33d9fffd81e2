"""DAC of 16 or 14 bits with 8 to 40 channels, each with code, gain and offset; two offset DACs for groups.

Source: Analog Devices, AD5360 to AD5373 data sheets, section "Serial interface".

Generated from src/contracts/chips/ad53xx.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ALL_CHANNELS",
    "CHIPS",
    "CONTROL",
    "FIRST_CHANNEL",
    "OFS",
    "SELECT",
    "WORD",
    "checked_channel",
    "checked_zotino_channel",
]

FIRST_CHANNEL = 8
"""address of channel 0"""

ALL_CHANNELS = 40
"""channels of the largest of the chips"""

CHIPS = (
    (0x14F0, 16, 16, 8, 0x2000),
    (0x14F1, 16, 14, 8, 0x2000),
    (0x14F2, 8, 16, 4, 0x2000),
    (0x14F3, 8, 14, 4, 0x2000),
    (0x14FA, 40, 16, 8, 0x1555),
    (0x14FB, 40, 14, 8, 0x1555),
    (0x14FC, 32, 16, 8, 0x1FFF),
    (0x14FD, 32, 14, 8, 0x1FFF),
)
"""Variants of the chip: channels, bits of a code (14-bit codes are left-aligned in a word), channels per group (each
group has eight addresses), and reset value of the offset DACs. A row: part, channels, bits, per_group, offset."""


class WORD(Register):
    """A transfer to the serial port."""

    chip = "AD53xx"
    width = 24

    mode = Field(22, 2, values={"SPECIAL": 0, "GAIN": 1, "OFFSET": 2, "DATA": 3}, doc="destination of the value")
    target = Field(
        16,
        6,
        values={"CONTROL": 1, "OFS0": 2, "OFS1": 3, "READ": 5},
        doc="channel, counted from FIRST_CHANNEL on; or the special function",
    )
    data = Field(0, 16, doc="value")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(mode=0, target=0, data=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((mode & 0x3) << 22) | ((target & 0x3F) << 16) | (data & 0xFFFF)


class SELECT(Register):
    """Value of the special function READ: the register that the next transfer returns."""

    chip = "AD53xx"
    width = 16

    register = Field(13, 3, values={"X1A": 0, "X1B": 1, "OFFSET": 2, "GAIN": 3, "OTHER": 4}, doc="group of registers")
    channel = Field(
        7,
        6,
        values={"CONTROL": 1, "OFS0": 2, "OFS1": 3},
        doc="channel, counted from FIRST_CHANNEL on; or one of OTHER",
    )

    @staticmethod
    @portable(flags={"forceinline"})
    def word(register=0, channel=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((register & 0x7) << 13) | ((channel & 0x3F) << 7)


class CONTROL(Register):
    """Control register."""

    chip = "AD53xx"
    width = 16
    reset = 0x0000

    over_temperature = Field(4, 1, doc="over-temperature, above 130 degrees Celsius; read only")
    pec_error = Field(3, 1, doc="error in a checked transfer; read only")
    select_b = Field(2, 1, doc="register X1B instead of X1A")
    thermal_shutdown = Field(1, 1, doc="power down on over-temperature")
    power_down = Field(0, 1, doc="power down")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(over_temperature=0, pec_error=0, select_b=0, thermal_shutdown=0, power_down=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((over_temperature & 0x1) << 4)
            | ((pec_error & 0x1) << 3)
            | ((select_b & 0x1) << 2)
            | ((thermal_shutdown & 0x1) << 1)
            | (power_down & 0x1)
        )


class OFS(Register):
    """Offset DAC of a group of channels."""

    chip = "AD53xx"
    width = 14

    offset = Field(0, 14, doc="offset of the group, in steps of four codes")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(offset=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return offset & 0x3FFF


@portable
def checked_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 40:
        raise ValueError("the channels of an AD53xx are 0 to 39")
    return index


@portable
def checked_zotino_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 32:
        raise ValueError("the channels of a Zotino are 0 to 31")
    return index
