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
"""Length of the header in bytes: magic, version u16, reserved u16, total length u32, CRC-32 u32 of the following
data."""

READABLE = 1
"""Flag of a register: it can be read."""

WRITABLE = 2
"""Flag of a register: it can be written."""


class Record(IntEnum):
    """Types of records."""

    END = 0
    """End of the records."""
    IDENTIFICATION = 1
    """Identification of the gateware."""
    BUILD_ID = 2
    """Hash over the Verilog of the gateware: 16 hexadecimal digits."""
    REGISTER = 3
    """A register. 64-bit ones: high word at the lower address."""
    CHANNEL = 4
    """An RTIO channel. Omitted parameters have their defaults (`serialised` 0: resolution 8 ns)."""
    CLOCK = 5
    """The RTIO clock."""
    BOARD = 6
    """The board for which the gateware was made."""


class ChannelKind(IntEnum):
    """Type of the PHY on an RTIO channel; for its parameters see `docs/gateware/phys.md`."""

    TTL_OUT = 1
    """Level output."""
    TTL_INOUT = 2
    """Level output or gated input."""
    TTL_CLOCKGEN = 3
    """Clock generator."""
    EDGE_COUNTER = 4
    """Edge counter of a TTL input."""
    SPI_MASTER = 5
    """SPI bus."""
    AD9914 = 6
    """Parallel bus of AD9914 synthesisers."""
    FASTINO = 7
    """Fastino, 32 DACs."""
    GRABBER = 8
    """Camera Link frame grabber."""
    GRABBER_GATE = 9
    """Regions of interest of a grabber."""
    PULSE = 10
    """Pulse core: words, triggers and results."""
    SUSERVO = 20
    """SU-Servo: memory and control."""
    SUSERVO_CHANNEL = 21
    """A channel of an SU-Servo."""
    PHASER = 22
    """Registers of a Phaser."""
    PHASER_TONE = 23
    """Frequencies, or amplitudes and phases, of a Phaser's oscillators."""
    SHUTTLER = 24
    """Gains, offsets and clear bits of a Shuttler."""
    SHUTTLER_SPLINE = 25
    """Level or tone of an output of a Shuttler."""
    SHUTTLER_TRIGGER = 26
    """Trigger of a Shuttler."""
    SONGBIRD = 27
    """Clear bits of a Songbird's tones."""
    SONGBIRD_RESET = 28
    """Reset of a Songbird's tones."""
    SONGBIRD_TRIGGER = 29
    """Triggers of a Songbird."""
    SONGBIRD_TONE = 30
    """Amplitude or phase of a tone of a Songbird."""
    MTDDS = 31
    """Controls of a Phaser as a satellite."""
    MTDDS_TONE = 32
    """A tone of a Phaser as a satellite."""
    CXP_TRIGGER = 33
    """Link and triggers of a CoaXPress grabber."""
    CXP_REGIONS = 34
    """Regions of interest of a CoaXPress grabber, commands to its camera, and its viewer."""
    CXP_GATE = 35
    """Gate and results of a CoaXPress grabber."""
    LOG = 255
    """Log channel, without a pin."""


class ClockSource(IntEnum):
    """Source of the RTIO clock."""

    PROCESSING_SYSTEM = 0
    """The processing system."""
    SI5324_CKIN1 = 1
    """A Si5324 with the external clock on input 1."""
    SI5324_CKIN2 = 2
    """A Si5324 with the external clock on input 2."""
