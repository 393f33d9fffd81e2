"""Descriptor memory of the gateware: records, flags, kinds of RTIO channels.

Generated from src/contracts/descriptor.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["MAGIC", "VERSION", "HEADER", "READABLE", "WRITABLE", "Record", "ChannelKind", "ClockSource"]

MAGIC = b"KAIR"
"""First bytes of a descriptor."""

VERSION = 1
"""Version of the format."""

HEADER = 16
"""Bytes in front of the records: magic, version u16, reserved u16, total length u32, CRC-32 u32 of what follows."""

READABLE = 1
"""Flag of a register: it can be read."""

WRITABLE = 2
"""Flag of a register: it can be written."""


class Record(IntEnum):
    """Types of records."""

    END = 0
    """The last one."""
    IDENTIFICATION = 1
    """What gateware this is."""
    BUILD_ID = 2
    """Which build."""
    REGISTER = 3
    """A register. 64-bit ones: high word at the lower address."""
    CHANNEL = 4
    """An RTIO channel. A parameter that is left out has its default (`serialised` 0: resolution 8 ns)."""
    CLOCK = 5
    """The RTIO clock."""


class ChannelKind(IntEnum):
    """What is on an RTIO channel; parameters: `docs/gateware/phys.md`."""

    TTL_OUT = 1
    """Level output."""
    TTL_INOUT = 2
    """Level output or gated input."""
    TTL_CLOCKGEN = 3
    """Clock generator."""
    EDGE_COUNTER = 4
    """Counter of a TTL input's edges."""
    SPI_MASTER = 5
    """SPI bus."""
    AD9914 = 6
    """Parallel bus of AD9914 synthesisers."""
    FASTINO = 7
    """Fastino, 32 DACs."""
    GRABBER = 8
    """Camera Link frame grabber."""
    GRABBER_GATE = 9
    """Its regions of interest."""
    PULSE = 10
    """Pulse core: words, triggers and results."""
    SUSERVO = 20
    """SU-Servo: its memory and control."""
    SUSERVO_CHANNEL = 21
    """A channel of an SU-Servo."""
    PHASER = 22
    """Registers of a Phaser."""
    PHASER_TONE = 23
    """Frequencies, or amplitudes and phases, of a Phaser's oscillators."""
    LOG = 255
    """The log channel, which has no pin."""


class ClockSource(IntEnum):
    """What makes the RTIO clock."""

    PROCESSING_SYSTEM = 0
    """The processing system."""
    SI5324_CKIN1 = 1
    """A Si5324 whose input 1 is the external clock."""
    SI5324_CKIN2 = 2
    """A Si5324 whose input 2 is the external clock."""
