"""Card with 16 DAC channels: of each a cubic spline for its level, one for an amplitude, and a chirp.

Source: Sinara Shuttler, words of its drivers; `phy/shuttler.py`; Analog Devices, AD4115 data sheet, "Register details".

Generated from src/contracts/chips/shuttler.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ADC_CHANNEL",
    "ADC_DATA",
    "ADC_DIVIDER",
    "ADC_FILTER",
    "ADC_GAIN",
    "ADC_ID",
    "ADC_ID_VALUE",
    "ADC_INTERFACE",
    "ADC_MODE",
    "ADC_OFFSET",
    "ADC_REFERENCE",
    "ADC_RESET_BITS",
    "ADC_SETTLED_RATE",
    "ADC_SETUP",
    "ADC_STATUS",
    "COMMUNICATION",
    "DAC_BITS",
    "FRACTION_BITS",
    "GAIN_STEPS",
    "LATENCY",
    "LEVEL_BITS",
    "LEVEL_WORDS",
    "OUTPUTS",
    "OUTPUT_SPAN",
    "PORT",
    "TONE_GAIN",
    "TONE_WORDS",
    "WORD_BITS",
    "checked_output",
]

OUTPUTS = 16
"""outputs of a card"""

LEVEL_BITS = 16
"""bits of a level, two's complement; the DAC gets the upper 14"""

DAC_BITS = 14
"""bits of a DAC"""

FRACTION_BITS = 32
"""fraction of the levels and phases that the gateware accumulates"""

TONE_GAIN = 1.6467602581
"""factor of an amplitude: the gain of a CORDIC, for which drivers compensate"""

GAIN_STEPS = 0x10000
"""an output is multiplied by 1 + gain / GAIN_STEPS"""

WORD_BITS = 16
"""bits of a coefficient in an event"""

ADC_ID_VALUE = 0x38D0
"""value of ADC_ID, ignoring the lowest four bits"""

ADC_RESET_BITS = 64
"""clock cycles with the data high that reset the ADC"""

ADC_REFERENCE = 2.5
"""internal reference, V"""

ADC_DIVIDER = 0.1
"""in front of each voltage input"""

ADC_SETTLED_RATE = 24845.0
"""settled conversions a second at the fastest rate"""

LATENCY = 16
"""cycles of 8 ns from a trigger, or from a setting, to the first sample at the connector"""

OUTPUT_SPAN = 20.0
"""range of an output, V"""

LEVEL_WORDS = (
    (1, 16, 0),
    (2, 32, 16),
    (3, 48, 32),
    (3, 48, 32),
)
"""Events for coefficients a0 to a3 of the level, the lowest bits first; fraction: bits below a 16-bit step. A row:
words, bits, fraction."""

TONE_WORDS = (
    (1, 16, 0),
    (2, 32, 16),
    (3, 48, 32),
    (3, 48, 32),
    (1, 16, 16),
    (2, 32, 32),
    (2, 32, 32),
)
"""Events for b0 to b3 of the amplitude, with fractions as above, and c0 to c2 of the phase: below a turn. A row: words,
bits, fraction."""


class PORT(Register):
    """RTIO address of the card's settings; data: 16 bits, two's complement; of CLEAR: a mask of the outputs."""

    chip = "Shuttler"
    width = 7

    read = Field(6, 1, doc="the setting is the answer, an input event")
    setting = Field(4, 2, values={"GAIN": 0, "OFFSET": 1, "CLEAR": 2}, doc="setting")
    output = Field(0, 4, doc="output; of CLEAR: 0")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, setting=0, output=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 6) | ((setting & 0x3) << 4) | (output & 0xF)


class COMMUNICATION(Register):
    """ADC: first byte of a message."""

    chip = "Shuttler"
    width = 8

    read = Field(6, 1, doc="the ADC sends the register")
    register = Field(0, 6, doc="register")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, register=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 6) | (register & 0x3F)


class ADC_STATUS(Register):
    """ADC: status."""

    chip = "Shuttler"
    width = 8
    address = 0x00
    reset = 0x80

    not_ready = Field(7, 1, reset=1, doc="no new result")
    adc_error = Field(6, 1, doc="the input was out of range")
    channel = Field(0, 4, doc="channel of the result")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(not_ready=1, adc_error=0, channel=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((not_ready & 0x1) << 7) | ((adc_error & 0x1) << 6) | (channel & 0xF)


class ADC_MODE(Register):
    """ADC: mode."""

    chip = "Shuttler"
    width = 16
    address = 0x01
    reset = 0x2000

    ref_en = Field(15, 1, doc="internal reference on")
    sing_cyc = Field(13, 1, reset=1, doc="output only settled conversions")
    delay = Field(8, 3, doc="delay after a change of channel")
    mode = Field(
        4,
        3,
        values={"CONTINUOUS": 0, "SINGLE": 1, "STANDBY": 2, "POWER_DOWN": 3},
        doc="mode, 4 to 7 calibrate",
    )
    clocksel = Field(2, 2, doc="clock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ref_en=0, sing_cyc=1, delay=0, mode=0, clocksel=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((ref_en & 0x1) << 15)
            | ((sing_cyc & 0x1) << 13)
            | ((delay & 0x7) << 8)
            | ((mode & 0x7) << 4)
            | ((clocksel & 0x3) << 2)
        )


class ADC_ID(Register):
    """ADC: identification; the AD4115 has 0x38d, in the lowest four bits anything."""

    chip = "Shuttler"
    width = 16
    address = 0x07

    product = Field(4, 12, doc="kind of chip")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(product=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (product & 0xFFF) << 4


class ADC_INTERFACE(Register):
    """ADC: header of a message."""

    chip = "Shuttler"
    width = 16
    address = 0x02

    data_status = Field(6, 1, doc="the status follows each result")
    short_data = Field(0, 1, doc="results have 16 bits")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(data_status=0, short_data=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((data_status & 0x1) << 6) | (short_data & 0x1)


class ADC_CHANNEL(Register):
    """ADC: channel 0 of 16; the others have 0x0001 after a reset."""

    chip = "Shuttler"
    width = 16
    address = 0x10
    reset = 0x8001

    enable = Field(15, 1, reset=1, doc="it is converted")
    setup = Field(12, 3, doc="number of its setup")
    input = Field(0, 10, reset=1, doc="pair of inputs; VINn against VINCOM: (n << 5) + 16")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(enable=1, setup=0, input=1) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((enable & 0x1) << 15) | ((setup & 0x7) << 12) | (input & 0x3FF)


class ADC_SETUP(Register):
    """ADC: setup 0 of 8."""

    chip = "Shuttler"
    width = 16
    address = 0x20
    reset = 0x1000

    bipolar = Field(12, 1, reset=1, doc="codes are offset binary")
    buffers = Field(8, 2, doc="buffers of both inputs on")
    reference = Field(4, 2, values={"EXTERNAL": 0, "INTERNAL": 2, "SUPPLY": 3}, doc="reference")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(bipolar=1, buffers=0, reference=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((bipolar & 0x1) << 12) | ((buffers & 0x3) << 8) | ((reference & 0x3) << 4)


class ADC_FILTER(Register):
    """ADC: filter 0 of 8."""

    chip = "Shuttler"
    width = 16
    address = 0x28
    reset = 0x0500

    rate = Field(0, 5, doc="output data rate, 0 the fastest")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(rate=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x500 | (rate & 0x1F)


class ADC_OFFSET(Register):
    """ADC: offset 0 of 8."""

    chip = "Shuttler"
    width = 24
    address = 0x30
    reset = 0x800000

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x800000


class ADC_GAIN(Register):
    """ADC: gain 0 of 8."""

    chip = "Shuttler"
    width = 24
    address = 0x38
    reset = 0x555555

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x555555


class ADC_DATA(Register):
    """ADC: result."""

    chip = "Shuttler"
    width = 24
    address = 0x04

    code = Field(0, 24, doc="code")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(code=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return code & 0xFFFFFF


@portable
def checked_output(index) -> TInt32:
    """Return `index` if it is one of the outputs. ValueError for another number."""
    if index < 0 or index >= 16:
        raise ValueError("the outputs of a Shuttler are 0 to 15")
    return index
