"""Modulator for I and Q with PLL and oscillators, 300 MHz to 4.8 GHz: seven registers of 32 bits.

Source: Texas Instruments, TRF372017 data sheet (SLWS224), section "Register maps".

Generated from src/contracts/chips/trf372017.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "IDENTITY",
    "READ",
    "REGISTER1",
    "REGISTER2",
    "REGISTER3",
    "REGISTER4",
    "REGISTER5",
    "REGISTER6",
    "REGISTER7",
]

READ = 0x80000008
"""a message that asks for a register, whose number is in bits 30:28"""

IDENTITY = 104
"""lowest seven bits of register 0"""


class REGISTER1(Register):
    """Register 1: PLL reference, charge pump, calibration clock."""

    chip = "TRF372017"
    width = 32
    reset = 0x70100049

    rdiv = Field(5, 13, reset=2, doc="divider of the reference, 1 to 8191")
    ref_inv = Field(19, 1, doc="falling edges of the reference")
    neg_vco = Field(20, 1, reset=1, doc="the oscillator's frequency falls with its voltage")
    icp = Field(21, 5, doc="charge pump current, 0 the highest")
    icp_double = Field(26, 1, doc="twice that current")
    cal_clk_sel = Field(
        27, 4, reset=14, doc="clock of the oscillator's calibration, in powers of two of the reference divided"
    )

    @staticmethod
    @portable(flags={"forceinline"})
    def word(rdiv=2, ref_inv=0, neg_vco=1, icp=0, icp_double=0, cal_clk_sel=14) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            9
            | ((rdiv & 0x1FFF) << 5)
            | ((ref_inv & 0x1) << 19)
            | ((neg_vco & 0x1) << 20)
            | ((icp & 0x1F) << 21)
            | ((icp_double & 0x1) << 26)
            | ((cal_clk_sel & 0xF) << 27)
        )


class REGISTER2(Register):
    """Register 2: PLL multiplier, choice of the oscillator."""

    chip = "TRF372017"
    width = 32
    reset = 0x082002EA

    nint = Field(5, 16, reset=23, doc="multiplier, its integer part")
    pll_div_sel = Field(21, 2, reset=1, doc="divider in front of the prescaler, in powers of two")
    prsc_sel = Field(23, 1, values={"P4_5": 0, "P8_9": 1}, doc="prescaler")
    vco_sel = Field(26, 2, reset=2, doc="oscillator, 0 the lowest")
    vcosel_mode = Field(28, 1, doc="calibrate only that oscillator")
    cal_acc = Field(29, 2, doc="errors allowed while calibrating")
    en_cal = Field(31, 1, doc="calibrate")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(nint=23, pll_div_sel=1, prsc_sel=0, vco_sel=2, vcosel_mode=0, cal_acc=0, en_cal=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            10
            | ((nint & 0xFFFF) << 5)
            | ((pll_div_sel & 0x3) << 21)
            | ((prsc_sel & 0x1) << 23)
            | ((vco_sel & 0x3) << 26)
            | ((vcosel_mode & 0x1) << 28)
            | ((cal_acc & 0x3) << 29)
            | ((en_cal & 0x1) << 31)
        )


class REGISTER3(Register):
    """Register 3: PLL multiplier, fraction."""

    chip = "TRF372017"
    width = 32
    reset = 0x0000000B

    nfrac = Field(5, 25, doc="multiplier, 2^25 for 1")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(nfrac=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return 11 | ((nfrac & 0x1FFFFFF) << 5)


class REGISTER4(Register):
    """Register 4: What is off; the fraction's modulator."""

    chip = "TRF372017"
    width = 32
    reset = 0x4B00700C

    pwd_pll = Field(5, 1, doc="PLL off")
    pwd_cp = Field(6, 1, doc="charge pump off")
    pwd_vco = Field(7, 1, doc="oscillators off")
    pwd_vcomux = Field(8, 1, doc="their multiplexer off")
    pwd_div124 = Field(9, 1, doc="divider in front of the prescaler off")
    pwd_presc = Field(10, 1, doc="prescaler off")
    pwd_out_buff = Field(12, 1, reset=1, doc="output of the local oscillator off")
    pwd_lo_div = Field(13, 1, reset=1, doc="its divider off")
    pwd_tx_div = Field(14, 1, reset=1, doc="divider of the modulator off")
    pwd_bb_vcm = Field(15, 1, doc="common mode voltage of the inputs off")
    pwd_dc_off = Field(16, 1, doc="offsets of the inputs off")
    en_extvco = Field(17, 1, doc="oscillator from outside")
    en_isource = Field(18, 1, doc="offset current of the charge pump")
    ld_ana_prec = Field(19, 2, doc="precision of the lock detector, analogue")
    cp_tristate = Field(21, 2, doc="charge pump disconnected")
    speedup = Field(23, 1, doc="bias stabilises faster")
    ld_dig_prec = Field(24, 1, reset=1, doc="precision of the lock detector, digital")
    en_dith = Field(25, 1, reset=1, doc="dither")
    mod_ord = Field(26, 2, reset=2, doc="order of the modulator, less one")
    dith_sel = Field(28, 1, doc="kind of dither")
    del_sd_clk = Field(29, 2, reset=2, doc="delay of the modulator's clock")
    en_frac = Field(31, 1, doc="multiplier with a fraction")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        pwd_pll=0,
        pwd_cp=0,
        pwd_vco=0,
        pwd_vcomux=0,
        pwd_div124=0,
        pwd_presc=0,
        pwd_out_buff=1,
        pwd_lo_div=1,
        pwd_tx_div=1,
        pwd_bb_vcm=0,
        pwd_dc_off=0,
        en_extvco=0,
        en_isource=0,
        ld_ana_prec=0,
        cp_tristate=0,
        speedup=0,
        ld_dig_prec=1,
        en_dith=1,
        mod_ord=2,
        dith_sel=0,
        del_sd_clk=2,
        en_frac=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            12
            | ((pwd_pll & 0x1) << 5)
            | ((pwd_cp & 0x1) << 6)
            | ((pwd_vco & 0x1) << 7)
            | ((pwd_vcomux & 0x1) << 8)
            | ((pwd_div124 & 0x1) << 9)
            | ((pwd_presc & 0x1) << 10)
            | ((pwd_out_buff & 0x1) << 12)
            | ((pwd_lo_div & 0x1) << 13)
            | ((pwd_tx_div & 0x1) << 14)
            | ((pwd_bb_vcm & 0x1) << 15)
            | ((pwd_dc_off & 0x1) << 16)
            | ((en_extvco & 0x1) << 17)
            | ((en_isource & 0x1) << 18)
            | ((ld_ana_prec & 0x3) << 19)
            | ((cp_tristate & 0x3) << 21)
            | ((speedup & 0x1) << 23)
            | ((ld_dig_prec & 0x1) << 24)
            | ((en_dith & 0x1) << 25)
            | ((mod_ord & 0x3) << 26)
            | ((dith_sel & 0x1) << 28)
            | ((del_sd_clk & 0x3) << 29)
            | ((en_frac & 0x1) << 31)
        )


class REGISTER5(Register):
    """Register 5: Bias."""

    chip = "TRF372017"
    width = 32
    reset = 0x0D23A28D

    vcobias_rtrim = Field(5, 3, reset=4, doc="resistor of the oscillators' bias")
    pllbias_rtrim = Field(8, 2, reset=2, doc="resistor of the PLL's bias")
    vco_bias = Field(10, 4, reset=8, doc="oscillators")
    vcobuf_bias = Field(14, 2, reset=2, doc="their buffer")
    vcomux_bias = Field(16, 2, reset=3, doc="their multiplexer")
    bufout_bias = Field(18, 2, doc="output buffer of the local oscillator")
    vco_cal_ib = Field(22, 1, doc="current of the calibration's reference")
    vco_cal_ref = Field(23, 3, reset=2, doc="voltage of the calibration's reference")
    vco_ampl_ctrl = Field(26, 2, reset=3, doc="amplitude of the oscillators")
    vco_vb_ctrl = Field(28, 2, doc="voltage of the oscillators")
    en_ld_isource = Field(31, 1, doc="bias of the lock detector")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        vcobias_rtrim=4,
        pllbias_rtrim=2,
        vco_bias=8,
        vcobuf_bias=2,
        vcomux_bias=3,
        bufout_bias=0,
        vco_cal_ib=0,
        vco_cal_ref=2,
        vco_ampl_ctrl=3,
        vco_vb_ctrl=0,
        en_ld_isource=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x20000D
            | ((vcobias_rtrim & 0x7) << 5)
            | ((pllbias_rtrim & 0x3) << 8)
            | ((vco_bias & 0xF) << 10)
            | ((vcobuf_bias & 0x3) << 14)
            | ((vcomux_bias & 0x3) << 16)
            | ((bufout_bias & 0x3) << 18)
            | ((vco_cal_ib & 0x1) << 22)
            | ((vco_cal_ref & 0x7) << 23)
            | ((vco_ampl_ctrl & 0x3) << 26)
            | ((vco_vb_ctrl & 0x3) << 28)
            | ((en_ld_isource & 0x1) << 31)
        )


class REGISTER6(Register):
    """Register 6: Offsets of the inputs, dividers of the outputs."""

    chip = "TRF372017"
    width = 32
    reset = 0x9090100E

    ioff = Field(5, 8, reset=128, doc="offset current of the input I")
    qoff = Field(13, 8, reset=128, doc="of the input Q")
    vref_sel = Field(21, 3, reset=4, doc="common mode voltage of the inputs")
    tx_div_sel = Field(24, 2, doc="divider of the modulator, in powers of two")
    lo_div_sel = Field(26, 2, doc="divider of the local oscillator's output, in powers of two")
    tx_div_bias = Field(28, 2, reset=1, doc="bias of the modulator's divider")
    lo_div_bias = Field(30, 2, reset=2, doc="bias of the other one")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ioff=128, qoff=128, vref_sel=4, tx_div_sel=0, lo_div_sel=0, tx_div_bias=1, lo_div_bias=2) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            14
            | ((ioff & 0xFF) << 5)
            | ((qoff & 0xFF) << 13)
            | ((vref_sel & 0x7) << 21)
            | ((tx_div_sel & 0x3) << 24)
            | ((lo_div_sel & 0x3) << 26)
            | ((tx_div_bias & 0x3) << 28)
            | ((lo_div_bias & 0x3) << 30)
        )


class REGISTER7(Register):
    """Register 7: Oscillator by hand, test output."""

    chip = "TRF372017"
    width = 32
    reset = 0xD041100F

    vco_trim = Field(7, 6, reset=32, doc="capacitors of the oscillator")
    vco_test_mode = Field(14, 1, doc="count the oscillator's extremes")
    cal_bypass = Field(15, 1, doc="no calibration: `vco_sel` and `vco_trim` act")
    mux_ctrl = Field(16, 3, reset=1, doc="signal at the pin LD")
    isource_sink = Field(19, 1, doc="sign of the offset current")
    isource_trim = Field(20, 3, reset=4, doc="offset current")
    pd_tc = Field(23, 2, doc="time constant of the output buffer's switch")
    ib_vcm_sel = Field(25, 1, doc="bias of the common mode voltage")
    dcoffset_i = Field(29, 2, reset=2, doc="unit of the offsets")
    vco_bias_sel = Field(31, 1, reset=1, doc="bias from `vco_bias`")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        vco_trim=32,
        vco_test_mode=0,
        cal_bypass=0,
        mux_ctrl=1,
        isource_sink=0,
        isource_trim=4,
        pd_tc=0,
        ib_vcm_sel=0,
        dcoffset_i=2,
        vco_bias_sel=1,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits. Other bits are as after a reset."""
        return (
            0x1000000F
            | ((vco_trim & 0x3F) << 7)
            | ((vco_test_mode & 0x1) << 14)
            | ((cal_bypass & 0x1) << 15)
            | ((mux_ctrl & 0x7) << 16)
            | ((isource_sink & 0x1) << 19)
            | ((isource_trim & 0x7) << 20)
            | ((pd_tc & 0x3) << 23)
            | ((ib_vcm_sel & 0x1) << 25)
            | ((dcoffset_i & 0x3) << 29)
            | ((vco_bias_sel & 0x1) << 31)
        )
