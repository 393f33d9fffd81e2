"""A client of the analyzer, written only from the format of its dumps."""

import struct
from dataclasses import dataclass

from .connection import Connection

OUTPUT, INPUT, EXCEPTION, STOPPED = range(4)


@dataclass
class Message:
    kind: int
    channel: int
    timestamp: int
    counter: int
    address: int
    data: int


@dataclass
class Dump:
    total: int
    error: int
    log_channel: int
    messages: list


def dump(device):
    with Connection(device, 1382) as client:
        data = client.read_all()
    endianness, sent, total, error, log_channel, onehot = struct.unpack("<cIQ?BB", data[:16])
    assert (endianness, onehot) == (b"e", 1)
    assert sent == len(data) - 16 and sent % 32 == 0
    messages = []
    for at in range(16, len(data), 32):
        number = int.from_bytes(data[at : at + 32], "big")
        fields = [(0, 2), (2, 30), (32, 64), (96, 64), (160, 32), (192, 64)]
        messages.append(Message(*(number >> low & (1 << width) - 1 for low, width in fields)))
    return Dump(total, error, log_channel, messages)
