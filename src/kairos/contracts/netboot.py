"""Network boot, TCP 1379: numbers of its messages (`docs/boot.md`).

Generated from src/contracts/netboot.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["PORT", "GREETING", "VERSION", "DIGEST_LENGTH", "TEXT_MAX", "Request", "Reply", "FileKind"]

PORT = 1379
"""TCP port of the loader."""

GREETING = b"KAIROS netboot\n"
"""What the host sends first."""

VERSION = 1
"""Version of the protocol."""

DIGEST_LENGTH = 32
"""Bytes of a SHA-256 digest, a nonce, or a proof."""

TEXT_MAX = 112
"""Longest text of a refusal, in bytes."""


class Request(IntEnum):
    """Requests of the host; a proof stands at the end of each."""

    OFFER = 1
    """I have this file."""
    BOOT = 2
    """Start what you have."""


class Reply(IntEnum):
    """Answers of the loader."""

    HELLO = 1
    """Answer to the greeting."""
    HAVE = 2
    """So much of the file is here already."""
    VERIFIED = 3
    """The file is here, and sound."""
    BOOTING = 4
    """The device starts."""
    REFUSED = 5
    """No; the connection is closed."""


class FileKind(IntEnum):
    """What a file is."""

    FIRMWARE = 1
    """An ELF file for the comms core."""
    GATEWARE = 2
    """A bitstream."""
