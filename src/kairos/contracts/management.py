"""Management, TCP 1380: numbers of its messages.

Generated from src/contracts/management.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "PORT",
    "GREETING",
    "DESTINATION_LOCAL",
    "PROOF_CONTEXT",
    "DIGEST_LENGTH",
    "KEY_MAX",
    "IMAGE_CHECKSUM_LENGTH",
    "Payload",
    "Request",
    "Reply",
]

PORT = 1380
"""TCP port of the service."""

GREETING = b"ARTIQ management\n"
"""What a client sends first; a DRTIO destination follows in one byte."""

DESTINATION_LOCAL = 0
"""The only destination of a device without DRTIO: itself."""

PROOF_CONTEXT = b"KAIROS management\n"
"""What a proof is for, in front of the nonce: a proof for another service is none here."""

DIGEST_LENGTH = 32
"""Bytes of a nonce or a proof."""

KEY_MAX = 128
"""Longest configuration key in bytes. With `.BIN` behind it, it must be a name in a FAT directory; keys in use have
less than 20."""

IMAGE_CHECKSUM_LENGTH = 4
"""Bytes of the CRC-32 (IEEE) behind a boot image."""


class Payload(IntEnum):
    """What stands behind the type of a message."""

    NONE = 0
    """Nothing."""
    KEY = 1
    """A configuration key: length u32 and ASCII."""
    KEY_AND_DATA = 2
    """A key, and a value: length u32 and bytes."""
    DATA = 3
    """Length u32 and bytes."""
    DIGEST = 4
    """A nonce or a proof, 32 bytes."""
    MEASUREMENT = 5
    """What is measured: path u8, three bytes 0, size u32 in bytes, trials u32 (`src/contracts/channels.toml`)."""


class Request(IntEnum):
    """Requests of the host."""

    GET_LOG = 1
    """The log, which stays."""
    CLEAR_LOG = 2
    """Empty the log."""
    REBOOT = 5
    """Restart."""
    PULL_LOG = 7
    """The log from now on, without end; it is emptied."""
    DEBUG_ALLOCATOR = 8
    """Write the state of the memory to the log."""
    FLASH = 9
    """Replace the boot image (its CRC-32 behind it) and restart."""
    CONFIG_READ = 12
    """The value of a key."""
    CONFIG_WRITE = 13
    """Set a key; an empty value removes it."""
    CONFIG_REMOVE = 14
    """Remove a key, if it is there."""
    CONFIG_ERASE = 15
    """Remove all keys."""
    NETBOOT = 128
    """Restart into the loader, which waits for the network."""
    CHALLENGE = 129
    """Send a nonce. Unknown to a device without a key, as is the next one."""
    AUTHENTICATE = 130
    """Proof that the client has the key: HMAC-SHA-256 over PROOF_CONTEXT and the newest nonce."""
    MEASURE = 131
    """Measure a path between processors, memory and logic. Never while a kernel may run."""
    LINKS = 132
    """The links of this board, as JSON."""
    DESCRIPTOR = 133
    """What the gateware says of itself (section 3)."""
    BATCH = 134
    """Execute a batch of register accesses (`src/contracts/batch.toml`)."""
    HEALTH = 135
    """How the subsystems of this board are, as JSON."""


class Reply(IntEnum):
    """Replies of the device."""

    SUCCESS = 1
    """Done."""
    LOG_CONTENT = 2
    """The log."""
    REBOOT_IMMINENT = 3
    """The device restarts; nothing more follows."""
    ERROR = 6
    """It could not be done; the log says why."""
    CONFIG_DATA = 7
    """The value of a key."""
    CHALLENGE = 128
    """A nonce, good for one proof."""
    MEASURED = 131
    """Frequencies of processors and logic in Hz, u32 each, then the samples."""
    BATCH = 133
    """A batch has ended: how, and its results (`src/contracts/batch.toml`)."""
    REFUSED = 132
    """It was not measured: why (`Refusal`), u8, and a text."""
