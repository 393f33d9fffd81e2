"""Logic of a card with four PLL synthesisers: registers, attenuators, and messages to the chips behind it.

Source: Sinara Mirny, logic of protocol revision 0.

Generated from src/contracts/chips/mirny.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ATTENUATOR",
    "CONTROL",
    "CS",
    "EXTENSION",
    "HEAD",
    "MESSAGE",
    "SOURCES",
    "STATUS",
    "checked_channel",
]

CS = 1
"""chip select of the card"""

EXTENSION = 12
"""destination of channel 0 of a card on top (Almazny)"""

SOURCES = (
    (3, 0, 2, 3),
    (2, 0, 3, 2),
)
"""Numbers of the reference's sources by hardware revision, as read from the card: 3 is v1.0, 2 is v1.1. A row: hw_rev,
xo, mmcx, sma."""


class MESSAGE(Register):
    """A message to a register of the logic."""

    chip = "Mirny"
    width = 24

    register = Field(17, 7, doc="register")
    write = Field(16, 1, doc="write it")
    data = Field(0, 16, doc="value")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(register=0, write=0, data=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((register & 0x7F) << 17) | ((write & 0x1) << 16) | (data & 0xFFFF)


class HEAD(Register):
    """Header of a message to a chip behind the logic; the data follow unmodified."""

    chip = "Mirny"
    width = 8

    destination = Field(1, 7, doc="chip: the synthesiser of a channel, or a chip of a card on top")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(destination=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (destination & 0x7F) << 1


class ATTENUATOR(Register):
    """A message to an attenuator."""

    chip = "Mirny"
    width = 16

    attenuator = Field(12, 1, doc="marks a message to an attenuator")
    channel = Field(9, 2, doc="channel")
    att = Field(0, 8, unit="dB", steps=8, doc="255 less the attenuation")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(attenuator=0, channel=0, att=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((attenuator & 0x1) << 12) | ((channel & 0x3) << 9) | (att & 0xFF)


class STATUS(Register):
    """Revisions and levels; read only."""

    chip = "Mirny"
    width = 16
    address = 0x00

    hw_rev = Field(0, 2, doc="revision of the card: 3 is v1.0, 2 is v1.1")
    proto_rev = Field(2, 2, range=(0, 0), doc="revision of the protocol")
    muxout = Field(8, 1, count=4, doc="level of a synthesiser's MUXOUT")


class CONTROL(Register):
    """Control register."""

    chip = "Mirny"
    width = 16
    address = 0x01
    reset = 0x0000

    clk_sel = Field(4, 2, doc="source of the reference")
    almazny_oe = Field(12, 1, doc="outputs of a legacy Almazny on")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(clk_sel=0, almazny_oe=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((clk_sel & 0x3) << 4) | ((almazny_oe & 0x1) << 12)


@portable
def checked_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 4:
        raise ValueError("the channels of a Mirny are 0 to 3")
    return index
