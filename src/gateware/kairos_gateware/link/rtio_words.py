"""What the two ends of RTIO over the link say to each other: three streams of the lane of real time. Behind them goes
what the firmware of both boards says to each other (`mailbox`).

To the satellite: `events`, with credits, so that none is lost for want of room, before all others; `control`. Back:
`status`. An event has one of three forms. All carry only the low bits of its coarse time: the far end has the same
counter, and takes the time nearest to it. The short form fills a word, the medium one a word and four ninths, the long
one two. What data an event has beyond 32 bits goes before it.

`echo` and what answers it fill as many words as `time`: so all three take the same time (docs/gateware/link.md).
"""

from migen import *

from ..rtio.timing import COARSE_BITS, FINE_BITS
from .endpoint import Stream
from .gearbox import Forms
from .mailbox import auxiliary_stream
from .reliable import Reliability
from .retransmission import Lane

__all__ = [
    "CONTROL",
    "ECHO",
    "EVENTS",
    "LONG",
    "MEDIUM",
    "MORE_BITS",
    "RELIABILITY",
    "SHORT",
    "STATUS",
    "fields",
    "more_vectors",
    "rtio_streams",
]

SHORT = [("fine", FINE_BITS), ("coarse", 23), ("channel", 8), ("address", 8), ("data", 9)]
MEDIUM = [("fine", FINE_BITS), ("coarse", 23), ("channel", 8), ("address", 8), ("data", 32)]
LONG = [("fine", FINE_BITS), ("coarse", 46), ("channel", 16), ("address", 8), ("data", 32)]
MORE_BITS = 96
_LEAST = 46
"""A form is at least as long as a word, since others of its stream are."""
RELIABILITY = Reliability(lanes=(Lane(words=512, frame=4), Lane(words=1024, frame=64)))
"""An event may wait for the end of its frame, so frames of the first lane are short."""

EVENTS = {"short": SHORT, "medium": MEDIUM, "long": LONG, "more": [("data", MORE_BITS)]}

ECHO = [("coarse", COARSE_BITS), ("outputs", 16)]
CONTROL = {
    "echo": ECHO,
    "time": ECHO,
    "levels": [("phy_reset", 1), ("reset", 1), ("count", 16)],
    "read": [("channel", 16), ("timeout", 64), ("number", 4)],
}
STATUS = {
    "echoed": ECHO,
    "answer": [("status", 4), ("number", 4), ("timestamp", 64), ("data", 32)],
    "error": [("kind", 2), ("channel", 16)],
    "state": [("blocked", 1), ("count", 16)],
}
"""echoed: the far end's counter when the echo came, and how many channels take outputs. error: kind 0 collision, 1
busy, 2 sequence error. state: events so far that are no longer waiting for the core; `blocked`: the newest waits for
room."""

EVENTS_DEPTH = 512


def _forms(kinds):
    return Forms(**{name: max(_LEAST, sum(width for _, width in layout)) for name, layout in kinds.items()})


def fields(layout, data):
    """{name: slice of `data`}; of a vector's data, or of a signal that is to become one."""
    result, place = {}, 0
    for name, width in layout:
        result[name] = data[place : place + width]
        place += width
    return result


def more_vectors(data_width):
    """Vectors that an event with all its data needs before it."""
    return max(0, -(-(data_width - 32) // MORE_BITS))


def rtio_streams():
    """(streams towards the satellite, streams from it)."""
    away = [
        Stream("events", 1, _forms(EVENTS), 0, EVENTS_DEPTH),
        Stream("control", 2, _forms(CONTROL), 1),
        auxiliary_stream(3),
    ]
    return away, [Stream("status", 1, _forms(STATUS), 0), auxiliary_stream(2)]
