"""A client of the kernel service on a bare socket, written only from the description of the wire
protocol.

It shares nothing with the project's host side, so that an error there is not repeated here.
"""

import struct
from dataclasses import dataclass

from .connection import Connection

SYNC = b"\x5a" * 4


@dataclass
class Request:
    """An RPC request: service, arguments as Python values, return tag."""

    is_async: bool
    service: int
    arguments: list
    tag: bytes


@dataclass
class Frame:
    address: int
    stack_pointer: int


@dataclass
class KernelException:
    """The content of a type 9 message. Strings are text, or an int for the key of a host string."""

    exceptions: list
    extents: list
    backtrace: list
    async_errors: int


class Object(int):
    """A host object, by id."""


class Session(Connection):
    """A connection to the kernel service, greeted unless specified otherwise."""

    def __init__(self, device, greeting=b"ARTIQ coredev\n"):
        super().__init__(device, 1381, greeting or b"")
        if greeting is not None:
            assert self.read(1) == b"e"

    def send(self, kind, payload=b""):
        """Send a message."""
        self.write(SYNC + bytes([kind]) + payload)

    def string(self):
        length = self.unpack("I")
        return self.unpack("I") if length == 0xFFFFFFFF else self.read(length).decode()

    def message(self, *expected):
        """Read the type of the next message, which must be one of those expected."""
        assert self.read(4) == SYNC
        kind = self.unpack("B")
        assert not expected or kind in expected, f"message {kind} instead of {expected}"
        return kind

    def load(self, library):
        """Send LoadKernel; returns None, or the reason of a LoadFailed."""
        self.send(5, struct.pack("<I", len(library)) + library)
        return self.string() if self.message(5, 6) == 6 else None

    def run(self):
        self.send(6)

    def value(self):
        """Read a tagged value; the end of arguments is handled by `request`."""
        return self.tagged(self.read(1))

    def tagged(self, tag):
        if tag == b"n":
            return None
        if tag in b"biIf":
            return self.unpack({b"b": "?", b"i": "i", b"I": "q", b"f": "d"}[tag])
        if tag == b"s":
            return self.bytes().decode()
        if tag in b"BA":
            return self.bytes()
        if tag == b"O":
            return Object(self.unpack("I"))
        if tag == b"t":
            return tuple(self.value() for _ in range(self.unpack("B")))
        if tag == b"r":
            return range(self.value(), self.value(), self.value())
        if tag == b"k":
            return {self.bytes().decode(): self.value()}
        if tag == b"l":
            return self.elements(self.unpack("I"))
        if tag == b"a":
            shape = tuple(self.unpack("I") for _ in range(self.unpack("B")))
            count = 1
            for extent in shape:
                count *= extent
            return ("array", shape, self.elements(count))
        raise AssertionError(f"unknown tag {tag}")

    def elements(self, count):
        tag = self.read(1)
        plain = {b"b": "?", b"i": "i", b"I": "q", b"f": "d"}
        if tag in plain:
            return list(struct.unpack(f"<{count}{plain[tag]}", self.read(count * struct.calcsize("<" + plain[tag]))))
        result = []
        for _ in range(count):
            assert self.read(1) == tag
            result.append(self.tagged(tag))
        return result

    def request(self):
        """Read the rest of an RPC request, after its type."""
        is_async, service = self.unpack("BI")
        arguments = []
        while (tag := self.read(1)) != b"\0":
            arguments.append(self.tagged(tag))
        return Request(bool(is_async), service, arguments, self.bytes())

    def reply(self, tag, value):
        self.send(7, struct.pack("<I", len(tag)) + tag + value)

    def raise_exception(self, name, message, params=(0, 0, 0), file=1, line=2, column=-1, function=3):
        self.send(8, struct.pack("<IIqqqIiiI", name, message, *params, file, line, column, function))

    def exception(self):
        """Read the rest of a KernelException, after its type."""
        exceptions = []
        count = self.unpack("I")
        for _ in range(count):
            exceptions.append(
                {
                    "id": self.unpack("I"),
                    "message": self.string(),
                    "params": self.unpack("qqq"),
                    "file": self.string(),
                    "line": self.unpack("i"),
                    "column": self.unpack("i"),
                    "function": self.string(),
                }
            )
        extents = [self.unpack("III") for _ in range(count)]
        backtrace = [Frame(*self.unpack("II")) for _ in range(self.unpack("I"))]
        return KernelException(exceptions, extents, backtrace, self.unpack("B"))

    def until_end(self):
        """Read asynchronous requests until the kernel ends; returns (requests, None or the
        exception)."""
        requests = []
        while True:
            kind = self.message(7, 9, 10)
            if kind == 7:
                assert self.unpack("B") == 0
                return requests, None
            if kind == 9:
                return requests, self.exception()
            request = self.request()
            assert request.is_async
            requests.append(request)


def encode(tag, value):
    """Encode a value as the host sends it: untagged, following `tag`. Returns the bytes and the
    rest of the tag."""
    head, rest = tag[:1], tag[1:]
    if head == b"n":
        return b"", rest
    if head in b"biIf":
        return struct.pack({b"b": "<?", b"i": "<i", b"I": "<q", b"f": "<d"}[head], value), rest
    if head in b"sBA":
        data = value.encode() if isinstance(value, str) else value
        return struct.pack("<I", len(data)) + data, rest
    if head == b"t":
        count, rest = rest[0], rest[1:]
        out = b""
        for index in range(count):
            data, rest = encode(rest, value[index])
            out += data
        return out, rest
    if head == b"r":
        parts = [encode(rest, part) for part in (value.start, value.stop, value.step)]
        return b"".join(data for data, _ in parts), parts[0][1]
    if head == b"l":
        parts = [encode(rest, element) for element in value]
        after = parts[0][1] if parts else skip(rest)
        return struct.pack("<I", len(value)) + b"".join(data for data, _ in parts), after
    if head == b"a":
        _, shape, values = value
        parts = [encode(rest[1:], element) for element in values]
        after = parts[0][1] if parts else skip(rest[1:])
        return struct.pack(f"<{len(shape)}I", *shape) + b"".join(data for data, _ in parts), after
    raise AssertionError(f"unknown tag {head}")


def skip(tag):
    """Return the rest of a tag string after its first type."""
    head, rest = tag[:1], tag[1:]
    if head == b"t":
        count, rest = rest[0], rest[1:]
        for _ in range(count):
            rest = skip(rest)
        return rest
    if head == b"a":
        return skip(rest[1:])
    return skip(rest) if head in (b"l", b"r") else rest
