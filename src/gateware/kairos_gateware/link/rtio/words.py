"""Messages between the two ends of RTIO over the link: three streams of the lane of real time,
followed by the messages between the firmware of both boards (`mailbox`).

To the satellite: `events`, credited, so that none is lost for lack of room, with priority over all
others; `control`. Back: `status`. An event has one of three forms. All carry only the low bits of
its coarse time: the far end has the same counter and takes the time nearest to it. The short form
fills one word, the medium one a word and four ninths, the long one two. Data beyond 32 bits precede
the event.

Boards behind a satellite are named by their **offset**: 0 is the satellite itself, 1 the next board
in preorder. `aim` names the board for the events that follow; it is sent when that changes.

`echo` and its answer fill as many words as `time`, so all three take the same time
(docs/gateware/link-time.md).
"""

from migen import *

from ...rtio.timing import COARSE_BITS, FINE_BITS
from ..line.coding import BEGIN_BITS
from ..line.endpoint import Stream
from ..line.gearbox import Forms
from ..line.mailbox import auxiliary_stream
from ..line.phase import STEP_BITS
from ..line.reliable import Reliability
from ..line.retransmission import Lane

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
"""Makes every form at least as long as a word, since others of its stream are."""
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
"""Width of slacks, in cycles: sufficient for a tree with many long fibres."""

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
"""levels: includes the satellite's destination; abort: ends the read in flight. move: shifts the
satellite's clock so many steps later than the received clock (`phase`). echoed: the far end's
counter when the echo arrived, the number of output channels, and the bit of its receive cycles at
which the near end's begin (`coding`). error: kind 0 collision, 1 busy, 2 sequence error. state:
events so far that no longer wait for the core; `blocked`: the newest waits for room. reach: for a
board behind the satellite, whether it can be reached, its number of output channels, and the least
slack of its outputs."""

EVENTS_DEPTH = 512


def _forms(kinds):
    return Forms(**{name: max(_LEAST, sum(width for _, width in layout)) for name, layout in kinds.items()})


def fields(layout, data):
    """{name: slice of `data`}, either to read a vector's data or to assemble them."""
    result, place = {}, 0
    for name, width in layout:
        result[name] = data[place : place + width]
        place += width
    return result


def more_vectors(data_width):
    """Number of vectors with data that precede an event."""
    return max(0, -(-(data_width - 32) // MORE_BITS))


def rtio_streams(more=((), ())):
    """(streams towards the satellite, streams from it), each followed by `more`."""
    downstream = [
        Stream("events", 1, _forms(EVENTS), 0, EVENTS_DEPTH),
        Stream("control", 2, _forms(CONTROL), 1),
        auxiliary_stream(3),
        *more[0],
    ]
    return downstream, [Stream("status", 1, _forms(STATUS), 0), auxiliary_stream(2), *more[1]]
