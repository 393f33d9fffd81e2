"""What the two ends of RTIO over the link say to each other: three streams of the lane of real
time. Behind them goes what the firmware of both boards says to each other (`mailbox`).

To the satellite: `events`, with credits, so that none is lost for want of room, before all others;
`control`. Back: `status`. An event has one of three forms. All carry only the low bits of its
coarse time: the far end has the same counter, and takes the time nearest to it. The short form
fills a word, the medium one a word and four ninths, the long one two. What data an event has beyond
32 bits goes before it.

Boards behind a satellite are named by their **offset**: 0 is the satellite itself, 1 the board
after it in the walk through the tree. `aim` says to which of them the events behind it go; it is
sent when that changes.

`echo` and what answers it fill as many words as `time`: so all three take the same time
(docs/gateware/link-time.md).
"""

from migen import *

from ..rtio.timing import COARSE_BITS, FINE_BITS
from .coding import BEGIN_BITS
from .endpoint import Stream
from .gearbox import Forms
from .mailbox import auxiliary_stream
from .phase import STEP_BITS
from .reliable import Reliability
from .retransmission import Lane

__all__ = [
    "CONTROL",
    "ECHO",
    "EVENTS",
    "LONG",
    "MEDIUM",
    "MORE_BITS",
    "OFFSET_BITS",
    "RELIABILITY",
    "SHORT",
    "SLACK_BITS",
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

OFFSET_BITS = 8

EVENTS = {
    "short": SHORT,
    "medium": MEDIUM,
    "long": LONG,
    "more": [("data", MORE_BITS)],
    "aim": [("offset", OFFSET_BITS)],
}

SLACK_BITS = 18
"""Of slacks, in cycles: a tree of many long fibres."""

ECHO = [("coarse", COARSE_BITS), ("outputs", 16), ("begin", BEGIN_BITS)]
CONTROL = {
    "echo": ECHO,
    "time": ECHO,
    "levels": [("phy_reset", 1), ("reset", 1), ("count", 16), ("destination", 8), ("abort", 1)],
    "read": [("channel", 16), ("timeout", 64), ("number", 4), ("offset", OFFSET_BITS)],
    "move": [("steps", STEP_BITS)],
}
STATUS = {
    "echoed": ECHO,
    "answer": [("status", 4), ("number", 4), ("timestamp", 64), ("data", 32)],
    "error": [("kind", 2), ("channel", 16), ("offset", OFFSET_BITS)],
    "state": [("blocked", 1), ("count", 16)],
    "reach": [("offset", OFFSET_BITS), ("up", 1), ("outputs", 16), ("slack", SLACK_BITS)],
}
"""levels: with what the satellite is called; abort: the read under way ends. move: the satellite's
clock, later by so many steps than that of what it receives (`phase`). echoed: the far end's counter
when the echo came, how many channels take outputs, and in which bit of the cycles that it receives
the near end's begin (`coding`). error: kind 0 collision, 1 busy, 2 sequence
error. state: events so far that are no longer waiting for the core; `blocked`: the newest waits for
room. reach: of a board behind the satellite, whether it can be reached, its channels that take
outputs, and the least slack of its outputs."""

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


def rtio_streams(more=((), ())):
    """(streams towards the satellite, streams from it), each with `more` behind them."""
    away = [
        Stream("events", 1, _forms(EVENTS), 0, EVENTS_DEPTH),
        Stream("control", 2, _forms(CONTROL), 1),
        auxiliary_stream(3),
        *more[0],
    ]
    return away, [Stream("status", 1, _forms(STATUS), 0), auxiliary_stream(2), *more[1]]
