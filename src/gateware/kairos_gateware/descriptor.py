"""The descriptor memory: a self-description that the firmware reads. Format: docs/interfaces.md
section 3.

`Descriptor.to_bytes` and `from_bytes` are inverse to each other; `to_json` has the same content for
people and scripts.
"""

import json
import struct
import zlib
from dataclasses import asdict, dataclass, field

from .contracts.descriptor import HEADER, MAGIC, READABLE, VERSION, WRITABLE, ChannelKind, Record

__all__ = ["MAGIC", "VERSION", "KINDS", "DescriptorError", "Register", "RtioChannel", "Descriptor"]

KINDS = {kind.name.lower(): int(kind) for kind in ChannelKind}
"""Numbers of the kinds of channels, by name."""
_KIND_NAMES = {number: name for name, number in KINDS.items()}
_HEADER = struct.Struct("<4sHHII")
assert _HEADER.size == HEADER


class DescriptorError(ValueError):
    """The bytes are not a descriptor of this version; the text gives the reason."""


@dataclass
class Register:
    """A register. address: absolute byte address; of a 64-bit one, the address of the high word.
    width: bits."""

    name: str
    address: int
    width: int
    readable: bool
    writable: bool


@dataclass
class RtioChannel:
    """A channel. kind: a key of `KINDS`. parameters: name to unsigned 32-bit value."""

    number: int
    kind: str
    name: str
    parameters: dict[str, int] = field(default_factory=dict)


@dataclass
class Descriptor:
    """identification: "variant;version". rtio_frequency: Hz, of the coarse counter. fine_bits:
    machine units per cycle, log2. synthesiser: source of the RTIO clock, 0: the processing system,
    1: a Si5324 whose input 1 is the external clock, 2: one whose input 2 is. board: "name;hardware revision"."""

    identification: str
    build_id: str
    rtio_frequency: int
    fine_bits: int
    registers: list[Register] = field(default_factory=list)
    channels: list[RtioChannel] = field(default_factory=list)
    synthesiser: int = 0
    board: str = ""

    def to_bytes(self) -> bytes:
        """The memory's content; its length is a multiple of 4."""
        body = _record(Record.IDENTIFICATION, self.identification.encode())
        body += _record(Record.BUILD_ID, self.build_id.encode())
        body += _record(Record.CLOCK, struct.pack("<IBB2x", self.rtio_frequency, self.fine_bits, self.synthesiser))
        if self.board:
            body += _record(Record.BOARD, self.board.encode())
        for r in self.registers:
            flags = r.readable * READABLE | r.writable * WRITABLE
            body += _record(Record.REGISTER, struct.pack("<IHH", r.address, r.width, flags) + r.name.encode())
        for c in self.channels:
            payload = struct.pack("<IBBHH", c.number, KINDS[c.kind], 0, 0, len(c.parameters))
            for key, value in c.parameters.items():
                payload += struct.pack("<B", len(key.encode())) + key.encode() + struct.pack("<I", value)
            body += _record(Record.CHANNEL, payload + c.name.encode())
        body += _record(Record.END, b"")
        return _HEADER.pack(MAGIC, VERSION, 0, _HEADER.size + len(body), zlib.crc32(body)) + body

    def to_words(self) -> list[int]:
        """`to_bytes` as 32-bit little-endian words."""
        data = self.to_bytes()
        return list(struct.unpack(f"<{len(data) // 4}I", data))

    def to_json(self) -> str:
        """The same content as JSON text, field names as in these classes."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_bytes(cls, data: bytes) -> "Descriptor":
        """Inverse of `to_bytes`; bytes after the descriptor are ignored. Raises
        `DescriptorError`."""
        if len(data) < _HEADER.size or data[:4] != MAGIC:
            raise DescriptorError("no descriptor: the magic number is missing")
        _, version, _, total, crc = _HEADER.unpack_from(data)
        if version != VERSION:
            raise DescriptorError(f"descriptor version {version} is not supported (expected {VERSION})")
        body = data[_HEADER.size : total]
        if _HEADER.size + len(body) != total or zlib.crc32(body) != crc:
            raise DescriptorError("the descriptor is damaged (length or checksum)")
        result = cls("", "", 0, 0)
        try:
            for kind, payload in _records(body):
                result._read(kind, payload)
        except (struct.error, KeyError, UnicodeDecodeError) as error:
            raise DescriptorError(f"malformed record in the descriptor: {error}") from error
        return result

    def _read(self, kind: int, payload: bytes) -> None:
        if kind == Record.IDENTIFICATION:
            self.identification = payload.decode()
        elif kind == Record.BUILD_ID:
            self.build_id = payload.decode()
        elif kind == Record.BOARD:
            self.board = payload.decode()
        elif kind == Record.CLOCK:
            self.rtio_frequency, self.fine_bits, self.synthesiser = struct.unpack("<IBB2x", payload)
        elif kind == Record.REGISTER:
            address, width, flags = struct.unpack_from("<IHH", payload)
            name = payload[8:].decode()
            self.registers.append(Register(name, address, width, bool(flags & READABLE), bool(flags & WRITABLE)))
        elif kind == Record.CHANNEL:
            number, kind, _, _, count = struct.unpack_from("<IBBHH", payload)
            position, parameters = 10, {}
            for _ in range(count):
                (size,) = struct.unpack_from("<B", payload, position)
                key = payload[position + 1 : position + 1 + size].decode()
                (parameters[key],) = struct.unpack_from("<I", payload, position + 1 + size)
                position += 5 + size
            self.channels.append(RtioChannel(number, _KIND_NAMES[kind], payload[position:].decode(), parameters))


def _record(kind: int, payload: bytes) -> bytes:
    return struct.pack("<HH", kind, len(payload)) + payload + bytes(-len(payload) % 4)


def _records(body: bytes):
    position = 0
    while True:
        kind, size = struct.unpack_from("<HH", body, position)
        if kind == Record.END:
            return
        payload = body[position + 4 : position + 4 + size]
        if len(payload) != size:
            raise DescriptorError("a record of the descriptor is cut off")
        yield kind, payload
        position += 4 + (size + 3) // 4 * 4
