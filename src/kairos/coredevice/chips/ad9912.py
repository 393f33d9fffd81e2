"""Direct digital synthesiser, 1 GS/s, 14 bits, with a frequency word of 48 bits.

Source: Analog Devices, AD9912 data sheet, sections "Serial control port" and "I/O register map".

Generated from src/contracts/chips/ad9912.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, TTuple, portable
from ..registers import Field, Register, WideField

__all__ = [
    "FREQUENCY",
    "INSTRUCTION",
    "LOWER_FREQUENCY",
    "N_DIVIDER",
    "PART_ID",
    "PHASE",
    "PLL",
    "POWER",
    "SERIAL_CONFIG",
    "SLOW_REFERENCE",
    "TONE",
]

LOWER_FREQUENCY = 0x1A9
"""address of the highest of the frequency word's lower four bytes"""

SLOW_REFERENCE = 0xA7D8C0
"""references below this, in Hz, are doubled"""


class INSTRUCTION(Register):
    """Header of a message on the serial port, followed by the data."""

    chip = "AD9912"
    width = 16

    read = Field(15, 1, doc="the chip sends the data")
    length = Field(13, 2, values={"STREAM": 3}, doc="bytes less one")
    register = Field(0, 13, doc="address of the first byte")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, length=0, register=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 15) | ((length & 0x3) << 13) | (register & 0x1FFF)


class SERIAL_CONFIG(Register):
    """Serial port; each bit occurs twice, mirrored."""

    chip = "AD9912"
    width = 8
    address = 0x00
    reset = 0x18

    sdo_active = Field(7, 1, doc="separate pin for output data")
    lsb_first = Field(6, 1, doc="lowest bit first")
    soft_reset = Field(5, 1, doc="reset")
    long_instruction = Field(4, 1, reset=1, doc="instructions of 16 bits")
    mirrored = Field(0, 4, reset=8, doc="the same bits, mirrored")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(sdo_active=0, lsb_first=0, soft_reset=0, long_instruction=1, mirrored=8) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((sdo_active & 0x1) << 7)
            | ((lsb_first & 0x1) << 6)
            | ((soft_reset & 0x1) << 5)
            | ((long_instruction & 0x1) << 4)
            | (mirrored & 0xF)
        )


class PART_ID(Register):
    """Identification; read only."""

    chip = "AD9912"
    width = 16
    address = 0x03

    part = Field(0, 16, values={"AD9912": 6530, "AD9912_OTHER": 6402}, doc="kind of chip")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(part=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return part & 0xFFFF


class POWER(Register):
    """Power-down control."""

    chip = "AD9912"
    width = 8
    address = 0x10
    reset = 0x80

    hstl_off = Field(7, 1, reset=1, doc="power the HSTL driver down")
    cmos_on = Field(6, 1, doc="power the CMOS driver up")
    doubler_on = Field(5, 1, doc="power the doubler of the HSTL output up")
    pll_off = Field(4, 1, doc="system clock from the reference, PLL powered down")
    all_off = Field(1, 1, doc="power everything down")
    digital_off = Field(0, 1, doc="power the digital core down")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(hstl_off=1, cmos_on=0, doubler_on=0, pll_off=0, all_off=0, digital_off=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((hstl_off & 0x1) << 7)
            | ((cmos_on & 0x1) << 6)
            | ((doubler_on & 0x1) << 5)
            | ((pll_off & 0x1) << 4)
            | ((all_off & 0x1) << 1)
            | (digital_off & 0x1)
        )


class N_DIVIDER(Register):
    """Feedback divider of the PLL."""

    chip = "AD9912"
    width = 8
    address = 0x20
    reset = 0x12

    n = Field(0, 5, reset=18, doc="half of the multiplier, less two")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(n=18) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return n & 0x1F


class PLL(Register):
    """Parameters of the PLL."""

    chip = "AD9912"
    width = 8
    address = 0x22
    reset = 0x04

    vco_auto_range = Field(7, 1, doc="choose the oscillator's range automatically")
    doubler = Field(3, 1, doc="double the reference")
    vco_high_range = Field(2, 1, reset=1, doc="upper range of the oscillator")
    charge_pump = Field(0, 2, values={"UA250": 0, "UA375": 1, "OFF": 2, "UA125": 3}, doc="current")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(vco_auto_range=0, doubler=0, vco_high_range=1, charge_pump=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((vco_auto_range & 0x1) << 7) | ((doubler & 0x1) << 3) | ((vco_high_range & 0x1) << 2) | (charge_pump & 0x3)
        )


class FREQUENCY(Register):
    """Frequency word, six bytes from 0x1a6 on."""

    chip = "AD9912"
    width = 48
    address = 0x1AB

    upper = WideField(32, 16, doc="its upper bits")
    lower = WideField(0, 32, doc="its lower bits; their highest byte has the address 0x1a9")

    @staticmethod
    @portable(flags={"forceinline"})
    def words(upper=0, lower=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = upper & 0xFFFF
        low = lower
        return high, low


class PHASE(Register):
    """Phase word."""

    chip = "AD9912"
    width = 16
    address = 0x1AD

    pow = Field(0, 14, unit="turn", steps=0x4000, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pow=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return pow & 0x3FFF


class TONE(Register):
    """Phase and frequency words, in consecutive registers."""

    chip = "AD9912"
    width = 64
    address = 0x1AD

    pow = WideField(48, 16, doc="phase word")
    upper = WideField(32, 16, doc="frequency word, upper bits")
    lower = WideField(0, 32, doc="frequency word, lower bits")

    @staticmethod
    @portable(flags={"forceinline"})
    def words(pow=0, upper=0, lower=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = ((pow & 0xFFFF) << 16) | (upper & 0xFFFF)
        low = lower
        return high, low
