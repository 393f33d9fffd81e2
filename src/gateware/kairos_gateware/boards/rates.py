"""The rates of a camera's transceiver (`coaxpress.py`), and the change from one to another: over the reconfiguration
port of its cell, while the receiver is in reset.

    rate      -- 0 --X-- 3 ------------------------------------------
    hold      _______/‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾\\_________
    port             read, write | read, write | wait

Addresses and values: description of the cards, section 6, with the dividers of these PLLs. A register's other bits
keep their value.
"""

from migen import *
from migen.genlib.cdc import MultiReg

from ..contracts.coaxpress import RATES
from .gtx import WAIT

__all__ = ["OF_CHANNEL", "PLL_HZ", "QUAD_PLL_HZ", "RATES_HZ", "SETTINGS", "Port", "RateControl"]

PLL_HZ, QUAD_PLL_HZ = 2.5e9, 6.25e9
"""Of the channel's PLL, and of the quad's behind its own divider; a line has twice its PLL's frequency, divided."""
RATES_HZ = [1e6 * megabits for megabits, _ in RATES]
OF_CHANNEL = tuple(n for n, hz in enumerate(RATES_HZ) if (2 * PLL_HZ / hz).is_integer())
"""Numbers of the rates that the channel's PLL makes; the quad's makes the others."""


def _divider(rate):
    """log2 of the receiver's divider."""
    return log2_int(int(2 * (PLL_HZ if rate in OF_CHANNEL else QUAD_PLL_HZ) / RATES_HZ[rate]))


_ALL = range(len(RATES_HZ))
SETTINGS = {
    0x88: (0x0007, [_divider(rate) for rate in _ALL]),  # RXOUT_DIV; TXOUT_DIV is in the same register
    0xA9: (0xFFFF, [0x1008, 0x1010, 0x1020, 0x1010, 0x1020]),  # RXCDR_CFG, bits 31 to 16
}
"""{address: (bits that change, values by rate)}. What is equal at all of these rates is an attribute of the cell."""


class Port:
    """The reconfiguration port of a cell (DRP, UG476), directions as seen by its user: `address` (out, 9 bits),
    `write` (out, 16 bits), `enable` (out), `writes` (out), `read` (in, 16 bits), `ready` (in)."""

    def __init__(self):
        self.address, self.write, self.read = Signal(9), Signal(16), Signal(16)
        self.enable, self.writes, self.ready = Signal(), Signal(), Signal()


class RateControl(Module):
    """boot: domain of a clock that always runs. `rate` (in, 3 bits), in sys: number of the rate; `whole` (in): the
    whole transceiver is in reset. `hold` (out): the receiver is to be in reset; `quad` (out):
    its clock is of the quad's PLL; `port`: `Port` of the cell."""

    def __init__(self, boot):
        self.rate, self.whole = Signal(3), Signal()
        self.hold, self.quad, self.port = Signal(reset=1), Signal(), Port()

        # # #

        port, module = self.port, Module()
        seen, before, active = Signal(3), Signal(3), Signal(3)
        step, asked, written = Signal(max=len(SETTINGS) + 1), Signal(), Signal()
        wait = Signal(max=WAIT, reset=WAIT - 1)
        self.specials += MultiReg(self.rate, seen, boot)
        self.submodules += ClockDomainsRenamer(boot)(module)
        mask, value = Signal(16), Signal(16)
        places = {
            n: [
                port.address.eq(address),
                mask.eq(bits),
                Case(active, {rate: value.eq(values[rate]) for rate in _ALL} | {"default": value.eq(values[0])}),
            ]
            for n, (address, (bits, values)) in enumerate(SETTINGS.items())
        }
        of_quad = {rate: self.quad.eq(rate not in OF_CHANNEL) for rate in _ALL}
        module.comb += Case(step, places)
        module.sync += [
            before.eq(seen),
            port.enable.eq(0),
            port.writes.eq(0),
            If(
                self.whole,
                self.hold.eq(1),
                step.eq(0),
                asked.eq(0),
                written.eq(0),
                wait.eq(WAIT - 1),
            )
            .Elif(
                ~self.hold,
                # Its bits may arrive one after the other
                If((seen != active) & (seen == before), active.eq(seen), self.hold.eq(1)),
            )
            .Elif(
                step == len(SETTINGS),
                Case(active, of_quad | {"default": self.quad.eq(0)}),
                If(wait != 0, wait.eq(wait - 1)).Else(self.hold.eq(0), step.eq(0), wait.eq(WAIT - 1)),
            )
            .Elif(
                ~asked,
                asked.eq(1),
                port.enable.eq(1),
            )
            .Elif(
                port.ready & ~written,
                port.write.eq((port.read & ~mask) | (value & mask)),
                port.enable.eq(1),
                port.writes.eq(1),
                written.eq(1),
            )
            .Elif(
                port.ready,
                step.eq(step + 1),
                asked.eq(0),
                written.eq(0),
            ),
        ]
