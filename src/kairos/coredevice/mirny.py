"""The logic (CPLD) of a Mirny, a card with four PLL synthesisers: registers, attenuators, and
transfers to the chips behind it."""

from ..language import TInt32, delay, kernel, ms, portable, us
from .chips.mirny import ATTENUATOR, CONTROL, CS, HEAD, MESSAGE, SOURCES, STATUS, checked_channel
from .parts.attenuators import StepAttenuators, step_scale
from .parts.scales import Scale
from .parts.spi import SPI_CS_POLARITY, SPI_END, SPI_INPUT, Transfer

__all__ = ["Mirny", "SPIT_RD", "SPIT_WR", "SPI_CONFIG", "SPI_CS"]

SPI_CONFIG = SPI_CS_POLARITY
SPI_CS = CS
# SPI clock dividers in coarse cycles, for writing and reading
SPIT_WR, SPIT_RD = 4, 16

NAMES = ("xo", "mmcx", "sma")
"""Sources of the reference, in the order of `SOURCES` behind the revision."""
UNKNOWN = -1
LEAST_REFERENCE, HIGHEST_REFERENCE = 10e6, 600e6
"""Of the synthesisers, Hz."""


class _Attenuation(Scale):
    @portable
    def refuse(self):
        raise ValueError("Invalid mirny attenuation!")


def source_numbers(clk_sel):
    """Return the number of a source, given as a number or by name, for each hardware revision (0 to
    3); UNKNOWN for a revision whose sources are not known. ValueError if there is no such
    source."""
    revisions = STATUS.hw_rev.mask + 1
    if not isinstance(clk_sel, str):
        number = int(clk_sel)
        if number != clk_sel or not 0 <= number <= CONTROL.clk_sel.mask:
            raise ValueError(f"Invalid clk_sel: that of a Mirny is 0 to 3, not {clk_sel}")
        return [number] * revisions
    if clk_sel.lower() not in NAMES:
        raise ValueError(f"Invalid clk_sel: that of a Mirny is 0 to 3, or one of {', '.join(NAMES)}, not '{clk_sel}'")
    known = {int(revision): int(numbers[NAMES.index(clk_sel.lower())]) for revision, *numbers in SOURCES}
    return [known.get(revision, UNKNOWN) for revision in range(revisions)]


class Mirny(StepAttenuators):
    """The logic of a Mirny on the SPI bus `spi_device`.

    `refclk`: reference in Hz, 10 to 600 MHz. `clk_sel`: its source, "xo", "mmcx" or "sma", whose
    number `init` looks up for the card's revision; or the number, 0 to 3, for all revisions.
    """

    kernel_invariants = {"attenuation", "blind_source", "bus", "core", "refclk", "sources"}

    attenuation = step_scale(_Attenuation)

    message = Transfer(length=MESSAGE.width, div=SPIT_WR, cs=SPI_CS, flags=SPI_CONFIG | SPI_END)
    question = Transfer(length=MESSAGE.width, div=SPIT_RD, cs=SPI_CS, flags=SPI_CONFIG | SPI_END | SPI_INPUT)
    attenuator = Transfer(length=ATTENUATOR.width, div=SPIT_WR, cs=SPI_CS, flags=SPI_CONFIG | SPI_END)
    head = Transfer(length=HEAD.width, div=SPIT_WR, cs=SPI_CS, flags=SPI_CONFIG)

    def __init__(self, dmgr, spi_device, refclk=100e6, clk_sel="XO", core_device="core"):
        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
        self.refclk, self.clk_sel = refclk, clk_sel
        if not LEAST_REFERENCE <= refclk <= HIGHEST_REFERENCE:
            raise ValueError(f"Invalid refclk: that of a Mirny is 10 to 600 MHz, not {refclk / 1e6} MHz")
        self.sources = source_numbers(clk_sel)
        same = set(self.sources) - {UNKNOWN}
        self.blind_source = same.pop() if len(same) == 1 else UNKNOWN

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
        """Check the revisions unless `blind`, and select the reference.

        ValueError if the card does not answer with a known revision; with `blind`, if the source
        was given by a name whose number depends on the revision.
        """
        source = self.blind_source
        if not blind:
            answer = self.read_reg(STATUS.address)
            if STATUS.proto_rev.get(answer) != 0:
                raise ValueError("Mirny proto_rev mismatch")
            source = self.sources[STATUS.hw_rev.get(answer)]
            delay(100 * us)
            if source == UNKNOWN:
                raise ValueError("Hardware revision not supported")
        if source == UNKNOWN:
            raise ValueError("the number of a Mirny's clk_sel depends on its revision: with blind give it, 0 to 3")
        self.write_reg(CONTROL.address, CONTROL.word(clk_sel=source))
        delay(1 * ms)

    @kernel
    def set_att_mu(self, channel, att):
        """Set the attenuator of a channel (0 to 3) in machine units (0 to 255)."""
        self.attenuator.send(ATTENUATOR.word(attenuator=1, channel=checked_channel(channel), att=att))

    @kernel
    def write_ext(self, addr, length, data, ext_div=SPIT_WR):
        """Send the lowest `length` bits (1 to 32) of `data` to the chip `addr` behind the logic,
        with the SPI clock divider `ext_div`."""
        self.head.send(HEAD.word(addr))
        self.bus.set_config_mu(SPI_CONFIG | SPI_END, length, ext_div, SPI_CS)
        self.bus.write(data << (32 - length))
