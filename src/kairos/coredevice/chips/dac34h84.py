"""DAC with four channels of 16 bits, 1.25 GS/s: interpolation, mixers with an oscillator, PLL.

Source: Texas Instruments, DAC34H84 data sheet (SLAS751), section "Register map".

Generated from src/contracts/chips/dac34h84.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "AFTER_RESET",
    "ALARMS",
    "CONFIG0",
    "CONFIG1",
    "CONFIG10",
    "CONFIG11",
    "CONFIG12",
    "CONFIG13",
    "CONFIG14",
    "CONFIG15",
    "CONFIG16",
    "CONFIG17",
    "CONFIG18",
    "CONFIG19",
    "CONFIG2",
    "CONFIG20",
    "CONFIG21",
    "CONFIG22",
    "CONFIG23",
    "CONFIG24",
    "CONFIG25",
    "CONFIG26",
    "CONFIG27",
    "CONFIG3",
    "CONFIG30",
    "CONFIG31",
    "CONFIG32",
    "CONFIG34",
    "CONFIG35",
    "CONFIG36",
    "CONFIG45",
    "CONFIG46",
    "CONFIG47",
    "CONFIG48",
    "CONFIG7",
    "CONFIG8",
    "CONFIG9",
    "ID",
    "IOTEST",
    "IOTEST_PATTERN",
    "IOTEST_WORDS",
    "READ",
    "SAMPLE_RATE",
    "TEMPERATURE",
    "VERSION",
]

READ = 128
"""bit of the address byte: read"""

VERSION = 0x5409
"""content of ID"""

AFTER_RESET = 0x49C
"""content of CONFIG0 after a reset of the chip"""

IOTEST_PATTERN = 37
"""first of the registers with the words that a test of the inputs expects, twice"""

IOTEST_WORDS = 4
"""such words, each time"""

SAMPLE_RATE = 0x3B9ACA00
"""samples of the mixers' oscillator in a second"""


class CONFIG0(Register):
    """Interpolation, FIFO, alarm pin."""

    chip = "DAC34H84"
    width = 16
    address = 0x00
    reset = 0x019C

    qmc_offset_ena = Field(14, 2, doc="offset correction of the channel pairs")
    qmc_corr_ena = Field(12, 2, doc="gain and phase correction of the channel pairs")
    interpolation = Field(8, 4, reset=1, doc="interpolation, in powers of two")
    fifo_ena = Field(7, 1, reset=1, doc="FIFO at the input")
    alarm_out_ena = Field(4, 1, reset=1, doc="alarm at its pin")
    alarm_out_pol = Field(3, 1, reset=1, doc="alarm is high")
    clkdiv_sync_ena = Field(2, 1, reset=1, doc="synchronise the clock divider")
    invsinc_ena = Field(0, 2, doc="correction of the sin(x)/x roll-off of the channel pairs")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        qmc_offset_ena=0,
        qmc_corr_ena=0,
        interpolation=1,
        fifo_ena=1,
        alarm_out_ena=1,
        alarm_out_pol=1,
        clkdiv_sync_ena=1,
        invsinc_ena=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((qmc_offset_ena & 0x3) << 14)
            | ((qmc_corr_ena & 0x3) << 12)
            | ((interpolation & 0xF) << 8)
            | ((fifo_ena & 0x1) << 7)
            | ((alarm_out_ena & 0x1) << 4)
            | ((alarm_out_pol & 0x1) << 3)
            | ((clkdiv_sync_ena & 0x1) << 2)
            | (invsinc_ena & 0x3)
        )


class CONFIG1(Register):
    """Test, parity."""

    chip = "DAC34H84"
    width = 16
    address = 0x01
    reset = 0x040E

    iotest_ena = Field(15, 1, doc="compare the input with the test pattern")
    cnt64_ena = Field(12, 1, doc="reset alarms periodically")
    oddeven_parity = Field(11, 1, doc="odd parity")
    single_parity_ena = Field(10, 1, reset=1, doc="one parity bit for all lanes")
    dual_parity_ena = Field(9, 1, doc="a parity bit for each channel pair")
    rev_interface = Field(8, 1, doc="reverse the order of the lanes")
    dac_complement = Field(4, 4, doc="invert a channel")
    alarm_fifo = Field(1, 3, reset=7, doc="alarms of the FIFO")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        iotest_ena=0,
        cnt64_ena=0,
        oddeven_parity=0,
        single_parity_ena=1,
        dual_parity_ena=0,
        rev_interface=0,
        dac_complement=0,
        alarm_fifo=7,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((iotest_ena & 0x1) << 15)
            | ((cnt64_ena & 0x1) << 12)
            | ((oddeven_parity & 0x1) << 11)
            | ((single_parity_ena & 0x1) << 10)
            | ((dual_parity_ena & 0x1) << 9)
            | ((rev_interface & 0x1) << 8)
            | ((dac_complement & 0xF) << 4)
            | ((alarm_fifo & 0x7) << 1)
        )


class CONFIG2(Register):
    """Outputs without a clock, serial port, mixers."""

    chip = "DAC34H84"
    width = 16
    address = 0x02
    reset = 0x70A2

    dacclkgone_ena = Field(14, 1, reset=1, doc="output off without a DAC clock")
    dataclkgone_ena = Field(13, 1, reset=1, doc="output off without a data clock")
    collisiongone_ena = Field(12, 1, reset=1, doc="output off when the FIFO collides")
    sif4_ena = Field(7, 1, reset=1, doc="serial port with four wires")
    mixer_ena = Field(6, 1, doc="mixers on")
    mixer_gain = Field(5, 1, reset=1, doc="mixers with 6 dB of gain")
    nco_ena = Field(4, 1, doc="oscillators of the mixers on")
    revbus = Field(3, 1, doc="reverse the bits")
    twos = Field(1, 1, reset=1, doc="two's complement")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        dacclkgone_ena=1,
        dataclkgone_ena=1,
        collisiongone_ena=1,
        sif4_ena=1,
        mixer_ena=0,
        mixer_gain=1,
        nco_ena=0,
        revbus=0,
        twos=1,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((dacclkgone_ena & 0x1) << 14)
            | ((dataclkgone_ena & 0x1) << 13)
            | ((collisiongone_ena & 0x1) << 12)
            | ((sif4_ena & 0x1) << 7)
            | ((mixer_ena & 0x1) << 6)
            | ((mixer_gain & 0x1) << 5)
            | ((nco_ena & 0x1) << 4)
            | ((revbus & 0x1) << 3)
            | ((twos & 0x1) << 1)
        )


class CONFIG3(Register):
    """Current of the outputs."""

    chip = "DAC34H84"
    width = 16
    address = 0x03
    reset = 0x9000

    coarse_dac = Field(12, 4, reset=9, doc="current")
    sif_txenable = Field(0, 1, doc="outputs on, beside the pin")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(coarse_dac=9, sif_txenable=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((coarse_dac & 0xF) << 12) | (sif_txenable & 0x1)


class IOTEST(Register):
    """Lanes that differed from the test pattern."""

    chip = "DAC34H84"
    width = 16
    address = 0x04

    results = Field(0, 16, doc="lanes")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(results=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return results & 0xFFFF


class ALARMS(Register):
    """Alarms."""

    chip = "DAC34H84"
    width = 16
    address = 0x05

    fifo = Field(11, 3, doc="of the FIFO")
    io_test = Field(7, 1, doc="of the input's test")
    pll_lock = Field(6, 1, doc="of the PLL")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(fifo=0, io_test=0, pll_lock=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((fifo & 0x7) << 11) | ((io_test & 0x1) << 7) | ((pll_lock & 0x1) << 6)


class TEMPERATURE(Register):
    """Temperature."""

    chip = "DAC34H84"
    width = 16
    address = 0x06

    celsius = Field(8, 8, signed=True, doc="°C")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(celsius=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (celsius & 0xFF) << 8


class CONFIG7(Register):
    """Masks of alarms."""

    chip = "DAC34H84"
    width = 16
    address = 0x07
    reset = 0x4040

    zerochk = Field(15, 1, doc="zeros in the FIFO's pointers")
    fifo_collision = Field(13, 1, doc="FIFO collided")
    fifo_1away = Field(12, 1, doc="FIFO nearly collided")
    fifo_2away = Field(11, 1, doc="FIFO is off its middle")
    dacclk_gone = Field(10, 1, doc="no DAC clock")
    dataclk_gone = Field(9, 1, doc="no data clock")
    output_gone = Field(8, 1, doc="outputs off")
    iotest = Field(7, 1, doc="input's test")
    pll = Field(5, 1, doc="PLL")
    parity = Field(1, 1, doc="parity")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        zerochk=0,
        fifo_collision=0,
        fifo_1away=0,
        fifo_2away=0,
        dacclk_gone=0,
        dataclk_gone=0,
        output_gone=0,
        iotest=0,
        pll=0,
        parity=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x4040
            | ((zerochk & 0x1) << 15)
            | ((fifo_collision & 0x1) << 13)
            | ((fifo_1away & 0x1) << 12)
            | ((fifo_2away & 0x1) << 11)
            | ((dacclk_gone & 0x1) << 10)
            | ((dataclk_gone & 0x1) << 9)
            | ((output_gone & 0x1) << 8)
            | ((iotest & 0x1) << 7)
            | ((pll & 0x1) << 5)
            | ((parity & 0x1) << 1)
        )


class CONFIG8(Register):
    """Offset correction of channel A."""

    chip = "DAC34H84"
    width = 16
    address = 0x08
    reset = 0x0000

    qmc_offseta = Field(0, 13, doc="offset")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_offseta=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_offseta & 0x1FFF


class CONFIG9(Register):
    """Offset correction of channel B, FIFO."""

    chip = "DAC34H84"
    width = 16
    address = 0x09
    reset = 0x4000

    fifo_offset = Field(13, 3, reset=2, doc="distance of the FIFO's pointers")
    qmc_offsetb = Field(0, 13, doc="offset")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(fifo_offset=2, qmc_offsetb=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((fifo_offset & 0x7) << 13) | (qmc_offsetb & 0x1FFF)


class CONFIG10(Register):
    """Offset correction of channel C."""

    chip = "DAC34H84"
    width = 16
    address = 0x0A
    reset = 0x0000

    qmc_offsetc = Field(0, 13, doc="offset")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_offsetc=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_offsetc & 0x1FFF


class CONFIG11(Register):
    """Offset correction of channel D."""

    chip = "DAC34H84"
    width = 16
    address = 0x0B
    reset = 0x0000

    qmc_offsetd = Field(0, 13, doc="offset")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_offsetd=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_offsetd & 0x1FFF


class CONFIG12(Register):
    """Gain correction of channel A."""

    chip = "DAC34H84"
    width = 16
    address = 0x0C
    reset = 0x0000

    qmc_gaina = Field(0, 11, doc="gain")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_gaina=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_gaina & 0x7FF


class CONFIG13(Register):
    """Gain correction of channel B, coarse mixer."""

    chip = "DAC34H84"
    width = 16
    address = 0x0D
    reset = 0x0000

    cmix_fs8 = Field(15, 1, doc="mixer by 1/8 of the sample rate")
    cmix_fs4 = Field(14, 1, doc="by 1/4")
    cmix_fs2 = Field(13, 1, doc="by 1/2")
    cmix_nfs4 = Field(12, 1, doc="by -1/4")
    qmc_gainb = Field(0, 11, doc="gain")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(cmix_fs8=0, cmix_fs4=0, cmix_fs2=0, cmix_nfs4=0, qmc_gainb=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((cmix_fs8 & 0x1) << 15)
            | ((cmix_fs4 & 0x1) << 14)
            | ((cmix_fs2 & 0x1) << 13)
            | ((cmix_nfs4 & 0x1) << 12)
            | (qmc_gainb & 0x7FF)
        )


class CONFIG14(Register):
    """Gain correction of channel C."""

    chip = "DAC34H84"
    width = 16
    address = 0x0E
    reset = 0x0000

    qmc_gainc = Field(0, 11, doc="gain")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_gainc=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_gainc & 0x7FF


class CONFIG15(Register):
    """Gain correction of channel D, delays."""

    chip = "DAC34H84"
    width = 16
    address = 0x0F
    reset = 0x0000

    output_delayab = Field(14, 2, doc="delay of the outputs A and B")
    output_delaycd = Field(12, 2, doc="of C and D")
    qmc_gaind = Field(0, 11, doc="gain")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(output_delayab=0, output_delaycd=0, qmc_gaind=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((output_delayab & 0x3) << 14) | ((output_delaycd & 0x3) << 12) | (qmc_gaind & 0x7FF)


class CONFIG16(Register):
    """Phase correction of the channels AB."""

    chip = "DAC34H84"
    width = 16
    address = 0x10
    reset = 0x0000

    qmc_phaseab = Field(0, 12, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_phaseab=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_phaseab & 0xFFF


class CONFIG17(Register):
    """Phase correction of the channels CD."""

    chip = "DAC34H84"
    width = 16
    address = 0x11
    reset = 0x0000

    qmc_phasecd = Field(0, 12, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(qmc_phasecd=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return qmc_phasecd & 0xFFF


class CONFIG18(Register):
    """Phase of the oscillator of the channels AB."""

    chip = "DAC34H84"
    width = 16
    address = 0x12
    reset = 0x0000

    phase_offsetab = Field(0, 16, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase_offsetab=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return phase_offsetab & 0xFFFF


class CONFIG19(Register):
    """Phase of the oscillator of the channels CD."""

    chip = "DAC34H84"
    width = 16
    address = 0x13
    reset = 0x0000

    phase_offsetcd = Field(0, 16, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase_offsetcd=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return phase_offsetcd & 0xFFFF


class CONFIG20(Register):
    """Frequency of the oscillator of the channels AB, lower half."""

    chip = "DAC34H84"
    width = 16
    address = 0x14
    reset = 0x0000

    phase_addab_low = Field(0, 16, doc="word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase_addab_low=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return phase_addab_low & 0xFFFF


class CONFIG21(Register):
    """Frequency of the oscillator of the channels AB, higher half."""

    chip = "DAC34H84"
    width = 16
    address = 0x15
    reset = 0x0000

    phase_addab_high = Field(0, 16, doc="word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase_addab_high=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return phase_addab_high & 0xFFFF


class CONFIG22(Register):
    """Frequency of the oscillator of the channels CD, lower half."""

    chip = "DAC34H84"
    width = 16
    address = 0x16
    reset = 0x0000

    phase_addcd_low = Field(0, 16, doc="word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase_addcd_low=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return phase_addcd_low & 0xFFFF


class CONFIG23(Register):
    """Frequency of the oscillator of the channels CD, higher half."""

    chip = "DAC34H84"
    width = 16
    address = 0x17
    reset = 0x0000

    phase_addcd_high = Field(0, 16, doc="word")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(phase_addcd_high=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return phase_addcd_high & 0xFFFF


class CONFIG24(Register):
    """PLL; when read, its loop filter's voltage."""

    chip = "DAC34H84"
    width = 16
    address = 0x18
    reset = 0x2C60

    pll_reset = Field(12, 1, doc="reset")
    pll_ndivsync_ena = Field(11, 1, reset=1, doc="synchronise the divider")
    pll_ena = Field(10, 1, reset=1, doc="on")
    pll_cp = Field(6, 2, reset=1, doc="charge pump")
    pll_p = Field(3, 3, reset=4, doc="prescaler")
    lfvolt = Field(0, 3, doc="voltage, read only")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pll_reset=0, pll_ndivsync_ena=1, pll_ena=1, pll_cp=1, pll_p=4, lfvolt=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x2000
            | ((pll_reset & 0x1) << 12)
            | ((pll_ndivsync_ena & 0x1) << 11)
            | ((pll_ena & 0x1) << 10)
            | ((pll_cp & 0x3) << 6)
            | ((pll_p & 0x7) << 3)
            | (lfvolt & 0x7)
        )


class CONFIG25(Register):
    """Dividers of the PLL."""

    chip = "DAC34H84"
    width = 16
    address = 0x19
    reset = 0x8814

    pll_m2 = Field(15, 1, reset=1, doc="multiplier twice")
    pll_m = Field(8, 7, reset=8, doc="multiplier")
    pll_n = Field(4, 4, reset=1, doc="divider of the reference, less one")
    pll_vcotune = Field(2, 2, reset=1, doc="tuning range")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pll_m2=1, pll_m=8, pll_n=1, pll_vcotune=1) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((pll_m2 & 0x1) << 15) | ((pll_m & 0x7F) << 8) | ((pll_n & 0xF) << 4) | ((pll_vcotune & 0x3) << 2)


class CONFIG26(Register):
    """Oscillator of the PLL; what sleeps."""

    chip = "DAC34H84"
    width = 16
    address = 0x1A
    reset = 0xFC00

    pll_vco = Field(10, 6, reset=63, doc="coarse tuning")
    bias_sleep = Field(7, 1, doc="bias")
    tsense_sleep = Field(6, 1, doc="temperature sensor")
    pll_sleep = Field(5, 1, doc="PLL")
    clkrecv_sleep = Field(4, 1, doc="clock receiver")
    dac_sleep = Field(0, 4, doc="channels")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pll_vco=63, bias_sleep=0, tsense_sleep=0, pll_sleep=0, clkrecv_sleep=0, dac_sleep=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((pll_vco & 0x3F) << 10)
            | ((bias_sleep & 0x1) << 7)
            | ((tsense_sleep & 0x1) << 6)
            | ((pll_sleep & 0x1) << 5)
            | ((clkrecv_sleep & 0x1) << 4)
            | (dac_sleep & 0xF)
        )


class CONFIG27(Register):
    """Reference."""

    chip = "DAC34H84"
    width = 16
    address = 0x1B
    reset = 0x0800

    extref_ena = Field(15, 1, doc="reference from outside")
    fuse_sleep = Field(11, 1, reset=1, doc="fuses off")
    atest = Field(0, 6, doc="analogue test")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(extref_ena=0, fuse_sleep=1, atest=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((extref_ena & 0x1) << 15) | ((fuse_sleep & 0x1) << 11) | (atest & 0x3F)


class CONFIG30(Register):
    """What synchronises corrections."""

    chip = "DAC34H84"
    width = 16
    address = 0x1E
    reset = 0x9999

    syncsel_qmcoffsetab = Field(12, 4, reset=9, doc="offsets of A and B")
    syncsel_qmcoffsetcd = Field(8, 4, reset=9, doc="of C and D")
    syncsel_qmccorrab = Field(4, 4, reset=9, doc="gains and phases of A and B")
    syncsel_qmccorrcd = Field(0, 4, reset=9, doc="of C and D")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(syncsel_qmcoffsetab=9, syncsel_qmcoffsetcd=9, syncsel_qmccorrab=9, syncsel_qmccorrcd=9) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((syncsel_qmcoffsetab & 0xF) << 12)
            | ((syncsel_qmcoffsetcd & 0xF) << 8)
            | ((syncsel_qmccorrab & 0xF) << 4)
            | (syncsel_qmccorrcd & 0xF)
        )


class CONFIG31(Register):
    """What synchronises mixers."""

    chip = "DAC34H84"
    width = 16
    address = 0x1F
    reset = 0x9988

    syncsel_mixerab = Field(12, 4, reset=9, doc="mixer of A and B")
    syncsel_mixercd = Field(8, 4, reset=9, doc="of C and D")
    syncsel_nco = Field(4, 4, reset=8, doc="oscillators")
    syncsel_fifo_input = Field(2, 2, reset=2, doc="input of the FIFO")
    sif_sync = Field(1, 1, doc="synchronise now: rising")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(syncsel_mixerab=9, syncsel_mixercd=9, syncsel_nco=8, syncsel_fifo_input=2, sif_sync=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((syncsel_mixerab & 0xF) << 12)
            | ((syncsel_mixercd & 0xF) << 8)
            | ((syncsel_nco & 0xF) << 4)
            | ((syncsel_fifo_input & 0x3) << 2)
            | ((sif_sync & 0x1) << 1)
        )


class CONFIG32(Register):
    """What synchronises the FIFO."""

    chip = "DAC34H84"
    width = 16
    address = 0x20
    reset = 0x2400

    syncsel_fifoin = Field(12, 4, reset=2, doc="input")
    syncsel_fifoout = Field(8, 4, reset=4, doc="output")
    clkdiv_sync_sel = Field(0, 1, doc="clock divider")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(syncsel_fifoin=2, syncsel_fifoout=4, clkdiv_sync_sel=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((syncsel_fifoin & 0xF) << 12) | ((syncsel_fifoout & 0xF) << 8) | (clkdiv_sync_sel & 0x1)


class CONFIG34(Register):
    """Paths from inputs to outputs."""

    chip = "DAC34H84"
    width = 16
    address = 0x22
    reset = 0x1BE4

    path_a = Field(14, 2, doc="input of the path A")
    path_b = Field(12, 2, reset=1, doc="of B")
    path_c = Field(10, 2, reset=2, doc="of C")
    path_d = Field(8, 2, reset=3, doc="of D")
    dac_a = Field(6, 2, reset=3, doc="path of the output A")
    dac_b = Field(4, 2, reset=2, doc="of B")
    dac_c = Field(2, 2, reset=1, doc="of C")
    dac_d = Field(0, 2, doc="of D")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(path_a=0, path_b=1, path_c=2, path_d=3, dac_a=3, dac_b=2, dac_c=1, dac_d=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            ((path_a & 0x3) << 14)
            | ((path_b & 0x3) << 12)
            | ((path_c & 0x3) << 10)
            | ((path_d & 0x3) << 8)
            | ((dac_a & 0x3) << 6)
            | ((dac_b & 0x3) << 4)
            | ((dac_c & 0x3) << 2)
            | (dac_d & 0x3)
        )


class CONFIG35(Register):
    """What the pin SLEEP switches off."""

    chip = "DAC34H84"
    width = 16
    address = 0x23
    reset = 0xFFFF

    sleep_cntl = Field(0, 16, reset=0xFFFF, doc="parts")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(sleep_cntl=0xFFFF) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return sleep_cntl & 0xFFFF


class CONFIG36(Register):
    """Delays at the input."""

    chip = "DAC34H84"
    width = 16
    address = 0x24
    reset = 0x4000

    data_dly = Field(13, 3, reset=2, doc="data")
    clk_dly = Field(10, 3, doc="clock")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(data_dly=2, clk_dly=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((data_dly & 0x7) << 13) | ((clk_dly & 0x7) << 10)


class CONFIG45(Register):
    """Test ramp."""

    chip = "DAC34H84"
    width = 16
    address = 0x2D
    reset = 0x0004

    ostrtodig_sel = Field(14, 1, doc="reference of the divider")
    ramp_ena = Field(13, 1, doc="ramp on")
    sifdac_ena = Field(0, 1, doc="outputs have SIFDAC")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ostrtodig_sel=0, ramp_ena=0, sifdac_ena=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 4 | ((ostrtodig_sel & 0x1) << 14) | ((ramp_ena & 0x1) << 13) | (sifdac_ena & 0x1)


class CONFIG46(Register):
    """Group delays of A and B."""

    chip = "DAC34H84"
    width = 16
    address = 0x2E
    reset = 0x0000

    grp_delaya = Field(8, 8, doc="delay")
    grp_delayb = Field(0, 8, doc="delay")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(grp_delaya=0, grp_delayb=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((grp_delaya & 0xFF) << 8) | (grp_delayb & 0xFF)


class CONFIG47(Register):
    """Group delays of C and D."""

    chip = "DAC34H84"
    width = 16
    address = 0x2F
    reset = 0x0000

    grp_delayc = Field(8, 8, doc="delay")
    grp_delayd = Field(0, 8, doc="delay")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(grp_delayc=0, grp_delayd=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((grp_delayc & 0xFF) << 8) | (grp_delayd & 0xFF)


class CONFIG48(Register):
    """Level of the outputs for a test."""

    chip = "DAC34H84"
    width = 16
    address = 0x30
    reset = 0x0000

    sifdac = Field(0, 16, doc="level")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(sifdac=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return sifdac & 0xFFFF


class ID(Register):
    """Version."""

    chip = "DAC34H84"
    width = 16
    address = 0x7F

    version = Field(0, 16, doc="0x5409")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(version=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return version & 0xFFFF
