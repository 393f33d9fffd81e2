"""Card with 32 DAC channels of 16 bits. Addresses 0 to 31 are the DACs, an address of a group its first DAC.

Source: Sinara Fastino, RTIO channel of its link.

Generated from src/contracts/chips/fastino.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, TTuple, portable
from ..registers import Field, Register, WideField

__all__ = [
    "ANSWERS",
    "BITS_PER_CYCLE",
    "CFG",
    "CIC",
    "CIC_APPLY",
    "CLOCK_PATTERN",
    "CONTINUOUS",
    "CRC",
    "DAC",
    "FRAME",
    "FRAME_WORDS",
    "FRAME_WORD_BITS",
    "HOLD",
    "LANES",
    "LEDS",
    "READ",
    "RESERVED",
    "UPDATE",
    "checked_dac",
]

LANES = 6
"""data lanes of the link"""

CRC = 0x180F
"""polynomial of a frame's CRC"""

CLOCK_PATTERN = 99
"""levels of the clock lane in a word, the first one highest"""

FRAME_WORDS = 14
"""words of a frame on the link"""

FRAME_WORD_BITS = 7
"""bits of such a word"""

BITS_PER_CYCLE = 2
"""bits of the link in a coarse cycle"""

READ = 128
"""bit of an RTIO address: its low bits are the number of an answer register, which comes as an input event"""

ANSWERS = 16
"""answer registers of the card"""


class DAC(Register):
    """Code of a DAC."""

    chip = "Fastino"
    width = 16
    address = 0x00
    count = 32

    code = Field(0, 16, unit="V", steps=3276.8, doc="offset binary")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(code=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return code & 0xFFFF


class UPDATE(Register):
    """DACs that the next frame updates, instead of those written before."""

    chip = "Fastino"
    width = 32
    address = 0x20

    dac = Field(0, 1, count=32, doc="update this DAC")


class HOLD(Register):
    """DACs whose codes wait for an update."""

    chip = "Fastino"
    width = 32
    address = 0x21

    dac = Field(0, 1, count=32, doc="hold this DAC")


class CFG(Register):
    """Configuration."""

    chip = "Fastino"
    width = 4
    address = 0x22

    card_reset = Field(0, 1, doc="reset the card")
    afe_power_down = Field(1, 1, doc="power the output stages down")
    dac_clr = Field(2, 1, doc="clear all DACs")
    clr_err = Field(3, 1, doc="clear the card's error flags")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(card_reset=0, afe_power_down=0, dac_clr=0, clr_err=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (card_reset & 0x1) | ((afe_power_down & 0x1) << 1) | ((dac_clr & 0x1) << 2) | ((clr_err & 0x1) << 3)


class LEDS(Register):
    """LEDs."""

    chip = "Fastino"
    width = 8
    address = 0x23

    led = Field(0, 1, count=8, doc="light this LED")


class RESERVED(Register):
    """Reserved bits of each frame."""

    chip = "Fastino"
    width = 7
    address = 0x24

    bits = Field(0, 7, doc="sent as they are")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(bits=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return bits & 0x7F


class CONTINUOUS(Register):
    """DACs that are updated with every frame."""

    chip = "Fastino"
    width = 32
    address = 0x25

    dac = Field(0, 1, count=32, doc="update this DAC")


class CIC(Register):
    """Setting of an interpolator, to be applied."""

    chip = "Fastino"
    width = 16
    address = 0x26

    rate_mantissa = Field(0, 6, doc="rate change less one, mantissa")
    rate_exponent = Field(6, 4, doc="rate change, power of two")
    gain_exponent = Field(10, 6, doc="gain to be taken back, power of two")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(rate_mantissa=0, rate_exponent=0, gain_exponent=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (rate_mantissa & 0x3F) | ((rate_exponent & 0xF) << 6) | ((gain_exponent & 0x3F) << 10)


class CIC_APPLY(Register):
    """Interpolators that take over the setting with the next frame, which updates no DAC."""

    chip = "Fastino"
    width = 32
    address = 0x27

    dac = Field(0, 1, count=32, doc="the interpolator of this DAC")


class FRAME(Register):
    """Header of a frame's payload on the link, before the 32 codes, lowest bit first."""

    chip = "Fastino"
    width = 56

    configuration = WideField(0, 4, doc="as CFG")
    leds = WideField(4, 8, doc="as LEDS")
    kind = WideField(
        12,
        1,
        values={"CODES": 0, "INTERPOLATOR": 1},
        doc="what the 32 words are: codes, or each the interpolator setting",
    )
    reserved = WideField(13, 7, doc="as RESERVED")
    answer = WideField(20, 4, doc="answer register that the card sends, the next one in each frame")
    mask = WideField(24, 32, doc="DACs, or interpolators, that take their word")

    @staticmethod
    @portable(flags={"forceinline"})
    def words(configuration=0, leds=0, kind=0, reserved=0, answer=0, mask=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = (mask >> 8) & 0xFFFFFF
        low = (
            (configuration & 0xF)
            | ((leds & 0xFF) << 4)
            | ((kind & 0x1) << 12)
            | ((reserved & 0x7F) << 13)
            | ((answer & 0xF) << 20)
            | ((mask & 0xFF) << 24)
        )
        return high, low


@portable
def checked_dac(index) -> TInt32:
    """Return `index` if it is one of the DACs. ValueError for another number."""
    if index < 0 or index >= 32:
        raise ValueError("the DACs of a Fastino are 0 to 31")
    return index
