"""Fractional-N PLL with oscillator, 53.125 MHz to 6.8 GHz.

Source: Analog Devices, ADF5356 data sheet, section "Register maps".

Generated from src/contracts/chips/adf5356.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ALC_WAIT",
    "BAND_CLOCK",
    "BLEED_PFD",
    "BLEED_STEPS",
    "CALIBRATION_PFD",
    "HIGHEST_MODULUS2",
    "HIGHEST_PFD",
    "HIGHEST_R",
    "HIGHEST_SINGLE_ENDED",
    "HIGHEST_VCO",
    "LAST",
    "LEAST_N",
    "LEAST_PRESCALED_N",
    "LOCK_WAIT",
    "LOWEST_VCO",
    "MODULUS1",
    "PRESCALED",
    "R0",
    "R1",
    "R10",
    "R11",
    "R12",
    "R13",
    "R2",
    "R3",
    "R4",
    "R5",
    "R6",
    "R7",
    "R8",
    "R9",
    "TIMEOUT",
]

LAST = 13
"""number of the last register"""

MODULUS1 = 0x1000000
"""modulus of the first fraction"""

HIGHEST_MODULUS2 = 0xFFFFFFF
"""highest modulus of the second fraction"""

LOWEST_VCO = 3400000000.0
"""lowest frequency of the oscillator, Hz"""

HIGHEST_VCO = 6800000000.0
"""highest frequency of the oscillator, Hz"""

PRESCALED = 6000000000.0
"""above this frequency of the oscillator, in Hz, the prescaler is 8/9"""

LEAST_N = 23
"""lowest whole part of the divider, with the prescaler 4/5"""

LEAST_PRESCALED_N = 75
"""lowest whole part of the divider, with the prescaler 8/9"""

HIGHEST_PFD = 125000000.0
"""highest frequency of the phase detector, Hz"""

CALIBRATION_PFD = 75000000.0
"""highest frequency of the phase detector at which the oscillator is calibrated, Hz"""

HIGHEST_SINGLE_ENDED = 250000000.0
"""highest reference at a single-ended input, Hz"""

HIGHEST_R = 0x3FF
"""highest divider of the reference"""

BLEED_STEPS = 24
"""bleed current for a phase detector at BLEED_PFD"""

BLEED_PFD = 0x3A98000
"""the phase detector's frequency for BLEED_STEPS, Hz"""

BAND_CLOCK = 0x27100
"""clock of the band selection, Hz: the settings that run on real cards"""

ALC_WAIT = 31
"""units of the timeout for the level of the oscillator"""

LOCK_WAIT = 13
"""units of the timeout for the lock"""

TIMEOUT = 103
"""unit of both times, in periods of the phase detector"""


class R0(Register):
    """Integer part; a write ends an update."""

    chip = "ADF5356"
    width = 32
    address = 0x00
    reset = 0x00000000

    autocal = Field(21, 1, doc="calibrate the oscillator")
    prescaler = Field(20, 1, values={"P4_5": 0, "P8_9": 1}, doc="prescaler")
    n = Field(4, 16, doc="whole part of the divider")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(autocal=0, prescaler=0, n=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((autocal & 0x1) << 21) | ((prescaler & 0x1) << 20) | ((n & 0xFFFF) << 4)


class R1(Register):
    """First fraction."""

    chip = "ADF5356"
    width = 32
    address = 0x01
    reset = 0x00000001

    frac1 = Field(4, 24, doc="of 2^24")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(frac1=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 1 | ((frac1 & 0xFFFFFF) << 4)


class R2(Register):
    """Second fraction, lower bits."""

    chip = "ADF5356"
    width = 32
    address = 0x02
    reset = 0x00000002

    frac2 = Field(18, 14, doc="numerator")
    mod2 = Field(4, 14, doc="denominator")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(frac2=0, mod2=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 2 | ((frac2 & 0x3FFF) << 18) | ((mod2 & 0x3FFF) << 4)


class R3(Register):
    """Phase."""

    chip = "ADF5356"
    width = 32
    address = 0x03
    reset = 0x00000003

    phase = Field(4, 24, doc="phase word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 3 | ((phase & 0xFFFFFF) << 4)


class R4(Register):
    """Reference, charge pump."""

    chip = "ADF5356"
    width = 32
    address = 0x04
    reset = 0x00000004

    muxout = Field(
        27,
        3,
        values={"OFF": 0, "HIGH": 1, "LOW": 2, "R_DIVIDER": 3, "N_DIVIDER": 4, "ANALOG_LOCK": 5, "DIGITAL_LOCK": 6},
        doc="signal at the pin MUXOUT",
    )
    r_doubler = Field(26, 1, doc="double the reference")
    r_div2 = Field(25, 1, doc="halve the reference after its divider")
    r_counter = Field(15, 10, range=(1, 1023), doc="divider of the reference")
    double_buffer = Field(14, 1, doc="RF divider takes effect with R0")
    current = Field(10, 4, doc="charge pump, in steps of 0.3125 mA from the first one on")
    ref_mode = Field(9, 1, values={"SINGLE_ENDED": 0, "DIFFERENTIAL": 1}, doc="reference input")
    mux_logic = Field(8, 1, values={"V1_8": 0, "V3_3": 1}, doc="levels")
    pd_polarity = Field(7, 1, values={"NEGATIVE": 0, "POSITIVE": 1}, doc="phase detector")
    power_down = Field(6, 1, doc="power down")
    cp_three_state = Field(5, 1, doc="charge pump off")
    counter_reset = Field(4, 1, doc="hold the dividers in reset")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        muxout=0,
        r_doubler=0,
        r_div2=0,
        r_counter=0,
        double_buffer=0,
        current=0,
        ref_mode=0,
        mux_logic=0,
        pd_polarity=0,
        power_down=0,
        cp_three_state=0,
        counter_reset=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            4
            | ((muxout & 0x7) << 27)
            | ((r_doubler & 0x1) << 26)
            | ((r_div2 & 0x1) << 25)
            | ((r_counter & 0x3FF) << 15)
            | ((double_buffer & 0x1) << 14)
            | ((current & 0xF) << 10)
            | ((ref_mode & 0x1) << 9)
            | ((mux_logic & 0x1) << 8)
            | ((pd_polarity & 0x1) << 7)
            | ((power_down & 0x1) << 6)
            | ((cp_three_state & 0x1) << 5)
            | ((counter_reset & 0x1) << 4)
        )


class R5(Register):
    """Reserved."""

    chip = "ADF5356"
    width = 32
    address = 0x05
    reset = 0x00800025

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x800025


class R6(Register):
    """Outputs."""

    chip = "ADF5356"
    width = 32
    address = 0x06
    reset = 0x14000006

    negative_bleed = Field(29, 1, doc="bleed current on")
    feedback = Field(24, 1, values={"DIVIDED": 0, "FUNDAMENTAL": 1}, doc="input of the divider")
    rf_divider = Field(21, 3, range=(0, 6), doc="output divider, power of two")
    bleed = Field(13, 8, doc="bleed current, in steps of 3.75 uA")
    mute = Field(11, 1, doc="mute outputs until the PLL has locked")
    enable = Field(6, 1, doc="output A on")
    power = Field(4, 2, doc="power of output A: -4, -1, 2, 5 dBm")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(negative_bleed=0, feedback=0, rf_divider=0, bleed=0, mute=0, enable=0, power=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x14000006
            | ((negative_bleed & 0x1) << 29)
            | ((feedback & 0x1) << 24)
            | ((rf_divider & 0x7) << 21)
            | ((bleed & 0xFF) << 13)
            | ((mute & 0x1) << 11)
            | ((enable & 0x1) << 6)
            | ((power & 0x3) << 4)
        )


class R7(Register):
    """Lock detector."""

    chip = "ADF5356"
    width = 32
    address = 0x07
    reset = 0x10000007

    le_sync = Field(25, 1, doc="synchronise the load with the reference")
    precision = Field(5, 2, values={"NS5": 0, "NS6": 1, "NS8": 2, "NS12": 3}, doc="lock detection in fractional mode")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(le_sync=0, precision=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x10000007 | ((le_sync & 0x1) << 25) | ((precision & 0x3) << 5)


class R8(Register):
    """Reserved."""

    chip = "ADF5356"
    width = 32
    address = 0x08
    reset = 0x102D0428

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x102D0428


class R9(Register):
    """Calibration times."""

    chip = "ADF5356"
    width = 32
    address = 0x09
    reset = 0x00000009

    band_divider = Field(24, 8, doc="phase detector to the clock of the band selection")
    timeout = Field(14, 10, doc="unit of the two other times, in periods of the phase detector")
    alc_wait = Field(9, 5, doc="time for the level of the oscillator")
    lock_wait = Field(4, 5, doc="time for the lock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(band_divider=0, timeout=0, alc_wait=0, lock_wait=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            9
            | ((band_divider & 0xFF) << 24)
            | ((timeout & 0x3FF) << 14)
            | ((alc_wait & 0x1F) << 9)
            | ((lock_wait & 0x1F) << 4)
        )


class R10(Register):
    """ADC of the calibration."""

    chip = "ADF5356"
    width = 32
    address = 0x0A
    reset = 0x00C0000A

    adc_divider = Field(6, 8, doc="phase detector to the ADC's clock, (periods - 2) / 4")
    conversion = Field(5, 1, doc="convert with each write")
    enable = Field(4, 1, doc="ADC on")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(adc_divider=0, conversion=0, enable=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0xC0000A | ((adc_divider & 0xFF) << 6) | ((conversion & 0x1) << 5) | ((enable & 0x1) << 4)


class R11(Register):
    """Reserved."""

    chip = "ADF5356"
    width = 32
    address = 0x0B
    reset = 0x0061200B

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x61200B


class R12(Register):
    """Phase resynchronisation."""

    chip = "ADF5356"
    width = 32
    address = 0x0C
    reset = 0x000015FC

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x15FC


class R13(Register):
    """Second fraction, upper bits."""

    chip = "ADF5356"
    width = 32
    address = 0x0D
    reset = 0x0000000D

    frac2 = Field(18, 14, doc="numerator")
    mod2 = Field(4, 14, doc="denominator")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(frac2=0, mod2=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 13 | ((frac2 & 0x3FFF) << 18) | ((mod2 & 0x3FFF) << 4)
