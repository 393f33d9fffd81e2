"""A Phaser whose gateware adds up tones for each RF channel; its chips are on SPI buses.

Source: facts of the card (docs/cards.md).

Generated from src/contracts/chips/phaser_mtdds.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ALARM",
    "AMPLITUDE",
    "ASF",
    "ATTENUATORS",
    "CLEAR",
    "CONTROL_BITS",
    "DAC_PINS",
    "FREQUENCY",
    "FTW_BITS",
    "GATEWARE",
    "HARDWARE",
    "LEAST_SAMPLES",
    "LOCKED",
    "MOST_TONES",
    "PHASE",
    "PINS",
    "PORT",
    "POW_BITS",
    "SAMPLES",
    "SAVES",
    "SOURCE",
    "SOURCES",
    "SOURCE_TEST",
    "SOURCE_TONES",
    "TEST_WORDS",
    "TONES",
    "USUAL_TONES",
    "VARIANT",
    "checked_rf_channel",
]

GATEWARE = 1
"""number of this gateware"""

HARDWARE = 0
"""address of the kind of card: 0 with upconverters, 1 without"""

VARIANT = 1
"""address of the number of the gateware"""

SAMPLES = 2
"""address of the number of samples in a coarse cycle"""

TONES = 3
"""address of the number of tones of an RF channel"""

DAC_PINS = 4
"""address of the pins of the DAC"""

ALARM = 5
"""address of the alarm of the DAC"""

SOURCES = 6
"""address of the sources of the DAC's samples"""

TEST_WORDS = 7
"""first address of the four words of a test, I and Q of RF channel 0, then of 1"""

ATTENUATORS = 11
"""address of the resets of the attenuators, a bit for each RF channel, 0 in reset"""

SAVES = 12
"""address of whether the upconverters save power, a bit for each RF channel"""

LOCKED = 13
"""address of whether the upconverters have locked, a bit for each RF channel"""

FREQUENCY = 0
"""address of a tone's frequency word"""

PHASE = 1
"""address of a tone's phase word"""

AMPLITUDE = 2
"""address of a tone's amplitude word"""

CLEAR = 3
"""address of whether a tone's phase accumulator is held at 0"""

CONTROL_BITS = 16
"""bits of a control, and of a sample"""

USUAL_TONES = 26
"""tones of an RF channel, unless its gateware was built with another number"""

MOST_TONES = 32
"""greatest number of tones of an RF channel"""

LEAST_SAMPLES = 2
"""samples in a cycle of 8 ns, for a bandwidth of 250 MHz; twice as many for 500 MHz"""

FTW_BITS = 32
"""bits of a frequency word; all of them: the bandwidth"""

POW_BITS = 16
"""bits of a phase word; all of them: a turn"""

SOURCE_TEST = 0
"""source of the DAC: the test words"""

SOURCE_TONES = 1
"""source of the DAC: the tones"""


class PORT(Register):
    """RTIO address of the controls."""

    chip = "Phaser as a satellite"
    width = 5

    read = Field(4, 1, doc="read, which an input event answers")
    control = Field(0, 4, doc="address of the control")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(read=0, control=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((read & 0x1) << 4) | (control & 0xF)


class PINS(Register):
    """Pins of the DAC."""

    chip = "Phaser as a satellite"
    width = 3

    sleep = Field(2, 1, doc="it sleeps")
    resetb = Field(1, 1, doc="0: it is in reset")
    txena = Field(0, 1, doc="it transmits")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(sleep=0, resetb=0, txena=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((sleep & 0x1) << 2) | ((resetb & 0x1) << 1) | (txena & 0x1)


class SOURCE(Register):
    """Sources of the DAC's samples."""

    chip = "Phaser as a satellite"
    width = 4

    source = Field(0, 2, count=2, doc="of an RF channel")


class ASF(Register):
    """Amplitude of a tone."""

    chip = "Phaser as a satellite"
    width = 15

    asf = Field(0, 15, unit="full scale", steps=0x7FFF, doc="amplitude")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(asf=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return asf & 0x7FFF


@portable
def checked_rf_channel(index) -> TInt32:
    """Return `index` if it is one of the RF channels. ValueError for another number."""
    if index < 0 or index >= 2:
        raise ValueError("the RF channels of a Phaser are 0 and 1")
    return index
