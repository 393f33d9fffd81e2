"""Management, TCP 1380: message numbers.

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
    "IMAGE_REFUSED",
    "Payload",
    "Request",
    "Reply",
]

PORT = 1380
"""TCP port of the service."""

GREETING = b"ARTIQ management\n"
"""Greeting sent by the client, followed by a DRTIO destination in one byte."""

DESTINATION_LOCAL = 0
"""Destination of the device itself, the only one without DRTIO."""

PROOF_CONTEXT = b"KAIROS management\n"
"""Prefix of the nonce in a proof, which makes proofs for other services invalid here."""

DIGEST_LENGTH = 32
"""Length of a nonce or a proof in bytes."""

KEY_MAX = 128
"""Longest configuration key in bytes. With `.BIN` appended, it must be a valid FAT file name; keys in use are shorter
than 20."""

IMAGE_CHECKSUM_LENGTH = 4
"""Length of the CRC-32 (IEEE) after a boot image in bytes."""

IMAGE_REFUSED = "boot image not replaced: "
"""Prefix of the reason for which a device cannot boot from an image, in the answer to `failure_reason` and in the
log."""


class Payload(IntEnum):
    """Payload of a message, after its type."""

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
    """Measurement to make: path u8, three bytes 0, size u32 in bytes, trials u32 (`src/contracts/paths.toml`)."""


class Request(IntEnum):
    """Requests of the host."""

    GET_LOG = 1
    """Return the log, without clearing it."""
    CLEAR_LOG = 2
    """Clear the log."""
    REBOOT = 5
    """Restart the device."""
    PULL_LOG = 7
    """Return the log continuously, clearing what has been sent."""
    DEBUG_ALLOCATOR = 8
    """Write the state of the memory allocator to the log."""
    FLASH = 9
    """Replace the boot image (followed by its CRC-32) and restart."""
    CONFIG_READ = 12
    """Return the value of a key."""
    CONFIG_WRITE = 13
    """Set a key; an empty value removes it."""
    CONFIG_REMOVE = 14
    """Remove a key if it exists."""
    CONFIG_ERASE = 15
    """Remove all keys."""
    NETBOOT = 128
    """Restart into the loader, which waits for network boot."""
    CHALLENGE = 129
    """Request a nonce. Devices without a key do not know this request, nor the next one."""
    AUTHENTICATE = 130
    """Prove possession of the key: HMAC-SHA-256 over PROOF_CONTEXT and the latest nonce."""
    MEASURE = 131
    """Measure a path between processors, memory and logic. Refused while a kernel may run."""
    LINKS = 132
    """Return the links of this board as JSON."""
    DESCRIPTOR = 133
    """Return the descriptor of the gateware (section 3)."""
    BATCH = 134
    """Execute a batch of register accesses (`src/contracts/batch.toml`)."""
    HEALTH = 135
    """Return the condition of this board's subsystems as JSON."""
    FAILURE_REASON = 136
    """Return why the latest request of this connection that was answered by Error has failed; empty if none was."""


class Reply(IntEnum):
    """Replies of the device."""

    SUCCESS = 1
    """Success."""
    LOG_CONTENT = 2
    """The log, or another text."""
    REBOOT_IMMINENT = 3
    """The device restarts; nothing more follows."""
    ERROR = 6
    """Failure; the log contains the reason, and `failure_reason` returns it."""
    CONFIG_DATA = 7
    """The value of a key."""
    CHALLENGE = 128
    """A nonce, valid for one proof."""
    MEASURED = 131
    """Frequencies of processors and logic in Hz, u32 each, then the samples."""
    BATCH = 133
    """Outcome and results of a batch (`src/contracts/batch.toml`)."""
    REFUSED = 132
    """The measurement was refused: reason (`Refusal`) u8, and a text."""
