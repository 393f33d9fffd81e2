"""Direct digital synthesiser, 75 MHz, 10 bits: two frequency and two phase registers.

Source: Analog Devices, AD9834 data sheet, sections "Functional description" and "Writing to the AD9834".

Generated from src/contracts/chips/ad9834.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "CONTROL",
    "FREQUENCY",
    "FTW_BITS",
    "PHASE",
    "checked_frequency_register",
    "checked_phase_register",
]

FTW_BITS = 28
"""bits of a frequency word, a turn in each clock cycle"""


class CONTROL(Register):
    """Control word."""

    chip = "AD9834"
    width = 16
    reset = 0x0000

    b28 = Field(13, 1, doc="a frequency is written as two words, the lower one first")
    hlb = Field(12, 1, doc="without b28: a frequency word is the upper half")
    fsel = Field(11, 1, doc="frequency register in use")
    psel = Field(10, 1, doc="phase register in use")
    pin_sw = Field(9, 1, doc="pins select registers, reset and sleep")
    core_reset = Field(8, 1, doc="hold the phase at zero, output at midscale")
    sleep1 = Field(7, 1, doc="stop the clock")
    sleep12 = Field(6, 1, doc="power the DAC down")
    opbiten = Field(5, 1, doc="pin SIGN BIT OUT on")
    sign_pib = Field(4, 1, doc="this pin outputs the comparator instead of the MSB of the DAC")
    div2 = Field(3, 1, doc="the output of this pin is not divided by two")
    mode = Field(1, 1, doc="triangle instead of sine")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        b28=0,
        hlb=0,
        fsel=0,
        psel=0,
        pin_sw=0,
        core_reset=0,
        sleep1=0,
        sleep12=0,
        opbiten=0,
        sign_pib=0,
        div2=0,
        mode=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((b28 & 0x1) << 13)
            | ((hlb & 0x1) << 12)
            | ((fsel & 0x1) << 11)
            | ((psel & 0x1) << 10)
            | ((pin_sw & 0x1) << 9)
            | ((core_reset & 0x1) << 8)
            | ((sleep1 & 0x1) << 7)
            | ((sleep12 & 0x1) << 6)
            | ((opbiten & 0x1) << 5)
            | ((sign_pib & 0x1) << 4)
            | ((div2 & 0x1) << 3)
            | ((mode & 0x1) << 1)
        )


class FREQUENCY(Register):
    """Half of a frequency word."""

    chip = "AD9834"
    width = 16

    second = Field(15, 1, doc="of register 1")
    first = Field(14, 1, doc="of register 0")
    half = Field(0, 14, doc="14 bits")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(second=0, first=0, half=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((second & 0x1) << 15) | ((first & 0x1) << 14) | (half & 0x3FFF)


class PHASE(Register):
    """A phase word."""

    chip = "AD9834"
    width = 16
    reset = 0xC000

    register = Field(13, 1, doc="register")
    pow = Field(0, 12, unit="turn", steps=0x1000, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(register=0, pow=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0xC000 | ((register & 0x1) << 13) | (pow & 0xFFF)


@portable
def checked_frequency_register(index) -> TInt32:
    """Return `index` if it is one of the frequency registers. ValueError for another number."""
    if index < 0 or index >= 2:
        raise ValueError("the frequency registers of an AD9834 are 0 and 1")
    return index


@portable
def checked_phase_register(index) -> TInt32:
    """Return `index` if it is one of the phase registers. ValueError for another number."""
    if index < 0 or index >= 2:
        raise ValueError("the phase registers of an AD9834 are 0 and 1")
    return index
