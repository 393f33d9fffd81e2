"""I/O expander with 24 pins in three ports of 8, on an I2C bus.

Source: Texas Instruments, TCA6424A data sheet (SCPS193), section "Register maps".

Generated from src/contracts/chips/tca6424a.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "BUS_ADDRESS",
    "COMMAND",
    "CONFIGURATION",
    "INPUT",
    "OUTPUT",
    "POLARITY",
]

BUS_ADDRESS = 34
"""Address on the I2C bus, 7 bits, with its pin ADDR low."""


class COMMAND(Register):
    """First byte written: address of the following register."""

    chip = "TCA6424A"
    width = 8

    auto_increment = Field(7, 1, doc="the next byte is the next port's")
    register = Field(0, 7, doc="register")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(auto_increment=0, register=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((auto_increment & 0x1) << 7) | (register & 0x7F)


class INPUT(Register):
    """Levels of the pins of a port."""

    chip = "TCA6424A"
    width = 8
    address = 0x00
    count = 3

    pin = Field(0, 1, count=8, doc="level")


class OUTPUT(Register):
    """Levels that a port's pins have as outputs."""

    chip = "TCA6424A"
    width = 8
    address = 0x04
    count = 3
    reset = 0xFF

    pin = Field(0, 1, count=8, doc="level")


class POLARITY(Register):
    """Which levels of a port's pins are read inverted."""

    chip = "TCA6424A"
    width = 8
    address = 0x08
    count = 3
    reset = 0x00

    pin = Field(0, 1, count=8, doc="inverted")


class CONFIGURATION(Register):
    """Which of a port's pins are inputs."""

    chip = "TCA6424A"
    width = 8
    address = 0x0C
    count = 3
    reset = 0xFF

    pin = Field(0, 1, count=8, doc="input")
