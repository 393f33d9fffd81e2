"""The identity of a Sinara card, as its EEPROM (24AA02E48, 256 bytes) has it: name, revision, serial number.

The chip's last six bytes are an EUI-48, unique and not writable; the others are written by whoever has made or
tested the card. Numbers are big endian.
"""

import struct
import zlib
from dataclasses import dataclass

__all__ = ["Identity", "IDENTITY_WORDS", "decoded"]

SIZE = 256
MAGIC = 0x391E
_LAYOUT = struct.Struct(">IH10sHBBBBBB8s16s16s")
_FIRST_CHECKED = 4
"""The CRC is that of the bytes from here on, with the EUI-48."""
_EUI = 6
IDENTITY_WORDS = SIZE // 4
VENDORS = {1: "Technosystem", 2: "Creotech", 3: "QUARTIQ"}


@dataclass(frozen=True)
class Identity:
    """What an EEPROM says. `serial`: EUI-48, as in ``54-10-5e-c6-00-01``; the rest is None if the EEPROM has not been
    written. `sound`: its checksum is right."""

    serial: str
    name: str | None = None
    board: int | None = None
    revision: str | None = None
    variant: int | None = None
    vendor: str | None = None
    sound: bool = False


def decoded(image: bytes) -> Identity:
    """Decode the content of an EEPROM, 256 bytes; ValueError for another length."""
    if len(image) != SIZE:
        raise ValueError(f"the EEPROM of a card has {SIZE} bytes, not {len(image)}")
    serial = image[-_EUI:].hex("-")
    crc, magic, name, board, _, major, minor, variant, _, vendor, *_ = _LAYOUT.unpack_from(image)
    if magic != MAGIC:
        return Identity(serial)
    text = name.split(b"\0")[0].rstrip(b"\xff").decode("ascii", errors="replace")
    vendor_name = VENDORS.get(vendor, f"vendor {vendor}")
    return Identity(
        serial, text, board, f"{major}.{minor}", variant, vendor_name, crc == zlib.crc32(image[_FIRST_CHECKED:])
    )
