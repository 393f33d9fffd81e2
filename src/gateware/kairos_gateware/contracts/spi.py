"""SPI masters on RTIO: addresses, and the word at the address of the configuration.

Generated from src/contracts/spi.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "WORD_BITS",
    "DATA_ADDRESS",
    "CONFIG_ADDRESS",
    "FLAGS_AT",
    "FLAGS_BITS",
    "LENGTH_AT",
    "LENGTH_BITS",
    "LENGTH_LEAST",
    "DIV_AT",
    "DIV_BITS",
    "DIV_LEAST",
    "CS_AT",
    "CS_BITS",
    "SpiFlag",
]

WORD_BITS = 32
"""Bits of the longest transfer, and of both registers."""

DATA_ADDRESS = 0
"""Address of the data; a write starts a transfer."""

CONFIG_ADDRESS = 1
"""Address of the configuration."""

FLAGS_AT = 0
"""Configuration: `SpiFlag`s."""

FLAGS_BITS = 8
"""Width of the flags."""

LENGTH_AT = 8
"""Configuration: bits of a transfer."""

LENGTH_BITS = 5
"""Width of the length."""

LENGTH_LEAST = 1
"""Bits of the shortest transfer."""

DIV_AT = 16
"""Configuration: coarse cycles in a period of the SPI clock."""

DIV_BITS = 8
"""Width of the divider."""

DIV_LEAST = 2
"""Coarse cycles in the shortest period."""

CS_AT = 24
"""Configuration: bit mask of the chip selects."""

CS_BITS = 8
"""Width of the chip selects."""


class SpiFlag(IntEnum):
    """Flags of the configuration."""

    OFFLINE = 1
    """No pin is driven; state after reset."""
    END = 2
    """Chip select is released after the transfer."""
    INPUT = 4
    """The received bits are submitted as an input event."""
    CS_POLARITY = 8
    """Chip select is active high."""
    CLK_POLARITY = 16
    """The clock idles high."""
    CLK_PHASE = 32
    """Data change on the leading clock edge and are sampled on the trailing edge."""
    LSB_FIRST = 64
    """The least significant bit is sent first."""
    HALF_DUPLEX = 128
    """With input: data are received on MOSI, which is not driven."""
