"""Direct digital synthesiser, 3.5 GS/s, 12 bits: eight profiles, a ramp generator, a programmable modulus.

Source: AD9914 data sheet, sections "Register map", "Programmable modulus mode", "DAC calibration output".

Generated from src/contracts/chips/ad9914.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ADDRESSES",
    "BUS_LINES",
    "BUS_UPDATE",
    "CALIBRATION_CYCLES",
    "CALIBRATION_S",
    "CFR1",
    "CFR2",
    "CFR4",
    "LARGEST_CLOCK",
    "LOWER_HALF",
    "MODULUS_B",
    "MODULUS_DENOMINATOR",
    "MODULUS_FTW",
    "MODULUS_NUMERATOR",
    "PROFILE_FREQUENCY",
    "PROFILE_OUTPUT",
    "SMALLEST_CLOCK",
    "UPPER_HALF",
    "USR0",
]

ADDRESSES = 4
"""addresses of the parallel port in a register"""

LOWER_HALF = 1
"""address of the lower half of a register, from its first one"""

UPPER_HALF = 3
"""of the upper half"""

MODULUS_B = 0x80000000
"""denominator of the fraction that the driver adds to frequency words"""

CALIBRATION_CYCLES = 0x72A80
"""cycles of the system clock that the DAC's calibration takes"""

SMALLEST_CLOCK = 500000000.0
"""slowest system clock, Hz"""

LARGEST_CLOCK = 3500000000.0
"""fastest system clock, Hz"""

CALIBRATION_S = 0.001
"""time for the DAC's calibration in s, sufficient for every clock"""


class BUS_UPDATE(Register):
    """Of the gateware's bus: update pulse for the selected chips."""

    chip = "AD9914"
    width = 16
    address = 0x80

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class BUS_LINES(Register):
    """Of the gateware's bus: lines to the chips."""

    chip = "AD9914"
    width = 16
    address = 0x81

    hold = Field(0, 1, doc="reset pin of all chips")
    chips = Field(1, 15, doc="chips selected, a bit each")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(hold=0, chips=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (hold & 0x1) | ((chips & 0x7FFF) << 1)


class CFR1(Register):
    """Control function register 1."""

    chip = "AD9914"
    width = 32
    address = 0x00
    reset = 0x00010008

    vco_cal_enable = Field(24, 1, doc="calibrate the PLL's oscillator")
    parallel_streaming = Field(17, 1, doc="the parallel port is sampled continuously")
    sine_output = Field(16, 1, reset=1, doc="sine instead of cosine")
    load_lrr = Field(15, 1, doc="updates load the ramp's rate")
    drg_autoclear = Field(14, 1, doc="updates clear the ramp")
    phase_autoclear = Field(13, 1, doc="updates clear the phase accumulator")
    drg_clear = Field(12, 1, doc="hold the ramp at zero")
    phase_clear = Field(11, 1, doc="hold the phase accumulator at zero")
    external_osk = Field(9, 1, doc="output shift keying by the pin OSK")
    osk_enable = Field(8, 1, doc="amplitude words act")
    digital_power_down = Field(7, 1, doc="stop the clock of the logic")
    dac_power_down = Field(6, 1, doc="stop the DAC")
    refclk_power_down = Field(5, 1, doc="stop the reference's input")
    fast_recovery = Field(3, 1, reset=1, doc="as after a reset: the power-down pin stops everything")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        vco_cal_enable=0,
        parallel_streaming=0,
        sine_output=1,
        load_lrr=0,
        drg_autoclear=0,
        phase_autoclear=0,
        drg_clear=0,
        phase_clear=0,
        external_osk=0,
        osk_enable=0,
        digital_power_down=0,
        dac_power_down=0,
        refclk_power_down=0,
        fast_recovery=1,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((vco_cal_enable & 0x1) << 24)
            | ((parallel_streaming & 0x1) << 17)
            | ((sine_output & 0x1) << 16)
            | ((load_lrr & 0x1) << 15)
            | ((drg_autoclear & 0x1) << 14)
            | ((phase_autoclear & 0x1) << 13)
            | ((drg_clear & 0x1) << 12)
            | ((phase_clear & 0x1) << 11)
            | ((external_osk & 0x1) << 9)
            | ((osk_enable & 0x1) << 8)
            | ((digital_power_down & 0x1) << 7)
            | ((dac_power_down & 0x1) << 6)
            | ((refclk_power_down & 0x1) << 5)
            | ((fast_recovery & 0x1) << 3)
        )


class CFR2(Register):
    """Control function register 2."""

    chip = "AD9914"
    width = 32
    address = 0x01
    reset = 0x00000900

    profile_enable = Field(23, 1, doc="frequency, phase and amplitude of profiles")
    parallel_enable = Field(22, 1, doc="of the parallel data port")
    drg_destination = Field(20, 2, values={"FREQUENCY": 0, "PHASE": 1, "AMPLITUDE": 2}, doc="destination of the ramp")
    drg_enable = Field(19, 1, doc="ramp generator")
    nodwell_high = Field(18, 1, doc="no-dwell at the upper limit of a ramp")
    nodwell_low = Field(17, 1, doc="no-dwell at the lower limit of a ramp")
    modulus_enable = Field(16, 1, doc="programmable modulus: the frequency word has a fraction")
    matched_latency = Field(15, 1, doc="amplitude, phase and frequency change at one time")
    frequency_jump = Field(14, 1, doc="ramps leave out a range")
    drg_over = Field(13, 1, doc="the pin DROVER shows the end of a ramp")
    sync_clk_enable = Field(11, 1, reset=1, doc="the pin SYNC_CLK shows its clock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        profile_enable=0,
        parallel_enable=0,
        drg_destination=0,
        drg_enable=0,
        nodwell_high=0,
        nodwell_low=0,
        modulus_enable=0,
        matched_latency=0,
        frequency_jump=0,
        drg_over=0,
        sync_clk_enable=1,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x100
            | ((profile_enable & 0x1) << 23)
            | ((parallel_enable & 0x1) << 22)
            | ((drg_destination & 0x3) << 20)
            | ((drg_enable & 0x1) << 19)
            | ((nodwell_high & 0x1) << 18)
            | ((nodwell_low & 0x1) << 17)
            | ((modulus_enable & 0x1) << 16)
            | ((matched_latency & 0x1) << 15)
            | ((frequency_jump & 0x1) << 14)
            | ((drg_over & 0x1) << 13)
            | ((sync_clk_enable & 0x1) << 11)
        )


class CFR4(Register):
    """Control function register 4; other bits must keep their reset values."""

    chip = "AD9914"
    width = 32
    address = 0x03
    reset = 0x00052120

    aux_divider_power_down = Field(26, 1, doc="no SYNC_OUT")
    dac_cal_clock_power_down = Field(25, 1, doc="no clock for the calibration")
    dac_cal_enable = Field(24, 1, doc="calibrate the DAC, required after each change of the clock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(aux_divider_power_down=0, dac_cal_clock_power_down=0, dac_cal_enable=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x52120
            | ((aux_divider_power_down & 0x1) << 26)
            | ((dac_cal_clock_power_down & 0x1) << 25)
            | ((dac_cal_enable & 0x1) << 24)
        )


class MODULUS_FTW(Register):
    """Lower limit of ramps; with the programmable modulus the frequency word."""

    chip = "AD9914"
    width = 32
    address = 0x04

    ftw = Field(0, 32, doc="frequency")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ftw=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ftw


class MODULUS_DENOMINATOR(Register):
    """Upper limit of ramps; with the programmable modulus the denominator B of the fraction A/B."""

    chip = "AD9914"
    width = 32
    address = 0x05

    b = Field(0, 32, doc="denominator")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(b=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return b


class MODULUS_NUMERATOR(Register):
    """Step of rising ramps; with the programmable modulus the numerator A."""

    chip = "AD9914"
    width = 32
    address = 0x06

    a = Field(0, 32, doc="numerator")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(a=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return a


class PROFILE_FREQUENCY(Register):
    """Frequency word of profile 0."""

    chip = "AD9914"
    width = 32
    address = 0x0B

    ftw = Field(0, 32, doc="frequency, 2^32 for the system clock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ftw=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ftw


class PROFILE_OUTPUT(Register):
    """Amplitude and phase of profile 0."""

    chip = "AD9914"
    width = 32
    address = 0x0C

    asf = Field(16, 12, unit="full scale", steps=0xFFF, doc="amplitude")
    pow = Field(0, 16, unit="turn", steps=0x10000, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(asf=0, pow=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((asf & 0xFFF) << 16) | (pow & 0xFFFF)


class USR0(Register):
    """Synchronisation of several chips."""

    chip = "AD9914"
    width = 32
    address = 0x1B
    reset = 0x00000800

    pll_lock = Field(24, 1, doc="the PLL has locked")
    cal_with_sync = Field(6, 1, doc="the calibration waits for SYNC_IN, and starts the clocks with it")
    sync_out_delay = Field(3, 3, doc="delay of SYNC_OUT")
    sync_in_delay = Field(0, 3, doc="delay of SYNC_IN")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pll_lock=0, cal_with_sync=0, sync_out_delay=0, sync_in_delay=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x800
            | ((pll_lock & 0x1) << 24)
            | ((cal_with_sync & 0x1) << 6)
            | ((sync_out_delay & 0x7) << 3)
            | (sync_in_delay & 0x7)
        )
