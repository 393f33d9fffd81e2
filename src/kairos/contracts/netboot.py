"""Network boot, TCP 1379: message numbers (`docs/boot.md`).

Generated from src/contracts/netboot.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = ["PORT", "GREETING", "VERSION", "DIGEST_LENGTH", "TEXT_MAX", "Request", "Reply", "FileKind"]

PORT = 1379
"""TCP port of the loader."""

GREETING = b"KAIROS netboot\n"
"""Greeting sent by the host."""

VERSION = 1
"""Version of the protocol."""

DIGEST_LENGTH = 32
"""Length of a SHA-256 digest, a nonce, or a proof in bytes."""

TEXT_MAX = 112
"""Longest text of a refusal, in bytes."""


class Request(IntEnum):
    """Requests of the host; each ends with a proof."""

    OFFER = 1
    """Offer a file."""
    BOOT = 2
    """Start the files received."""


class Reply(IntEnum):
    """Answers of the loader."""

    HELLO = 1
    """Answer to the greeting."""
    HAVE = 2
    """Number of bytes of the file already received."""
    VERIFIED = 3
    """The file is complete and verified."""
    BOOTING = 4
    """The device starts."""
    REFUSED = 5
    """The request is refused, and the connection closed."""


class FileKind(IntEnum):
    """Type of a file."""

    FIRMWARE = 1
    """An ELF file for the comms core."""
    GATEWARE = 2
    """A bitstream."""
