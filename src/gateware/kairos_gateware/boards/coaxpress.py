"""The transceiver of a CoaXPress grabber in an SFP cage (GTX, UG476): 1.25 to 6.25 Gbit/s from the camera, 20.83 Mbit/s
to it.

    reference ─┬▶ PLL of the channel, 2.5 GHz ─┬─ ÷ 4, 2, 1: receiver at 1.25, 2.5, 5 Gbit/s ─▶ LineReceiver
               │                               └─ ÷ 2: sender at 2.5 Gbit/s, 20 equal bits a cycle ◀─ LineTransmitter
               └▶ PLL of the quad, 6.25 GHz ─── ÷ 4, 2: receiver at 3.125, 6.25 Gbit/s

The receiver gives 40 bits a cycle. Each camera has a rate of its own, since neither PLL ever changes: a change of the
rate selects the receiver's PLL, sets its divider and its clock recovery over the reconfiguration port of the cell
(`rates.py`), and resets it. Beside a link, whose rate is another one, the quad's PLL is the link's: a camera then has
the rates of the channel's PLL only.

The line to the camera is slower than any rate of the transceiver, so 120 bits of the sender are one of it. Its clock
has the frequency of the logic, as both come from the same synthesiser. Characters are found by logic, which is
simulated bit by bit (`coaxpress/test_line.py`); the cell is tested for the names of its ports and attributes only, and
no chip has run it.

10 and 12.5 Gbit/s, which this chip's speed grade has, are not there: all that handles words would need a clock of 250
or 312.5 MHz.
"""

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from ..coaxpress.line import LEVEL_BITS, LINE_BITS, LineReceiver, LineTransmitter
from .gtx import REFERENCE_HZ, WAIT, Quad, ReceiverReset, channel_cell, reference_clock
from .rates import OF_CHANNEL, PLL_HZ, QUAD_PLL_HZ, RATES_HZ, RateControl

__all__ = ["CHANNEL", "SEND_HZ", "CameraTransceiver", "connect_cameras"]

SEND_HZ = 2.5e9
CHANNEL = {
    # 40 bits outside and within from the camera, 20 to it, no 8B/10B of the cell
    "RX_DATA_WIDTH": LINE_BITS,
    "TX_DATA_WIDTH": LEVEL_BITS,
    "RX_INT_DATAWIDTH": 1,
    "TX_INT_DATAWIDTH": 0,
    # The PLL's clock is the reference times 4 times 5; lines have twice its frequency, divided
    "CPLL_FBDIV": 4,
    "CPLL_FBDIV_45": 5,
    "CPLL_REFCLK_DIV": 1,
    "RXOUT_DIV": int(2 * PLL_HZ / RATES_HZ[0]),
    "TXOUT_DIV": int(2 * PLL_HZ / SEND_HZ),
    # What AMD's wizard sets with this PLL, and below 6.6 Gbit/s
    "CPLL_CFG": 0xBC07DC,
    "PMA_RSV": 0x0001_8480,
    # Description of the cards, section 6: clock recovery at 1.25 Gbit/s, equaliser up to 6.25
    "RXCDR_CFG": 0x03_0000_23FF_1008_0020,
    "RX_DFE_LPM_CFG": 0x0904,
}
"""Attributes that are not those of a link's transceiver."""


def _in_order(ports, count):
    """The bits of a cycle in their order, of ports with eight, and one for each byte twice (UG476, widths without
    8B/10B that are multiples of 20)."""
    low, bit_8, bit_9 = ports
    return Cat(*[Cat(low[8 * n : 8 * n + 8], bit_8[n], bit_9[n]) for n in range(count // 10)])


class CameraTransceiver(Module):
    """pads: of the cage; reference: clock after its IBUFDS_GTE2; boot: domain of a clock that always runs; name: of its
    clock domains, "camera3" for `camera3_rx` (31.25 to 156.25 MHz) and `camera3_tx` (125 MHz); quad: `Quad` with a PLL
    of `QUAD_PLL_HZ`, or None. In camera3_rx: `stb` (out), `word` (out, 36 bits): words from the camera. In sys:
    `in_step` (out): words arrive; `rate` (in, 3 bits): number of the rate; `level` (in): of the line to the camera."""

    def __init__(self, pads, reference, boot, name, quad=None):
        self.submodules.receiver = receiver = ClockDomainsRenamer(f"{name}_rx")(LineReceiver())
        self.submodules.transmitter = transmitter = LineTransmitter(f"{name}_tx")
        self.submodules.control = control = RateControl(boot)
        self.stb, self.word, self.level = receiver.stb, receiver.word, transmitter.level
        self.rate, self.in_step = control.rate, Signal()

        # # #

        self.submodules.receiver_reset = receiver_reset = ReceiverReset(boot)
        pll_reset, whole = Signal(reset=1), Signal(reset=1)
        resets = {"TX": whole, "RX": receiver_reset.reset}
        locked, held = Signal(), Signal()
        received = {port: Signal(width) for port, width in (("RXDATA", 64), ("RXCHARISK", 8), ("RXDISPERR", 8))}
        sent = {port: Signal(width) for port, width in (("TXDATA", 64), ("TXCHARDISPVAL", 8), ("TXCHARDISPMODE", 8))}
        sides, self._done = {}, {}
        for side, reset in resets.items():
            sides |= self._side(boot, name, side, reset)
        sides["i_RXSYSCLKSEL"] = Replicate(control.quad, 2)
        drp = control.port
        self.specials += channel_cell(
            name,
            pads,
            **{f"p_{key}": value for key, value in CHANNEL.items()},
            **sides,
            **{f"o_{port}": signal for port, signal in received.items()},
            **{f"i_{port}": signal for port, signal in sent.items()},
            i_GTREFCLK0=reference,
            i_QPLLCLK=0 if quad is None else quad.clock,
            i_QPLLREFCLK=0 if quad is None else quad.clock_reference,
            i_DRPCLK=ClockSignal(boot),
            i_DRPADDR=drp.address,
            i_DRPDI=drp.write,
            i_DRPEN=drp.enable,
            i_DRPWE=drp.writes,
            o_DRPDO=drp.read,
            o_DRPRDY=drp.ready,
            i_CPLLPD=0,
            i_CPLLLOCKEN=1,
            i_CPLLLOCKDETCLK=ClockSignal(boot),
            i_CPLLRESET=pll_reset,
            o_CPLLLOCK=locked,
        )
        self.comb += [
            receiver.line.eq(_in_order(received.values(), LINE_BITS)),
            _in_order(sent.values(), LEVEL_BITS).eq(transmitter.line),
            control.whole.eq(whole),
            held.eq(whole | control.hold | (control.quad & (0 if quad is None else quad.reset))),
            receiver_reset.whole.eq(held),
            receiver_reset.in_step.eq(receiver.in_step),
        ]
        # While the receiver is in reset its clock may stand still, and with it what it has found
        arrives, runs = Signal(), Signal()
        self.specials += [MultiReg(receiver.in_step, arrives), MultiReg(self._done["RX"], runs)]
        self.comb += self.in_step.eq(arrives & runs)
        # First the PLL, then, once it has locked, both sides
        seen, wait = Signal(), Signal(max=WAIT, reset=WAIT - 1)
        self.specials += MultiReg(locked, seen, boot)
        in_boot = getattr(self.sync, boot)
        in_boot += [
            If(wait != 0, wait.eq(wait - 1)).Elif(pll_reset, pll_reset.eq(0), wait.eq(WAIT - 1)).Else(whole.eq(~seen)),
        ]

    def _side(self, boot, name, side, reset):
        """Adds the clock domain of a side, whose clock is the cell's. Returns the cell's ports."""
        domain, source = f"{name}_{side.lower()}", Signal()
        self._done[side] = done = Signal()
        cd = ClockDomain(domain)
        setattr(self.clock_domains, f"cd_{domain}", cd)
        ready, wait = Signal(), Signal(max=WAIT, reset=WAIT - 1)
        in_boot = getattr(self.sync, boot)
        in_boot += If(reset, ready.eq(0), wait.eq(WAIT - 1)).Elif(wait != 0, wait.eq(wait - 1)).Else(ready.eq(1))
        self.specials += [
            Instance("BUFG", i_I=source, o_O=cd.clk),
            AsyncResetSynchronizer(cd, ~done),
        ]
        return {
            f"i_{side}SYSCLKSEL": 0b00,  # the channel's PLL, of the receiver unless it is told otherwise
            f"i_GT{side}RESET": reset,
            f"i_{side}USERRDY": ready,
            f"i_{side}USRCLK": cd.clk,
            f"i_{side}USRCLK2": ClockSignal(domain),
            f"o_{side}OUTCLK": source,
            f"o_{side}RESETDONE": done,
        }


def connect_cameras(module, platform, board, grabbers, links, boot):
    """Adds to a module the transceivers of grabbers, with their constraints. grabbers: each a `CxpGrabber` with the
    place of its camera as the pin of its pad, "sfp3:tx"; links: number of cages with a link. Raises ValueError if the
    board does not have the cage, or a link is in it."""
    cages, quad = board.cages, None
    for grabber in grabbers:
        (tx,) = grabber.pads
        cage, name = int(tx.pin[len("sfp")]), grabber.domain.removesuffix("_rx")
        if cages is None or cage not in cages.cameras:
            raise ValueError(f"{tx.name}: {board.name} has no transceiver for a camera at SFP {cage}")
        if cage < links:
            raise ValueError(f"{tx.name}: SFP {cage} of {board.name} has a link")
        reference = reference_clock(module, platform, cages.reference)
        if quad is None and not links:
            module.submodules += (quad := Quad(reference, boot, REFERENCE_HZ, QUAD_PLL_HZ))
        line = CameraTransceiver(platform.request("sfp", cage), reference, boot, name, quad)
        module.submodules += line
        rates = range(len(RATES_HZ)) if quad is not None else OF_CHANNEL
        module.comb += [
            line.level.eq(grabber.level),
            line.rate.eq(grabber.rate),
            grabber.in_step.eq(line.in_step),
            grabber.rates.eq(sum(1 << rate for rate in rates)),
            grabber.reception.stb.eq(line.stb),
            grabber.reception.word.eq(line.word),
        ]
        for side, hz, bits in (("rx", RATES_HZ[max(rates)], LINE_BITS), ("tx", SEND_HZ, LEVEL_BITS)):
            clock = f"{name}_{side}"
            platform.add_platform_command(
                f"create_clock -name {clock} -period {1e9 * bits / hz} [get_pins {name}_gtx/{side.upper()}OUTCLK]"
            )
            platform.add_platform_command(f"set_clock_groups -asynchronous -group [get_clocks {clock}]")


assert PLL_HZ == REFERENCE_HZ * CHANNEL["CPLL_FBDIV"] * CHANNEL["CPLL_FBDIV_45"]
