"""Client of the analyzer of a core device (TCP 1382): events recorded by the gateware.

A dump is fetched as bytes and decoded to messages, oldest first. Times are machine units:
`timestamp` is when an event was due or seen, `rtio_counter` when it was submitted or read.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ..contracts.analyzer import HEAD, MESSAGE, PORT, Exception, Message
from ..contracts.session import LITTLE_ENDIAN
from ..errors import ConnectionLost, KairosError
from .connect import connect

__all__ = [
    "PORT",
    "Dump",
    "ExceptionMessage",
    "InputMessage",
    "OutputMessage",
    "StoppedMessage",
    "decode",
    "fetch",
]

PATIENCE = 15.0
"""Seconds for which a device may be restarting."""
TIMEOUT = 30.0
"""Timeout in seconds for more data of a dump."""

_HEAD = struct.Struct("<BIQ?BB")
_MESSAGE = struct.Struct(">QIQQI")


class OutputMessage(NamedTuple):
    """An event was submitted: `data` to `address` of `channel`. Times in machine units."""

    channel: int
    timestamp: int
    rtio_counter: int
    address: int
    data: int


class InputMessage(NamedTuple):
    """An event was read from `channel`. Times in machine units."""

    channel: int
    timestamp: int
    rtio_counter: int
    data: int


class ExceptionMessage(NamedTuple):
    """An error occurred on a channel."""

    channel: int
    rtio_counter: int
    exception_type: Exception


class StoppedMessage(NamedTuple):
    """The analyzer was switched off for readout."""

    rtio_counter: int


class Dump(NamedTuple):
    """A decoded dump. `messages`: the four kinds above, oldest first; `log_channel`: the RTIO
    channel of `rtio_log`; `error`: the analyzer lost messages; `total_bytes`: bytes of all messages
    ever recorded.
    """

    log_channel: int
    dds_onehot_sel: bool
    messages: list
    total_bytes: int = 0
    error: bool = False


def fetch(host: str, port: int = PORT) -> bytes:
    """Fetch the dump of the device at `host`, as bytes for :func:`decode`, and restart its
    recording. ConnectionLost if none arrives."""
    try:
        connection, first = connect(host, port, b"", PATIENCE)
        connection.settimeout(TIMEOUT)
        with connection:
            data = bytearray(first)
            while more := connection.recv(1 << 16):
                data += more
    except OSError as error:
        raise ConnectionLost(f"no dump from the analyzer at {host}, port {port} ({error}): is the device on?") from None
    return bytes(data)


def decode(data: bytes) -> Dump:
    """Decode the messages of a dump; KairosError if it is invalid or incomplete."""
    if len(data) < HEAD or data[0] != LITTLE_ENDIAN:
        raise KairosError("this is not an analyzer dump of a little-endian core device")
    _, sent, total, error, log_channel, onehot = _HEAD.unpack_from(data)
    if sent != len(data) - HEAD or sent % MESSAGE:
        raise KairosError(f"the dump is truncated: {len(data) - HEAD} of {sent} bytes of messages")
    # Those of one board stand behind those of another
    messages = sorted(_messages(data[HEAD:]), key=lambda message: message.rtio_counter)
    return Dump(log_channel, bool(onehot), messages, total, error)


def _messages(body: bytes) -> Iterator:
    for data, address, counter, timestamp, last in _MESSAGE.iter_unpack(body):
        kind, channel = last & 3, last >> 2
        match kind:
            case Message.OUTPUT:
                yield OutputMessage(channel, timestamp, counter, address, data)
            case Message.INPUT:
                yield InputMessage(channel, timestamp, counter, data)
            case Message.EXCEPTION:
                yield ExceptionMessage(channel, counter, Exception(address & 0xFF))
            case Message.STOPPED:
                yield StoppedMessage(counter)
