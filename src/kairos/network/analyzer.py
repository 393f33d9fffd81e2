"""Client of the analyzer of a core device (TCP 1382): events recorded by the gateware.

A dump is fetched as bytes and decoded to messages, oldest first. Times are machine units:
`timestamp` is when an event was due or seen, `rtio_counter` when it was submitted or read.
"""

from collections.abc import Iterator
from typing import NamedTuple

from .. import _native
from ..contracts.analyzer import PORT, Exception, Message
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

CONNECT_TIMEOUT = 15.0
"""Seconds for which a device may be restarting."""
TIMEOUT = 30.0
"""Timeout in seconds for more data of a dump."""


DUMP_MAX = 64 << 20
"""Maximum length of a dump in bytes; a device records 512 KiB per board."""


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
        connection, first = connect(host, port, b"", CONNECT_TIMEOUT)
        connection.settimeout(TIMEOUT)
        with connection:
            data = bytearray(first)
            while more := connection.recv(1 << 16):
                data += more
                if len(data) > DUMP_MAX:
                    raise ConnectionLost(
                        f"the analyzer at {host}, port {port} sent more than {DUMP_MAX} bytes, which no device records"
                    )
    except OSError as error:
        raise ConnectionLost(f"no dump from the analyzer at {host}, port {port} ({error}): is the device on?") from None
    return bytes(data)


def decode(data: bytes) -> Dump:
    """Decode the messages of a dump; KairosError if it is invalid or incomplete."""
    try:
        log_channel, onehot, total, error, events = _native.wire.read_analyzer_dump(data)
        # The messages of one board follow those of another.
        messages = sorted(_messages(events), key=lambda message: message.rtio_counter)
    except ValueError as invalid:
        raise KairosError(str(invalid)) from None
    return Dump(log_channel, onehot, messages, total, error)


def _messages(events: list) -> Iterator:
    for kind, channel, timestamp, counter, address, data in events:
        match kind:
            case Message.OUTPUT:
                yield OutputMessage(channel, timestamp, counter, address, data)
            case Message.INPUT:
                yield InputMessage(channel, timestamp, counter, data)
            case Message.EXCEPTION:
                yield ExceptionMessage(channel, counter, Exception(address))
            case Message.STOPPED:
                yield StoppedMessage(counter)
