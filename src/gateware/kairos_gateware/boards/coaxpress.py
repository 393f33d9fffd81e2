"""The transceiver of a CoaXPress grabber in an SFP cage (GTX, UG476): 1.25 Gbit/s from the camera, 20.83 Mbit/s to it.

    reference ─▶ PLL of the channel, 2.5 GHz ─┬─ ÷ 4: receiver, 20 bits a cycle ─▶ LineReceiver (coaxpress/line.py)
                                              └─ ÷ 2: sender at 2.5 Gbit/s, 20 equal bits a cycle ◀─ LineTransmitter

The line to the camera is slower than any rate of the transceiver, so 120 bits of the sender are one of it. Its clock
has the frequency of the logic, as both come from the same synthesiser. The channel's own PLL leaves that of the quad,
whose rate is another one, to the links in the other cages. Characters are found by logic, which is simulated bit by
bit (`coaxpress/test_line.py`); the cell is tested for the names of its ports and attributes only, and no chip has run
it.
"""

import re

from migen import *
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from ..coaxpress.line import LINE_BITS, LineReceiver, LineTransmitter
from .gtx import REFERENCE_HZ, WAIT, ReceiverReset, channel_cell, reference_clock

__all__ = ["CHANNEL", "CameraTransceiver", "PLL_HZ", "RECEIVE_HZ", "SEND_HZ", "camera_pads", "connect_cameras"]

PLL_HZ = 2.5e9
RECEIVE_HZ, SEND_HZ = 1.25e9, 2.5e9
_PLACE = re.compile(r"sfp(\d):(\w+)")
CHANNEL = {
    # 20 bits outside and within, no 8B/10B of the cell
    **{f"{side}_DATA_WIDTH": LINE_BITS for side in ("TX", "RX")},
    **{f"{side}_INT_DATAWIDTH": 0 for side in ("TX", "RX")},
    # The PLL's clock is the reference times 4 times 5; lines have twice its frequency, divided
    "CPLL_FBDIV": 4,
    "CPLL_FBDIV_45": 5,
    "CPLL_REFCLK_DIV": 1,
    "RXOUT_DIV": int(2 * PLL_HZ / RECEIVE_HZ),
    "TXOUT_DIV": int(2 * PLL_HZ / SEND_HZ),
    # What AMD's wizard sets with this PLL, and below 6.6 Gbit/s
    "CPLL_CFG": 0xBC07DC,
    "PMA_RSV": 0x0001_8480,
    # Description of the cards, section 6: clock recovery at 1.25 Gbit/s, equaliser below 6.25
    "RXCDR_CFG": 0x03_0000_23FF_1008_0020,
    "RX_DFE_LPM_CFG": 0x0904,
}
"""Attributes that are not those of a link's transceiver."""


def _twenty(low, bit_8, bit_9):
    """The bits of a cycle in their order, of ports with eight, and one for two bytes each (UG476, widths of 20 without
    8B/10B)."""
    return Cat(*[Cat(low[8 * n : 8 * n + 8], bit_8[n], bit_9[n]) for n in range(2)])


class CameraTransceiver(Module):
    """pads: of the cage; reference: clock after its IBUFDS_GTE2; boot: domain of a clock that always runs; name: of its
    clock domains, "camera3" for `camera3_rx` (62.5 MHz) and `camera3_tx` (125 MHz). In sys: `character` (out, 9 bits),
    `valid` (out): from the camera; `level` (in): of the line to it."""

    def __init__(self, pads, reference, boot, name):
        self.submodules.receiver = receiver = LineReceiver(f"{name}_rx")
        self.submodules.transmitter = transmitter = LineTransmitter(f"{name}_tx")
        self.character, self.valid, self.level = receiver.character, receiver.valid, transmitter.level

        # # #

        self.submodules.receiver_reset = receiver_reset = ReceiverReset(boot)
        pll_reset, whole = Signal(reset=1), Signal(reset=1)
        resets = {"TX": whole, "RX": receiver_reset.reset}
        locked = Signal()
        received = {port: Signal(width) for port, width in (("RXDATA", 64), ("RXCHARISK", 8), ("RXDISPERR", 8))}
        sent = {port: Signal(width) for port, width in (("TXDATA", 64), ("TXCHARDISPVAL", 8), ("TXCHARDISPMODE", 8))}
        sides = {}
        for side, reset in resets.items():
            sides |= self._side(boot, name, side, reset)
        self.specials += channel_cell(
            name,
            pads,
            **{f"p_{key}": value for key, value in CHANNEL.items()},
            **sides,
            **{f"o_{port}": signal for port, signal in received.items()},
            **{f"i_{port}": signal for port, signal in sent.items()},
            i_GTREFCLK0=reference,
            i_QPLLCLK=0,
            i_QPLLREFCLK=0,
            i_CPLLPD=0,
            i_CPLLLOCKEN=1,
            i_CPLLLOCKDETCLK=ClockSignal(boot),
            i_CPLLRESET=pll_reset,
            o_CPLLLOCK=locked,
        )
        self.comb += [
            receiver.line.eq(_twenty(received["RXDATA"], received["RXCHARISK"], received["RXDISPERR"])),
            _twenty(sent["TXDATA"], sent["TXCHARDISPVAL"], sent["TXCHARDISPMODE"]).eq(transmitter.line),
            receiver_reset.whole.eq(whole),
            receiver_reset.in_step.eq(receiver.in_step),
        ]
        # First the PLL, then, once it has locked, both sides
        seen, wait = Signal(), Signal(max=WAIT, reset=WAIT - 1)
        self.specials += MultiReg(locked, seen, boot)
        in_boot = getattr(self.sync, boot)
        in_boot += [
            If(wait != 0, wait.eq(wait - 1)).Elif(pll_reset, pll_reset.eq(0), wait.eq(WAIT - 1)).Else(whole.eq(~seen)),
        ]

    def _side(self, boot, name, side, reset):
        """Adds the clock domain of a side, whose clock is the cell's. Returns the cell's ports."""
        domain, source, done = f"{name}_{side.lower()}", Signal(), Signal()
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
            f"i_{side}SYSCLKSEL": 0b00,  # the channel's PLL
            f"i_GT{side}RESET": reset,
            f"i_{side}USERRDY": ready,
            f"i_{side}USRCLK": cd.clk,
            f"i_{side}USRCLK2": ClockSignal(domain),
            f"o_{side}OUTCLK": source,
            f"o_{side}RESETDONE": done,
        }


def camera_pads(pads) -> dict[int, dict]:
    """The pads of grabbers by cage, and by their names: those whose pin is "sfp3:tx"."""
    found = {}
    for pad in pads:
        if pad.pin is not None and (place := _PLACE.fullmatch(pad.pin)):
            found.setdefault(int(place[1]), {})[place[2]] = pad
    return found


def connect_cameras(module, platform, board, grabbers, links, boot):
    """Adds to a module the transceivers of grabbers, with their constraints. grabbers: of `camera_pads`; links: number
    of cages with one. Raises ValueError if the board does not have the cage, or a link is in it."""
    cages = board.cages
    for cage, pads in sorted(grabbers.items()):
        if cages is None or cage not in cages.cameras:
            raise ValueError(f"{pads['tx'].name}: {board.name} has no transceiver for a camera at SFP {cage}")
        if cage < links:
            raise ValueError(f"{pads['tx'].name}: SFP {cage} of {board.name} has a link")
        name = f"camera{cage}"
        reference = reference_clock(module, platform, cages.reference)
        module.submodules += (line := CameraTransceiver(platform.request("sfp", cage), reference, boot, name))
        bits = Cat(line.character, line.valid)
        module.comb += line.level.eq(pads["tx"].o[0])
        for n, part in enumerate([*(f"d{n}" for n in range(8)), "k", "valid"]):
            module.comb += pads[part].i.eq(Replicate(bits[n], len(pads[part].i)))
        for side, hz in (("rx", RECEIVE_HZ), ("tx", SEND_HZ)):
            clock = f"{name}_{side}"
            platform.add_platform_command(
                f"create_clock -name {clock} -period {1e9 * LINE_BITS / hz} [get_pins {name}_gtx/{side.upper()}OUTCLK]"
            )
            platform.add_platform_command(f"set_clock_groups -asynchronous -group [get_clocks {clock}]")


assert PLL_HZ == REFERENCE_HZ * CHANNEL["CPLL_FBDIV"] * CHANNEL["CPLL_FBDIV_45"]
