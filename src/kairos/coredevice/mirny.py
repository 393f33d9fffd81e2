"""The logic (CPLD) of a Mirny, a card with four PLL synthesisers: registers, attenuators, and
transfers to the chips behind it."""

from ..language import TInt32, delay, kernel, ms, portable, us
from .chips.mirny import ATTENUATOR, CONTROL, CS, HEAD, MESSAGE, STATUS
from .parts.attenuators import StepAttenuators, step_scale
from .parts.scales import Scale
from .parts.spi import SPI_CS_POLARITY, SPI_END, SPI_INPUT, Transfer

__all__ = ["Mirny", "SPIT_RD", "SPIT_WR", "SPI_CONFIG", "SPI_CS"]

SPI_CONFIG = SPI_CS_POLARITY
SPI_CS = CS
# SPI clock dividers in coarse cycles, for writing and reading
SPIT_WR, SPIT_RD = 4, 16

SOURCES = {"xo": 0, "mmcx": None, "sma": None}
"""Numbers of the reference sources by name, where known."""
UNKNOWN = -1


class _Attenuation(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid mirny attenuation!")


def source_number(clk_sel):
    """Return the number of a source given as a number or by name; UNKNOWN if its number is not
    known. ValueError if there is no such source."""
    if not isinstance(clk_sel, str):
        return CONTROL.clk_sel.check(clk_sel, "clk_sel")
    if clk_sel.lower() not in SOURCES:
        raise ValueError(f"clk_sel of a Mirny is 0 to 3, or one of {', '.join(SOURCES)}, not '{clk_sel}'")
    number = SOURCES[clk_sel.lower()]
    return UNKNOWN if number is None else number


class Mirny(StepAttenuators):
    """The logic of a Mirny on the SPI bus `spi_device`.

    `refclk`: reference in Hz. `clk_sel`: its source, 0 to 3 as defined by the card's revision, or
    "xo".
    """

    kernel_invariants = {"attenuation", "bus", "core", "refclk", "source"}

    attenuation = step_scale(_Attenuation)

    message = Transfer(length=MESSAGE.width, div=SPIT_WR, cs=SPI_CS, flags=SPI_CONFIG | SPI_END)
    question = Transfer(length=MESSAGE.width, div=SPIT_RD, cs=SPI_CS, flags=SPI_CONFIG | SPI_END | SPI_INPUT)
    attenuator = Transfer(length=ATTENUATOR.width, div=SPIT_WR, cs=SPI_CS, flags=SPI_CONFIG | SPI_END)
    head = Transfer(length=HEAD.width, div=SPIT_WR, cs=SPI_CS, flags=SPI_CONFIG)

    def __init__(self, dmgr, spi_device, refclk=100e6, clk_sel="XO", core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
        self.refclk, self.clk_sel = refclk, clk_sel
        self.source = source_number(clk_sel)

    @kernel
    def read_reg(self, addr) -> TInt32:
        """Read a register, 16 bits."""
        return MESSAGE.data.get(self.question.exchange(MESSAGE.word(register=addr)))

    @kernel
    def write_reg(self, addr, data):
        """Write a register, 16 bits."""
        self.message.send(MESSAGE.word(register=addr, write=1, data=data))

    @kernel
    def init(self, blind=False):
        """Check the protocol revision unless `blind`, and select the reference.

        ValueError if the card does not answer with that revision, or the source's number is not
        known.
        """
        if self.source == UNKNOWN:
            raise ValueError(
                "the number of the reference source depends on the Mirny: give clk_sel as a number, 0 to 3"
            )
        if not blind:
            if STATUS.proto_rev.get(self.read_reg(STATUS.address)) != 0:
                raise ValueError("Mirny proto_rev mismatch")
            delay(100 * us)
        self.write_reg(CONTROL.address, CONTROL.word(clk_sel=self.source))
        delay(1 * ms)

    @kernel
    def set_att_mu(self, channel, att):
        """Set the attenuator of a channel (0 to 3) in machine units (0 to 255)."""
        self.attenuator.send(ATTENUATOR.word(attenuator=1, channel=channel, att=att))

    @kernel
    def write_ext(self, addr, length, data, ext_div=SPIT_WR):
        """Send the lowest `length` bits (1 to 32) of `data` to the chip `addr` behind the logic,
        with the SPI clock divider `ext_div`."""
        self.head.send(HEAD.word(addr))
        self.bus.set_config_mu(SPI_CONFIG | SPI_END, length, ext_div, SPI_CS)
        self.bus.write(data << (32 - length))
