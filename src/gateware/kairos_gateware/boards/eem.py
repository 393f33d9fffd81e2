"""Links to cards over the EEM connectors of a board (`link/line/eem.py`): pins, cells and clocks.

    sys ─ PLLE2_BASE ─┬─ BUFG ─ eem        as sys, in phase with eem_fast
                      ├─ BUFG ─ eem_fast   625 MHz: a bit
                      └─ BUFG ─ eem_delay  208.3 MHz: reference of the delays, 75 ps a tap

    pair 4 to 7 ◀─ OBUFDS ◀─ OSERDESE2, 5 bits a cycle
    pair 0 to 3 ─▶ IBUFDS ─▶ IDELAYE2 ─▶ ISERDESE2, two in cascade: 10 samples a cycle at both edges of eem_fast

(UG471, chapters 2 and 3; UG472. At a card the pairs are the other way round.) The even samples are the bits; those
between them tell where the edges are (`link/line/eem_delays.py`). The clocks eem and sys have the same frequency and a
known phase, so registers between them are timed like any others.

No chip has run this. It is simulated bit by bit with a behavioural model of the cells (`eem_model.v`). The words are
those of this project, or those of a card with its maker's gateware (`link/drtio`).
"""

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from ..link.drtio.end import DrtioEnd
from ..link.line.eem import LANE_BITS, LANES, Receiver, Transmitter
from ..link.line.eem_delays import TAP_BITS, DelaySearch
from ..link.line.eem_words import WordReceiver, WordTransmitter
from ..link.line.word import WORD_BITS
from .links import connect_words

__all__ = ["DOMAIN", "EemEnd", "EemLine", "LaneClocks", "Lanes", "connect_cards"]

DOMAIN, _FAST, _DELAY = "eem", "eem_fast", "eem_delay"
_SAMPLES = 2 * LANE_BITS
_REFERENCE_MHZ = 1250 / 6
_LOCKING = 2**15
"""Cycles within which the PLL locks, before it is reset again: 0.26 ms (data sheet DS191: 0.1 ms)."""
_RESET = 16
"""Cycles of its reset, and of that of the delays' calibration (DS191: 60 ns)."""


class LaneClocks(Module):
    """boot: domain that always runs. `ready` (out), in sys: the delays are calibrated, cells are out of reset."""

    def __init__(self, boot):
        self.clock_domains.cd_eem = ClockDomain(DOMAIN)
        self.clock_domains.cd_eem_fast = ClockDomain(_FAST, reset_less=True)
        self.clock_domains.cd_eem_delay = ClockDomain(_DELAY, reset_less=True)
        self.ready = Signal()

        # # #

        outputs = [Signal(name=f"{name}_out") for name in (DOMAIN, _FAST, _DELAY)]
        feedback, fed_back, locked, reset, calibrated = [Signal() for _ in range(5)]
        held, hold = Signal(reset=1), Signal(max=_RESET, reset=_RESET - 1)
        self.specials += [
            Instance(
                "PLLE2_BASE",
                p_CLKIN1_PERIOD=8.0,
                p_CLKFBOUT_MULT=10,  # 1.25 GHz
                p_CLKOUT0_DIVIDE=10,
                p_CLKOUT1_DIVIDE=2,
                p_CLKOUT2_DIVIDE=6,
                i_CLKIN1=ClockSignal("sys"),
                i_CLKFBIN=fed_back,
                i_PWRDWN=0,
                i_RST=reset,
                o_CLKFBOUT=feedback,
                o_CLKOUT0=outputs[0],
                o_CLKOUT1=outputs[1],
                o_CLKOUT2=outputs[2],
                o_LOCKED=locked,
            ),
            # The outputs, behind their buffers, are in phase with the input
            Instance("BUFG", i_I=feedback, o_O=fed_back),
            Instance("BUFG", i_I=outputs[0], o_O=self.cd_eem.clk),
            Instance("BUFG", i_I=outputs[1], o_O=self.cd_eem_fast.clk),
            Instance("BUFG", i_I=outputs[2], o_O=self.cd_eem_delay.clk),
            AsyncResetSynchronizer(self.cd_eem, ~locked),
            Instance("IDELAYCTRL", i_REFCLK=ClockSignal(_DELAY), i_RST=held, o_RDY=calibrated),
            MultiReg(calibrated, self.ready),
        ]
        self.sync.eem += If(hold != 0, hold.eq(hold - 1)).Else(held.eq(0))
        # A PLL whose input has stopped has to be reset
        seen, wait = Signal(), Signal(max=_LOCKING, reset=_LOCKING - 1)
        self.specials += MultiReg(locked, seen, boot)
        in_boot = getattr(self.sync, boot)
        in_boot += [
            reset.eq(~seen & (wait < _RESET)),
            If(seen | (wait == 0), wait.eq(_LOCKING - 1)).Else(wait.eq(wait - 1)),
        ]


class Lanes(Module):
    """The cells of a connector. receive, transmit: four pairs each. `levels` (in, 5 bits each), `samples` (out, 10 bits
    each): of a cycle, the first one in time lowest. `taps` (in, 5 bits each): delays, set in a cycle with `load` (in).
    Clock domain sys."""

    def __init__(self, receive, transmit):
        self.levels = [Signal(LANE_BITS, name=f"levels_{n}") for n in range(LANES)]
        self.samples = [Signal(_SAMPLES, name=f"samples_{n}") for n in range(LANES)]
        self.taps = [Signal(TAP_BITS, name=f"taps_{n}") for n in range(LANES)]
        self.load = Signal()

        # # #

        load = Signal()
        self.sync.eem += load.eq(self.load)
        for pair, levels in zip(transmit, self.levels, strict=True):
            self._send(pair, levels)
        for pair, tap, samples in zip(receive, self.taps, self.samples, strict=True):
            self._receive(pair, tap, load, samples)

    def _send(self, pair, levels):
        sent, level = Signal(LANE_BITS), Signal()
        self.sync.eem += sent.eq(levels)
        self.specials += [
            Instance(
                "OSERDESE2",
                p_DATA_RATE_OQ="SDR",
                p_DATA_RATE_TQ="BUF",
                p_DATA_WIDTH=LANE_BITS,
                p_TRISTATE_WIDTH=1,
                p_SERDES_MODE="MASTER",
                **{f"i_D{n + 1}": sent[n] if n < LANE_BITS else 0 for n in range(8)},
                **{f"i_{name}": 0 for name in "T1 T2 T3 T4 TCE TBYTEIN SHIFTIN1 SHIFTIN2".split()},
                i_OCE=1,
                i_CLK=ClockSignal(_FAST),
                i_CLKDIV=ClockSignal(DOMAIN),
                i_RST=ResetSignal(DOMAIN),
                o_OQ=level,
            ),
            Instance("OBUFDS", i_I=level, o_O=pair.p, o_OB=pair.n),
        ]

    def _receive(self, pair, tap, load, samples):
        level, delayed, value = Signal(), Signal(), Signal(TAP_BITS)
        shifted, came, kept = [Signal(), Signal()], Signal(_SAMPLES), Signal(_SAMPLES)
        self.sync.eem += [value.eq(tap), kept.eq(came)]
        self.sync += samples.eq(kept)
        self.specials += [
            Instance("IBUFDS", i_I=pair.p, i_IB=pair.n, o_O=level),
            Instance(
                "IDELAYE2",
                p_IDELAY_TYPE="VAR_LOAD",
                p_IDELAY_VALUE=0,
                p_DELAY_SRC="IDATAIN",
                p_HIGH_PERFORMANCE_MODE="TRUE",
                p_SIGNAL_PATTERN="DATA",
                p_REFCLK_FREQUENCY=round(_REFERENCE_MHZ, 3),
                **{f"i_{name}": 0 for name in "CE CINVCTRL DATAIN INC LDPIPEEN REGRST".split()},
                i_C=ClockSignal(DOMAIN),
                i_CNTVALUEIN=value,
                i_LD=load,
                i_IDATAIN=level,
                o_DATAOUT=delayed,
            ),
            # In time Q4 and Q3 of the slave, Q8 to Q1 of the master
            self._deserialiser("MASTER", delayed, [0, 0], shifted, {n: came[10 - n] for n in range(1, 9)}),
            self._deserialiser("SLAVE", 0, shifted, None, {3: came[1], 4: came[0]}),
        ]

    @staticmethod
    def _deserialiser(mode, delayed, shift_in, shift_out, outputs):
        shift = {f"i_SHIFTIN{n}": signal for n, signal in enumerate(shift_in, 1)}
        shift |= {f"o_SHIFTOUT{n}": signal for n, signal in enumerate(shift_out or [], 1)}
        return Instance(
            "ISERDESE2",
            p_DATA_RATE="DDR",
            p_DATA_WIDTH=_SAMPLES,
            p_INTERFACE_TYPE="NETWORKING",
            p_SERDES_MODE=mode,
            p_IOBDELAY="IFD" if mode == "MASTER" else "NONE",
            p_NUM_CE=1,
            **shift,
            **{f"o_Q{n}": signal for n, signal in outputs.items()},
            **{f"i_{name}": 0 for name in "D CLKDIVP BITSLIP OCLK OCLKB OFB DYNCLKSEL DYNCLKDIVSEL".split()},
            i_DDLY=delayed,
            i_CE1=1,
            i_CE2=1,
            i_CLK=ClockSignal(_FAST),
            i_CLKB=~ClockSignal(_FAST),
            i_CLKDIV=ClockSignal(DOMAIN),
            i_RST=ResetSignal(DOMAIN),
        )


class EemLine(Module):
    """An end of a line, without the cells: two characters a cycle each way, of nine bits each. `sent` (in, 18 bits): to
    the line; `received` (out, 18 bits): from it, with `invalid` (out) if a character of it has no valid code. `up`
    (out): the line carries words. `levels`, `samples`, `taps`, `load`: as of `Lanes`, in the other direction; `ready`
    (in): as of `LaneClocks`. interval: patience of the `Receiver`; search: keywords of `DelaySearch`. Clock domain
    sys."""

    def __init__(self, interval=12500, **search):
        self.up, self.ready = Signal(), Signal()
        self.submodules.search = search = DelaySearch(**search)
        self.submodules.transmitter = transmitter = Transmitter()
        self.submodules.receiver = receiver = ResetInserter()(Receiver(interval))
        self.sent, self.received, self.invalid = transmitter.word, receiver.word, receiver.invalid
        self.levels, self.taps, self.load = transmitter.lanes, search.taps, search.load
        self.samples = [Signal(_SAMPLES, name=f"samples_{n}") for n in range(LANES)]

        # # #

        for n, samples in enumerate(self.samples):
            self.comb += [receiver.lanes[n].eq(samples[::2]), search.samples[n].eq(samples[:3])]
        self.comb += [
            search.ready.eq(self.ready),
            search.aligned.eq(receiver.aligned),
            receiver.reset.eq(~search.tries),
            self.up.eq(search.found & receiver.aligned),
        ]

    def connect(self, lanes, clocks):
        """Statements that connect `Lanes` and `LaneClocks`."""
        return [
            self.ready.eq(clocks.ready),
            [theirs.eq(ours) for theirs, ours in zip(lanes.levels, self.levels, strict=True)],
            [ours.eq(theirs) for theirs, ours in zip(lanes.samples, self.samples, strict=True)],
            [theirs.eq(ours) for theirs, ours in zip(lanes.taps, self.taps, strict=True)],
            lanes.load.eq(self.load),
        ]

    def carry(self, end):
        """Statements that connect a `DrtioEnd`, or the like."""
        return [
            self.sent.eq(end.sent),
            end.received.eq(self.received),
            end.invalid.eq(self.invalid),
            end.up.eq(self.up),
        ]


class EemEnd(EemLine):
    """An end of a link of this project on such a line. Word `out` (in) to the line, with `ready`, and `into` (out) from
    it."""

    def __init__(self, interval=12500, **search):
        super().__init__(interval, **search)
        self.out = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.into = Record([("valid", 1), ("word", WORD_BITS)])

        # # #

        sends, receives = WordTransmitter(), WordReceiver()
        self.submodules += sends, receives
        self.comb += [
            sends.word.valid.eq(self.out.valid),
            sends.word.word.eq(self.out.word),
            self.out.ready.eq(sends.word.ready),
            self.sent.eq(sends.line),
            receives.line.eq(self.received),
            receives.invalid.eq(self.invalid),
            receives.aligned.eq(self.up),
            self.into.valid.eq(receives.word.valid),
            self.into.word.eq(receives.word.word),
        ]


def connect_cards(module, platform, pairs, links, cards, boot):
    """Adds to a module the hardware for the ends of `links` (`soc.links.Links`) to cards. pairs: of the board, called
    with the platform and the number of a connector, returns those of pairs 0 to 7. cards: connectors by the names of
    the ends. boot: domain of a clock that always runs."""
    module.submodules += (clocks := LaneClocks(boot))
    for name, connector in cards.items():
        of_connector = pairs(platform, connector)
        drtio = isinstance(links.ends[name], DrtioEnd)
        lanes, line = Lanes(of_connector[:LANES], of_connector[LANES:]), EemLine() if drtio else EemEnd()
        words = line.carry(links.ends[name]) if drtio else connect_words(links.ends[name], links.wires[name], line)
        module.submodules += lanes, line
        module.comb += [*line.connect(lanes, clocks), *words]
        # The search for the delays takes the place of a time at the pins
        for way, pins in (("from", of_connector[:LANES]), ("to", of_connector[LANES:])):
            for pair in pins:
                platform.add_platform_command(f"set_false_path -{way} [get_ports {{pin}}]", pin=pair.p)
