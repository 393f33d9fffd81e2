"""A serial transceiver of 7-series chips (GTX, UG476): 64 bits per cycle in each direction, raw,
for the line coder.

Its cells cannot be simulated here, and it has not been run on hardware: the coder in front of it is
tested with any bit alignment (link/line/test_coding.py), the cells only for the names of their ports and
attributes. Attributes that are not in the tables have the cells' defaults.

    reference ─ IBUFDS_GTE2 ─ GTXE2_COMMON ─┬─ GTXE2_CHANNEL ─ TXOUTCLK ─ MMCM ─ BUFG ─ TXUSRCLK, domain link_tx (half)
                                            │              └─ RXOUTCLK ─ MMCM ─ BUFG ─ RXUSRCLK, domain link0_rx (half)
                                            └─ up to three more of the quad, whose clock to send is the first one's

8 Gbit/s from 125 MHz, the RTIO clock: `link_tx` then has the frequency of the logic, and one of 33
cycles takes no word. Both buffers of the transceiver are in use, so the delay may differ by some
bits from one start to the next. A receiver without a clock, or in whose bits no blocks are found,
is reset repeatedly: a cable may be plugged in at any time.
"""

from dataclasses import dataclass

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

__all__ = [
    "CHANNEL",
    "COMMON",
    "REFERENCE_HZ",
    "WAIT",
    "Gtx",
    "Quad",
    "QuadPll",
    "ReceiverReset",
    "add_quad",
    "add_transceiver",
    "channel_cell",
    "quad_pll",
    "reference_clock",
]

REFERENCE_HZ = 125e6
LINE_HZ = 8e9
_WIDTH = 64


@dataclass(frozen=True)
class QuadPll:
    """VCO = reference x multiply / divide, line rate = VCO / output. upper: band of the VCO."""

    multiply: int
    divide: int
    output: int
    upper: bool


# Attribute QPLL_FBDIV by the factor that it encodes (UG476, table 2-16); 66 alone has a
# QPLL_FBDIV_RATIO of 0
_FACTORS = {16: 0x020, 20: 0x030, 32: 0x060, 40: 0x080, 64: 0x0E0, 66: 0x140, 80: 0x120, 100: 0x170}
_BANDS = {False: (5.93e9, 8.0e9), True: (9.8e9, 12.5e9)}


def quad_pll(reference_hz: float, line_hz: float) -> QuadPll:
    """Returns PLL settings for a line rate. Raises ValueError if there are none."""
    for multiply in _FACTORS:
        for divide in (1, 2, 3, 4):
            vco = reference_hz * multiply / divide
            for upper, (least, most) in _BANDS.items():
                for output in (1, 2, 4, 8, 16):
                    if least <= vco <= most and vco / output == line_hz:
                        return QuadPll(multiply, divide, output, upper)
    raise ValueError(f"no PLL makes {line_hz / 1e9:g} Gbit/s from {reference_hz / 1e6:g} MHz")


COMMON = {
    "BIAS_CFG": 0x0000_0400_0000_1000,
    "QPLL_CLKOUT_CFG": 0,
    "QPLL_CP": 0b00_0001_1111,
    "QPLL_LOCK_CFG": 0x21E8,
    "QPLL_LPF": 0b1111,
}
"""Attributes of GTXE2_COMMON beside those of the PLL's factors."""

CHANNEL = {
    # 64 bits outside, 32 within, neither 8B/10B nor gearbox
    **{f"{side}_{name}": value for side in ("TX", "RX") for name, value in [("DATA_WIDTH", 64), ("INT_DATAWIDTH", 1)]},
    **{f"{side}BUF_EN": "TRUE" for side in ("TX", "RX")},
    **{f"{side}_CLK25_DIV": round(REFERENCE_HZ / 25e6) for side in ("TX", "RX")},
    **{f"{side}_CLKMUX_PD": 1 for side in ("TX", "RX")},
    # No comma detection, clock correction or channel bonding
    **{f"ALIGN_{name}COMMA_DET": "FALSE" for name in ("M", "P")},
    **{f"DEC_{name}": "FALSE" for name in ("MCOMMA_DETECT", "PCOMMA_DETECT", "VALID_COMMA_ONLY")},
    "CLK_CORRECT_USE": "FALSE",
    "CHAN_BOND_MAX_SKEW": 1,
    "RX_DISPERR_SEQ_MATCH": "FALSE",
    "SHOW_REALIGN_COMMA": "FALSE",
    # Receiver: scrambled data at full rate, equalised in low-power mode (UG476, chapter 4)
    "PMA_RSV": 0x001E_7080,
    "RX_BIAS_CFG": 0b0000_0000_0100,
    "RX_CM_TRIM": 0b010,
    "RX_DEBUG_CFG": 0,
    "RX_OS_CFG": 0b0_0000_1000_0000,
    "RXCDR_CFG": 0x03_0000_23FF_1040_0020,
    "RXLPM_HF_CFG": 0x00F0,
    "RXLPM_LF_CFG": 0x00F0,
    "RX_DFE_GAIN_CFG": 0x02_0FEA,
    "RX_DFE_H2_CFG": 0,
    "RX_DFE_H3_CFG": 0x040,
    "RX_DFE_H4_CFG": 0x0F0,
    "RX_DFE_H5_CFG": 0x0E0,
    "RX_DFE_KL_CFG": 0x00FE,
    "RX_DFE_KL_CFG2": 0x3011_48AC,
    "RX_DFE_LPM_CFG": 0x0954,
    "RX_DFE_UT_CFG": 0x1_1E00,
    "RX_DFE_VP_CFG": 0x0_3F03,
    "RX_DFE_XYD_CFG": 0,
}
"""Attributes of GTXE2_CHANNEL beside the output dividers."""

_CHANNEL_ONES = ["RXLPMEN", "RXDFEXYDEN", "RXDLYBYPASS", "TXDLYBYPASS", "CPLLPD"]
_CHANNEL_VALUES = {
    **{f"{side}SYSCLKSEL": 0b11 for side in ("TX", "RX")},  # the quad's PLL
    **{f"{side}OUTCLKSEL": 0b010 for side in ("TX", "RX")},  # line rate / 32
    "CPLLREFCLKSEL": 0b001,
    "RXELECIDLEMODE": 0b11,
    "TXBUFDIFFCTRL": 0b100,
    "TXDIFFCTRL": 0b1000,
    "TSTIN": 0xF_FFFF,
}
_CHANNEL_ZEROS = """
    CFGRESET CPLLLOCKDETCLK CPLLLOCKEN CPLLRESET DRPCLK DRPEN DRPWE DRPADDR DRPDI EYESCANMODE EYESCANRESET
    EYESCANTRIGGER GTRESETSEL GTRSVD RESETOVRD LOOPBACK PCSRSVDIN PCSRSVDIN2 PMARSVDIN PMARSVDIN2 CLKRSVD SETERRSTATUS
    RX8B10BEN RXBUFRESET RXCDRFREQRESET RXCDRHOLD RXCDROVRDEN RXCDRRESET RXCDRRESETRSV RXCHBONDEN RXCHBONDI
    RXCHBONDLEVEL RXCHBONDMASTER RXCHBONDSLAVE RXCOMMADETEN RXDDIEN RXDFEAGCHOLD RXDFEAGCOVRDEN RXDFECM1EN RXDFELFHOLD
    RXDFELFOVRDEN RXDFELPMRESET RXDFETAP2HOLD RXDFETAP2OVRDEN RXDFETAP3HOLD RXDFETAP3OVRDEN RXDFETAP4HOLD
    RXDFETAP4OVRDEN RXDFETAP5HOLD RXDFETAP5OVRDEN RXDFEUTHOLD RXDFEUTOVRDEN RXDFEVPHOLD RXDFEVPOVRDEN RXDFEVSEN
    RXDFEXYDHOLD RXDFEXYDOVRDEN RXDLYEN RXDLYOVRDEN RXDLYSRESET RXGEARBOXSLIP RXLPMHFHOLD RXLPMHFOVRDEN RXLPMLFHOLD
    RXLPMLFKLOVRDEN RXMCOMMAALIGNEN RXMONITORSEL RXOOBRESET RXOSHOLD RXOSOVRDEN RXPCOMMAALIGNEN RXPCSRESET RXPD
    RXPHALIGN RXPHALIGNEN RXPHDLYPD RXPHDLYRESET RXPHOVRDEN RXPMARESET RXPOLARITY RXPRBSCNTRESET RXPRBSSEL RXQPIEN
    RXRATE RXSLIDE TX8B10BBYPASS TX8B10BEN TXCHARDISPMODE TXCHARDISPVAL TXCHARISK TXCOMINIT TXCOMSAS TXCOMWAKE TXDEEMPH
    TXDETECTRX TXDIFFPD TXDLYEN TXDLYHOLD TXDLYOVRDEN TXDLYSRESET TXDLYUPDOWN TXELECIDLE TXHEADER TXINHIBIT
    TXMAINCURSOR TXMARGIN TXPCSRESET TXPD TXPDELECIDLEMODE TXPHALIGN TXPHALIGNEN TXPHDLYPD TXPHDLYRESET TXPHDLYTSTCLK
    TXPHINIT TXPHOVRDEN TXPISOPD TXPMARESET TXPOLARITY TXPOSTCURSOR TXPOSTCURSORINV TXPRBSFORCEERR TXPRBSSEL
    TXPRECURSOR TXPRECURSORINV TXQPIBIASEN TXQPISTRONGPDOWN TXQPIWEAKPUP TXRATE TXSEQUENCE TXSTARTSEQ TXSWING
    GTGREFCLK GTNORTHREFCLK0 GTNORTHREFCLK1 GTREFCLK0 GTREFCLK1 GTSOUTHREFCLK0 GTSOUTHREFCLK1
""".split()
_COMMON_ONES = ["BGBYPASSB", "BGMONITORENB", "BGPDB", "RCALENB", "QPLLLOCKEN"]
_COMMON_VALUES = {"QPLLREFCLKSEL": 0b001, "BGRCALOVRD": 0b1_1111, "QPLLRSVD2": 0b1_1111}
_COMMON_ZEROS = """
    DRPCLK DRPEN DRPWE DRPADDR DRPDI GTGREFCLK GTNORTHREFCLK0 GTNORTHREFCLK1 GTREFCLK1 GTSOUTHREFCLK0 GTSOUTHREFCLK1
    QPLLOUTRESET QPLLPD QPLLRSVD1 PMARSVD
""".split()
WAIT = 1024
"""Cycles for which resets are held after configuration and after each other (UG476: 500 ns and
more)."""
_TIMEOUT = 2**20
"""Cycles until a receiver that is not in step is reset again: 8 ms."""


def _tied(ones, values, zeros):
    """Constant inputs."""
    return (
        {f"i_{name}": 1 for name in ones}
        | {f"i_{name}": v for name, v in values.items()}
        | {f"i_{name}": 0 for name in zeros}
    )


def channel_cell(name, pads, **given):
    """The cell of a transceiver, as an instance `name`, whose inputs and attributes are those of the tables but for the
    given ones. pads: `txp`, `txn`, `rxp`, `rxn`."""
    usual = {f"p_{key}": value for key, value in CHANNEL.items()}
    usual |= _tied(_CHANNEL_ONES, _CHANNEL_VALUES, _CHANNEL_ZEROS)
    usual |= {"i_GTXRXP": pads.rxp, "i_GTXRXN": pads.rxn, "o_GTXTXP": pads.txp, "o_GTXTXN": pads.txn}
    return Instance("GTXE2_CHANNEL", name=f"{name}_gtx", **(usual | given))


class ReceiverReset(Module):
    """Resets a receiver together with its PLL, and whenever it has not been in step for long. boot: domain of a clock
    that always runs. `whole` (in), in it: the reset of the PLL; `in_step` (in), of any clock; `reset` (out)."""

    def __init__(self, boot):
        self.whole, self.in_step, self.reset = Signal(), Signal(), Signal(reset=1)

        # # #

        seen, patience = Signal(), Signal(max=_TIMEOUT, reset=_TIMEOUT - 1)
        self.specials += MultiReg(self.in_step, seen, boot)
        in_boot = getattr(self.sync, boot)
        in_boot += [
            If(self.whole, self.reset.eq(1), patience.eq(WAIT))
            .Elif(seen, patience.eq(_TIMEOUT - 1))
            .Elif(patience != 0, patience.eq(patience - 1))
            .Else(self.reset.eq(~self.reset), patience.eq(Mux(self.reset, _TIMEOUT - 1, WAIT))),
        ]


class _UserClock(Module):
    """Derives the clocks of the parallel side from a clock of the transceiver: `fast` (out, line rate / 32)
    and domain `name` at half of it, in phase. hz: of `source`. `locked` (out): both run; until then the
    domain is in reset."""

    def __init__(self, name, source, hz, reset):
        self.fast, self.locked = Signal(), Signal()
        domain = ClockDomain(name)
        setattr(self.clock_domains, f"cd_{name}", domain)

        # # #

        feedback, half, whole = Signal(), Signal(), Signal()
        multiply = round(1e9 / hz)
        self.specials += [
            Instance(
                "MMCME2_BASE",
                p_CLKIN1_PERIOD=1e9 / hz,
                p_CLKFBOUT_MULT_F=float(multiply),
                p_CLKOUT0_DIVIDE_F=float(2 * multiply),
                p_CLKOUT1_DIVIDE=multiply,
                i_CLKIN1=source,
                i_CLKFBIN=feedback,
                i_PWRDWN=0,
                i_RST=reset,
                o_CLKFBOUT=feedback,
                o_CLKOUT0=half,
                o_CLKOUT1=whole,
                o_LOCKED=self.locked,
            ),
            Instance("BUFG", i_I=half, o_O=domain.clk),
            Instance("BUFG", i_I=whole, o_O=self.fast),
            AsyncResetSynchronizer(domain, ~self.locked),
        ]


class Quad(Module):
    """Common part of up to four transceivers: the PLL, and the transmit `clock` (out), domain link_tx, from
    the first one. reference: clock after its IBUFDS_GTE2. Resets are generated in domain `boot`, whose
    clock always runs. Raises ValueError if no PLL setting has the line rate.

    `add` adds a transceiver. `channels`: list of `Gtx`.

    `clock_reference` (out): the PLL's reference, for the transceivers. `reset` (out): they are to be
    held in reset, until the PLL has locked.
    """

    def __init__(self, reference, boot="sys", reference_hz=REFERENCE_HZ, line_hz=LINE_HZ):
        self.pll = pll = quad_pll(reference_hz, line_hz)
        self.boot, self.line_hz, self.channels = boot, line_hz, []
        self.clock, self.clock_reference = Signal(), Signal()
        self.reset = Signal(reset=1)
        self.user = None

        # # #

        locked, pll_reset = Signal(), Signal(reset=1)
        self.specials += Instance(
            "GTXE2_COMMON",
            **{f"p_{name}": value for name, value in COMMON.items()},
            **_tied(_COMMON_ONES, _COMMON_VALUES, _COMMON_ZEROS),
            p_QPLL_CFG=0x068_0181 if pll.upper else 0x068_01C1,
            p_QPLL_FBDIV=_FACTORS[pll.multiply],
            p_QPLL_FBDIV_RATIO=int(pll.multiply != 66),
            p_QPLL_REFCLK_DIV=pll.divide,
            i_GTREFCLK0=reference,
            i_QPLLLOCKDETCLK=ClockSignal(boot),
            i_QPLLRESET=pll_reset,
            o_QPLLLOCK=locked,
            o_QPLLOUTCLK=self.clock,
            o_QPLLOUTREFCLK=self.clock_reference,
        )
        # First the PLL, then, once it has locked, the transceivers
        from_pll, wait = Signal(), Signal(max=WAIT, reset=WAIT - 1)
        self.specials += MultiReg(locked, from_pll, boot)
        in_boot = getattr(self.sync, boot)
        in_boot += [
            If(wait != 0, wait.eq(wait - 1))
            .Elif(pll_reset, pll_reset.eq(0), wait.eq(WAIT - 1))
            .Else(self.reset.eq(~from_pll)),
        ]

    def add(self, pads):
        """Adds a transceiver; pads: `txp`, `txn`, `rxp`, `rxn`."""
        channel = Gtx(self, len(self.channels), pads)
        self.submodules += channel
        self.channels.append(channel)
        return channel


class Gtx(Module):
    """A transceiver of a `Quad`. `transmit` (in, 64 bits): 64 bits to the line, in domain link_tx;
    `receive` (out, 64 bits): from it, in domain `received` (link0_rx, …); bit 0 first. `in_step` (in): to
    be driven in that domain: blocks are aligned. `ready` (out): both directions are out of reset."""

    def __init__(self, quad, number, pads):
        self.transmit, self.receive, self.ready = Signal(_WIDTH), Signal(_WIDTH), Signal()
        self.received, self.in_step = f"link{number}_rx", Signal()

        # # #

        self._quad, self._name = quad, f"link{number}"
        self.submodules.receiver_reset = receiver_reset = ReceiverReset(quad.boot)
        reset = receiver_reset.reset
        outputs = {side: Signal(name=f"link{number}_{side.lower()}_out") for side in ("TX", "RX")}
        done = {side: Signal(name=f"link{number}_{side.lower()}_done") for side in ("TX", "RX")}
        if quad.user is None:
            quad.user = _UserClock("link_tx", outputs["TX"], quad.line_hz / 32, quad.reset)
            quad.submodules += quad.user
        receiver = _UserClock(self.received, outputs["RX"], quad.line_hz / 32, reset)
        self.submodules += receiver
        sides = {}
        for side, user, domain, held in [
            ("TX", quad.user, "link_tx", quad.reset),
            ("RX", receiver, self.received, reset),
        ]:
            sides |= {
                f"p_{side}OUT_DIV": quad.pll.output,
                f"i_GT{side}RESET": held,
                f"i_{side}USERRDY": user.locked,
                f"i_{side}USRCLK": user.fast,
                f"i_{side}USRCLK2": ClockSignal(domain),
                f"o_{side}OUTCLK": self._buffered(outputs[side], side == "RX" or number == 0),
                f"o_{side}RESETDONE": done[side],
            }
        self.specials += channel_cell(
            self._name,
            pads,
            **sides,
            i_QPLLCLK=quad.clock,
            i_QPLLREFCLK=quad.clock_reference,
            i_TXDATA=self.transmit,
            o_RXDATA=self.receive,
        )
        seen = {name: Signal(name=f"{self._name}_{name}_seen") for name in done}
        self.specials += [MultiReg(signal, seen[name], quad.boot) for name, signal in done.items()]
        self.comb += [
            receiver_reset.whole.eq(quad.reset),
            receiver_reset.in_step.eq(self.in_step & receiver.locked),
            self.ready.eq(seen["TX"] & seen["RX"] & ~reset),
        ]

    def _buffered(self, clock, used):
        """The source that drives `clock` through a global buffer."""
        source = Signal()
        if used:
            self.specials += Instance("BUFG", i_I=source, o_O=clock)
        return source


def reference_clock(module, platform, name) -> Signal:
    """The clock of the transceivers after its buffer, of a resource of Migen's platform; added to a module once."""
    if not hasattr(module, "link_reference"):
        pair, module.link_reference = platform.request(name), Signal(name="link_reference")
        module.specials += Instance("IBUFDS_GTE2", i_CEB=0, i_I=pair.p, i_IB=pair.n, o_O=module.link_reference)
        platform.add_platform_command(
            f"create_clock -name link_reference -period {1e9 / REFERENCE_HZ} [get_ports {{pin}}]", pin=pair.p
        )
    return module.link_reference


def add_quad(module, platform, reference, boot="sys") -> Quad:
    """Adds a quad and its constraints. reference: the clock's resource of Migen's platform, or a
    signal after its buffer."""
    if isinstance(reference, str):
        reference = reference_clock(module, platform, reference)
    module.submodules += (quad := Quad(reference, boot))
    return quad


def add_transceiver(quad, platform, number) -> Gtx:
    """Adds the transceiver of an SFP cage and its constraints."""
    place = len(quad.channels)
    gtx = quad.add(platform.request("sfp", number))
    period = 32e9 / LINE_HZ
    clocks = [("link_tx", "TX")] if place == 0 else []
    for name, side in [*clocks, (gtx.received, "RX")]:
        platform.add_platform_command(
            f"create_clock -name {name} -period {period} [get_pins link{place}_gtx/{side}OUTCLK]"
        )
        platform.add_platform_command(
            f"set_clock_groups -asynchronous -group [get_clocks -include_generated_clocks {name}]"
        )
    return gtx
