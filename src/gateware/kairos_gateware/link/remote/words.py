"""Loads and stores in another board's memory, and their answers, as vectors of the link.

A store of all eight bytes fills two words, one of some bytes more than two; a load or the answer to
a store fills one, the answer to a load at most two. Addresses count words of 64 bits.
"""

from migen import *

from ...contracts.remote import RemoteStatus
from ...contracts.rtio import BOARDS
from ..line.endpoint import Stream
from ..line.gearbox import Forms
from ..line.word import PAYLOAD_BITS
from ..rtio.words import fields

__all__ = [
    "ADDRESS_BITS",
    "ANSWER",
    "BOARD_BITS",
    "BUS_ERROR",
    "DONE",
    "GENERATION_BITS",
    "ID_BITS",
    "NO_LINK",
    "REFUSED",
    "REQUEST",
    "SLOTS",
    "SLOT_BITS",
    "STATUS_BITS",
    "UNREACHABLE",
    "VIA_BITS",
    "fields",
    "cross_streams",
    "remote_both",
    "ring_streams",
    "remote_streams",
]

SLOTS = 16
"""Loads and stores that one board may have in flight on a link: each has a timer."""
SLOT_BITS, GENERATION_BITS = log2_int(SLOTS), 3
ID_BITS = SLOT_BITS + GENERATION_BITS
"""A slot's transactions are numbered consecutively, so that a late answer is recognised."""
BOARD_BITS = bits_for(BOARDS - 1)
VIA_BITS = 3
"""Number of the link whose initiator has made a request, as the port of `tree_route`: its answer may come by another
link. 0: it comes by the same one, from the board at its other end."""
ADDRESS_BITS = 29
STATUS_BITS = 2

DONE, REFUSED, BUS_ERROR, UNREACHABLE, NO_LINK = map(int, RemoteStatus)
"""Statuses of an answer. The last two are never sent."""

_WHO = [("id", ID_BITS), ("source", BOARD_BITS)]
_WHERE = [*_WHO, ("address", ADDRESS_BITS)]
REQUEST = {
    "write": [*_WHERE, ("data", 64)],
    "partial": [*_WHERE, ("data", 64), ("strobes", 8)],
    "read": _WHERE,
    "way": [("destination", BOARD_BITS), ("via", VIA_BITS)],
}
ANSWER = {
    "done": [*_WHO, ("via", VIA_BITS), ("status", STATUS_BITS)],
    "data": [*_WHO, ("via", VIA_BITS), ("status", STATUS_BITS), ("data", 64)],
}
"""Forms and their fields, the first lowest. way: the request that follows is for that board, not
for the neighbour. via: of the way before the request, which its answer repeats."""
_RANK = 2


def _forms(layouts):
    widths = {name: sum(width for _, width in layout) for name, layout in layouts.items()}
    # Either all forms of a stream are shorter than a word, or none is
    return Forms(**{name: max(width, PAYLOAD_BITS - bits_for(len(widths))) for name, width in widths.items()})


def remote_streams(requests=1, answers=1):
    """(stream of requests, stream of answers), with these numbers in their directions."""
    return (
        Stream("remote_requests", requests, _forms(REQUEST), _RANK, SLOTS),
        Stream("remote_answers", answers, _forms(ANSWER), _RANK, SLOTS),
    )


def remote_both():
    """Additional streams of a link between boards that can each access the other: (downstream, upstream)."""
    (asks, answers), (asked, answered) = remote_streams(4, 3), remote_streams(4, 5)
    return [asks, answered], [asked, answers]


def cross_streams():
    """Streams of a link beside the tree, the same in both directions. board: the number of the board that sends it, and
    how many boards there are behind it in the tree, of which only the latest matters."""
    return [Stream("board", 1, Forms(board=2 * BOARD_BITS), 1), *remote_streams(2, 3)]


def ring_streams():
    """Streams of a cable of a ring, the same in both directions: each kind has two lanes. reach: how many boards its
    sender reaches away from the receiver, of which only the latest matters."""
    lanes = [
        Stream(f"remote_{name}{lane}", first + lane, _forms(forms), _RANK, SLOTS)
        for name, first, forms in [("requests", 1, REQUEST), ("answers", 3, ANSWER)]
        for lane in range(2)
    ]
    return [Stream("reach", 5, Forms(reach=BOARD_BITS), 1), *lanes]
