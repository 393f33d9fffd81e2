"""A handwritten record of the analyzer."""

import struct

from kairos.contracts.analyzer import MESSAGE

OUTPUT, INPUT, FAILURE, STOPPED = range(4)


def record(*messages, total=None, log_channel=9):
    """Build a dump from (kind, channel, timestamp, counter, address, data)."""
    body = b"".join(
        struct.pack(">QIQQI", data, address, counter, timestamp, channel << 2 | kind)
        for kind, channel, timestamp, counter, address, data in messages
    )
    return struct.pack("<BIQ?BB", ord("e"), len(body), total or len(body), False, log_channel, 1) + body


DUMP = record(
    (OUTPUT, 4, 1000, 400, 0, 1),
    (OUTPUT, 4, 3000, 500, 0, 0),
    (INPUT, 0, 5000, 5100, 0, 1),
    (FAILURE, 4, 0, 6000, 20, 0),
    (STOPPED, 0, 0, 7000, 0, 0),
    total=10 * MESSAGE,
)
