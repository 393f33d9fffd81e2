"""Direct digital synthesiser, 1 GS/s, 14 bits: eight profiles, a RAM of 1024 words, a digital ramp generator.

Source: Analog Devices, AD9910 data sheet, section "Register map and bit descriptions".

Generated from src/contracts/chips/ad9910.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, TTuple, portable
from ..registers import Field, Register, WideField

__all__ = [
    "ASF",
    "AUX_DAC",
    "CFR1",
    "CFR2",
    "CFR3",
    "FTW",
    "INSTRUCTION",
    "IO_UPDATE",
    "LATENCY",
    "OSCILLATORS",
    "POW",
    "PROFILE",
    "RAM",
    "RAMP_LIMIT",
    "RAMP_RATE",
    "RAMP_STEP",
    "RAM_PROFILE",
    "RAM_WORDS",
    "SHORT_WRITE",
    "STORED_DELAYS",
    "STORED_DELAYS_OF_SERVO",
    "SYNC",
    "checked_profile",
]

RAM_WORDS = 0x400
"""words of the RAM"""

OSCILLATORS = (
    (370000000.0, 510000000.0),
    (420000000.0, 590000000.0),
    (500000000.0, 700000000.0),
    (600000000.0, 880000000.0),
    (700000000.0, 950000000.0),
    (820000000.0, 1150000000.0),
)
"""Ranges of the PLL's oscillators, by the number in CFR3.vco_sel. A row: lowest_hz, highest_hz."""

LATENCY = (
    (79, 47, 79, 79),
    (94, 58, 94, 106),
    (79, 47, 91, 91),
    (79, 47, 91, 91),
)
"""Latency in system clock cycles from an edge of SYNC_CLK to the output: single tone, RAM, ramp, output shift keying. A
row: phase, amplitude, matched_phase, matched_amplitude."""


class INSTRUCTION(Register):
    """Instruction byte on the serial port, followed by the data."""

    chip = "AD9910"
    width = 8

    read = Field(7, 1, doc="the chip sends the register")
    register = Field(0, 5, doc="register")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, register=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 7) | (register & 0x1F)


class SHORT_WRITE(Register):
    """Instruction and data of a register of 16 bits in one."""

    chip = "AD9910"
    width = 24

    register = Field(16, 5, doc="register")
    data = Field(0, 16, doc="value")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(register=0, data=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((register & 0x1F) << 16) | (data & 0xFFFF)


class CFR1(Register):
    """Control function register 1."""

    chip = "AD9910"
    width = 32
    address = 0x00
    reset = 0x00000000

    ram_enable = Field(31, 1, doc="play the RAM")
    ram_destination = Field(
        29,
        2,
        values={"FTW": 0, "POW": 1, "ASF": 2, "POWASF": 3},
        doc="destination of the RAM data",
    )
    manual_osk_external = Field(23, 1, doc="manual control of the amplitude by the OSK pin")
    inverse_sinc = Field(22, 1, doc="correct the roll-off of the DAC")
    internal_profile = Field(17, 4, doc="automatic sequence of profiles")
    sine_output = Field(16, 1, doc="sine instead of cosine")
    drg_load_lrr = Field(15, 1, doc="load the ramp rate timer at an update")
    drg_autoclear = Field(14, 1, doc="clear the ramp accumulator at an update, then release it")
    phase_autoclear = Field(13, 1, doc="clear the phase accumulator at an update, then release it")
    drg_clear = Field(12, 1, doc="hold the ramp accumulator at zero")
    phase_clear = Field(11, 1, doc="hold the phase accumulator at zero")
    osk_load_arr = Field(10, 1, doc="load the amplitude ramp rate timer at an update")
    osk_enable = Field(9, 1, doc="output shift keying")
    select_auto_osk = Field(8, 1, doc="ramp of the amplitude instead of a switch")
    power_down = Field(
        4, 4, doc="power down: digital core, DAC, reference input, auxiliary DAC, from the highest bit on"
    )
    external_power_down = Field(3, 1, doc="the power-down pin selects fast recovery instead of full power-down")
    sdio_input_only = Field(1, 1, doc="serial port with four wires")
    lsb_first = Field(0, 1, doc="lowest bit first on the serial port")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        ram_enable=0,
        ram_destination=0,
        manual_osk_external=0,
        inverse_sinc=0,
        internal_profile=0,
        sine_output=0,
        drg_load_lrr=0,
        drg_autoclear=0,
        phase_autoclear=0,
        drg_clear=0,
        phase_clear=0,
        osk_load_arr=0,
        osk_enable=0,
        select_auto_osk=0,
        power_down=0,
        external_power_down=0,
        sdio_input_only=0,
        lsb_first=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((ram_enable & 0x1) << 31)
            | ((ram_destination & 0x3) << 29)
            | ((manual_osk_external & 0x1) << 23)
            | ((inverse_sinc & 0x1) << 22)
            | ((internal_profile & 0xF) << 17)
            | ((sine_output & 0x1) << 16)
            | ((drg_load_lrr & 0x1) << 15)
            | ((drg_autoclear & 0x1) << 14)
            | ((phase_autoclear & 0x1) << 13)
            | ((drg_clear & 0x1) << 12)
            | ((phase_clear & 0x1) << 11)
            | ((osk_load_arr & 0x1) << 10)
            | ((osk_enable & 0x1) << 9)
            | ((select_auto_osk & 0x1) << 8)
            | ((power_down & 0xF) << 4)
            | ((external_power_down & 0x1) << 3)
            | ((sdio_input_only & 0x1) << 1)
            | (lsb_first & 0x1)
        )


class CFR2(Register):
    """Control function register 2."""

    chip = "AD9910"
    width = 32
    address = 0x01
    reset = 0x00400820

    asf_profile_enable = Field(24, 1, doc="amplitude from single-tone profiles")
    internal_update = Field(23, 1, doc="the update pin outputs the internal updates")
    sync_clk_enable = Field(22, 1, reset=1, doc="SYNC_CLK pin driven")
    drg_destination = Field(20, 2, values={"FTW": 0, "POW": 1, "ASF": 2}, doc="destination of the ramp")
    drg_enable = Field(19, 1, doc="digital ramp")
    drg_nodwell_high = Field(18, 1, doc="no-dwell at the upper limit: return at once")
    drg_nodwell_low = Field(17, 1, doc="no-dwell at the lower limit: return at once")
    effective_ftw = Field(16, 1, doc="reads return the frequency in use")
    update_rate = Field(14, 2, doc="prescaler of the internal updates")
    pdclk_enable = Field(11, 1, reset=1, doc="PDCLK pin driven")
    pdclk_invert = Field(10, 1, doc="PDCLK inverted")
    txenable_invert = Field(9, 1, doc="TxEnable active low")
    matched_latency_enable = Field(7, 1, doc="frequency, phase and amplitude take effect together")
    data_hold = Field(6, 1, doc="the parallel port holds its last value")
    sync_validation_disable = Field(
        5, 1, reset=1, doc="disable monitoring of the synchronisation clock, and clear its error"
    )
    parallel_enable = Field(4, 1, doc="parallel data port")
    fm_gain = Field(0, 4, doc="gain of the parallel port's frequency")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        asf_profile_enable=0,
        internal_update=0,
        sync_clk_enable=1,
        drg_destination=0,
        drg_enable=0,
        drg_nodwell_high=0,
        drg_nodwell_low=0,
        effective_ftw=0,
        update_rate=0,
        pdclk_enable=1,
        pdclk_invert=0,
        txenable_invert=0,
        matched_latency_enable=0,
        data_hold=0,
        sync_validation_disable=1,
        parallel_enable=0,
        fm_gain=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((asf_profile_enable & 0x1) << 24)
            | ((internal_update & 0x1) << 23)
            | ((sync_clk_enable & 0x1) << 22)
            | ((drg_destination & 0x3) << 20)
            | ((drg_enable & 0x1) << 19)
            | ((drg_nodwell_high & 0x1) << 18)
            | ((drg_nodwell_low & 0x1) << 17)
            | ((effective_ftw & 0x1) << 16)
            | ((update_rate & 0x3) << 14)
            | ((pdclk_enable & 0x1) << 11)
            | ((pdclk_invert & 0x1) << 10)
            | ((txenable_invert & 0x1) << 9)
            | ((matched_latency_enable & 0x1) << 7)
            | ((data_hold & 0x1) << 6)
            | ((sync_validation_disable & 0x1) << 5)
            | ((parallel_enable & 0x1) << 4)
            | (fm_gain & 0xF)
        )


class CFR3(Register):
    """Control function register 3: the clock."""

    chip = "AD9910"
    width = 32
    address = 0x02
    reset = 0x1F3F4000

    drv0 = Field(28, 2, reset=1, doc="current of the REFCLK_OUT pin")
    vco_sel = Field(24, 3, reset=7, range=(0, 5), doc="oscillator of the PLL; 6 and 7: none")
    icp = Field(19, 3, reset=7, doc="current of the charge pump, in steps of 25 uA from 212 uA on")
    refclk_divider_bypass = Field(15, 1, doc="reference not divided by two")
    refclk_divider_resetb = Field(14, 1, reset=1, doc="0: hold this divider in reset")
    pfd_reset = Field(10, 1, doc="hold the phase detector in reset")
    pll_enable = Field(8, 1, doc="system clock from the PLL")
    pll_n = Field(1, 7, range=(12, 127), doc="multiplier of the reference")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        drv0=1,
        vco_sel=7,
        icp=7,
        refclk_divider_bypass=0,
        refclk_divider_resetb=1,
        pfd_reset=0,
        pll_enable=0,
        pll_n=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x8070000
            | ((drv0 & 0x3) << 28)
            | ((vco_sel & 0x7) << 24)
            | ((icp & 0x7) << 19)
            | ((refclk_divider_bypass & 0x1) << 15)
            | ((refclk_divider_resetb & 0x1) << 14)
            | ((pfd_reset & 0x1) << 10)
            | ((pll_enable & 0x1) << 8)
            | ((pll_n & 0x7F) << 1)
        )


class AUX_DAC(Register):
    """Auxiliary DAC, which sets the full scale of the output."""

    chip = "AD9910"
    width = 32
    address = 0x03
    reset = 0x00007F7F

    full_scale_current = Field(0, 8, reset=127, doc="current at full scale")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(full_scale_current=127) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 0x7F00 | (full_scale_current & 0xFF)


class IO_UPDATE(Register):
    """Rate of the internal updates."""

    chip = "AD9910"
    width = 32
    address = 0x04
    reset = 0xFFFFFFFF

    rate = Field(0, 32, reset=0xFFFFFFFF, doc="periods of a quarter of the system clock between updates")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(rate=0xFFFFFFFF) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return rate


class FTW(Register):
    """Frequency, if not given by a profile."""

    chip = "AD9910"
    width = 32
    address = 0x07
    reset = 0x00000000

    ftw = Field(0, 32, unit="system clock", steps=0x100000000, doc="frequency word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ftw=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ftw


class POW(Register):
    """Phase, if not given by a profile."""

    chip = "AD9910"
    width = 16
    address = 0x08
    reset = 0x0000

    pow = Field(0, 16, unit="turn", steps=0x10000, doc="phase word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pow=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return pow & 0xFFFF


class ASF(Register):
    """Amplitude, if not given by a profile, and its ramp."""

    chip = "AD9910"
    width = 32
    address = 0x09
    reset = 0x00000000

    ramp_rate = Field(16, 16, doc="periods of a quarter of the system clock for a step of the ramp")
    asf = Field(2, 14, unit="full scale", steps=0x3FFF, doc="amplitude word")
    step = Field(0, 2, doc="size of a step: 1, 2, 4, 8")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ramp_rate=0, asf=0, step=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((ramp_rate & 0xFFFF) << 16) | ((asf & 0x3FFF) << 2) | (step & 0x3)


class SYNC(Register):
    """Synchronisation of several chips."""

    chip = "AD9910"
    width = 32
    address = 0x0A
    reset = 0x00000000

    window = Field(28, 4, unit="75 ps", steps=1, doc="half width of the window without edges")
    receiver_enable = Field(27, 1, doc="follow the SYNC_IN pins")
    generator_enable = Field(26, 1, doc="drive the SYNC_OUT pins")
    generator_polarity = Field(25, 1, doc="SYNC_OUT from the falling edge")
    preset = Field(18, 6, doc="state of the clock generator at an edge of SYNC_IN")
    out_delay = Field(11, 5, unit="75 ps", steps=1, doc="delay of SYNC_OUT")
    in_delay = Field(3, 5, unit="75 ps", steps=1, doc="delay of SYNC_IN")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        window=0,
        receiver_enable=0,
        generator_enable=0,
        generator_polarity=0,
        preset=0,
        out_delay=0,
        in_delay=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((window & 0xF) << 28)
            | ((receiver_enable & 0x1) << 27)
            | ((generator_enable & 0x1) << 26)
            | ((generator_polarity & 0x1) << 25)
            | ((preset & 0x3F) << 18)
            | ((out_delay & 0x1F) << 11)
            | ((in_delay & 0x1F) << 3)
        )


class RAMP_LIMIT(Register):
    """Limits of the digital ramp."""

    chip = "AD9910"
    width = 64
    address = 0x0B

    upper = WideField(32, 32, doc="upper limit")
    lower = WideField(0, 32, doc="lower limit")

    @staticmethod
    @portable(flags={"forceinline"})
    def words(upper=0, lower=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = upper
        low = lower
        return high, low


class RAMP_STEP(Register):
    """Steps of the digital ramp."""

    chip = "AD9910"
    width = 64
    address = 0x0C

    down = WideField(32, 32, doc="step down")
    up = WideField(0, 32, doc="step up")

    @staticmethod
    @portable(flags={"forceinline"})
    def words(down=0, up=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = down
        low = up
        return high, low


class RAMP_RATE(Register):
    """Rates of the digital ramp."""

    chip = "AD9910"
    width = 32
    address = 0x0D

    down = Field(16, 16, doc="periods of a quarter of the system clock for a step down")
    up = Field(0, 16, doc="periods of a quarter of the system clock for a step up")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(down=0, up=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((down & 0xFFFF) << 16) | (up & 0xFFFF)


class PROFILE(Register):
    """A profile as a single tone."""

    chip = "AD9910"
    width = 64
    address = 0x0E
    count = 8

    asf = WideField(48, 14, unit="full scale", steps=0x3FFF, doc="amplitude word")
    pow = WideField(32, 16, unit="turn", steps=0x10000, doc="phase word")
    ftw = WideField(0, 32, unit="system clock", steps=0x100000000, doc="frequency word")

    @staticmethod
    @portable(flags={"forceinline"})
    def words(asf=0, pow=0, ftw=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = ((asf & 0x3FFF) << 16) | (pow & 0xFFFF)
        low = ftw
        return high, low


class RAM_PROFILE(Register):
    """A profile as a range of the RAM, while the RAM is enabled."""

    chip = "AD9910"
    width = 64
    address = 0x0E
    count = 8

    step = WideField(40, 16, doc="periods of a quarter of the system clock for a word")
    end = WideField(30, 10, doc="last word")
    start = WideField(14, 10, doc="first word")
    nodwell_high = WideField(5, 1, doc="return to the first word at the end of a ramp")
    zero_crossing = WideField(3, 1, doc="in direct switch mode: change at a zero crossing of the phase")
    mode = WideField(
        0,
        3,
        values={"DIRECTSWITCH": 0, "RAMPUP": 1, "BIDIR_RAMP": 2, "CONT_BIDIR_RAMP": 3, "CONT_RAMPUP": 4},
        doc="order of the words",
    )

    @staticmethod
    @portable(flags={"forceinline"})
    def words(step=0, end=0, start=0, nodwell_high=0, zero_crossing=0, mode=0) -> TTuple([TInt32, TInt32]):
        """Its two words, the higher one first, made from numbers for the fields, cut to their bits."""
        high = ((step & 0xFFFF) << 8) | ((end >> 2) & 0xFF)
        low = (
            ((end & 0x3) << 30)
            | ((start & 0x3FF) << 14)
            | ((nodwell_high & 0x1) << 5)
            | ((zero_crossing & 0x1) << 3)
            | (mode & 0x7)
        )
        return high, low


class RAM(Register):
    """Words of the RAM: messages go down the selected profile, playback goes up. Single quantities are left-aligned."""

    chip = "AD9910"
    width = 32
    address = 0x16

    pow = Field(16, 16, unit="turn", steps=0x10000, doc="phase word")
    asf = Field(18, 14, unit="full scale", steps=0x3FFF, doc="amplitude word, if the RAM contains amplitudes only")
    polar_asf = Field(
        2, 14, unit="full scale", steps=0x3FFF, doc="amplitude word, if the RAM contains phase and amplitude"
    )


class STORED_DELAYS_OF_SERVO(Register):
    """Calibration word in the EEPROM of an Urukul that belongs to an SU-Servo."""

    chip = "AD9910"
    width = 32

    sync_delay_seed = Field(0, 5, count=4, doc="delay of SYNC_IN of a channel")
    io_update_delay = Field(20, 12, unit="machine unit", steps=1, doc="delay of the update; all ones: none")


class STORED_DELAYS(Register):
    """Calibration word in the EEPROM of the card, if the device database refers to it."""

    chip = "AD9910"
    width = 32

    sync_delay_seed = Field(24, 8, signed=True, doc="delay of SYNC_IN, negative if the chip is not synchronised")
    io_update_delay = Field(16, 8, unit="machine unit", steps=1, doc="delay of the update")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(sync_delay_seed=0, io_update_delay=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((sync_delay_seed & 0xFF) << 24) | ((io_update_delay & 0xFF) << 16)


@portable
def checked_profile(index) -> TInt32:
    """Return `index` if it is one of the profiles. ValueError for another number."""
    if index < 0 or index >= 8:
        raise ValueError("the profiles of an AD9910 are 0 to 7")
    return index
