"""Line format of bulk transfers: raw words of 64 bits of data, and marks that delimit them, between
the link's words.

    words with check bits …  head | data | data | … | trailer   words with check bits …
                                      └ escape | words with check bits … | resume ┘

A **mark** is a word with check bits, of a stream of its own. A head begins a packet, after which
the line is raw: words are data without check bits, the last one the trailer, with a CRC over head
and data. The other streams have priority over bulk data, and may be sent between any two raw words:
the escape, a raw word unlike any data, announces that words with check bits follow, and a resume
mark that data continue. A data word that differs from the escape in one bit at most is sent as part
of a mark.
"""

from functools import reduce
from operator import and_, or_

from migen import *

from ..line.word import PAYLOAD_BITS, WORD_BITS
from ..remote.words import ADDRESS_BITS, BOARD_BITS, GENERATION_BITS, SLOT_BITS, VIA_BITS

__all__ = [
    "AGAIN",
    "ANSWER",
    "ASKED",
    "BULK",
    "ESCAPE",
    "HEAD",
    "ID_BITS",
    "KEY_BITS",
    "LEFT_BITS",
    "LENGTH_BITS",
    "LITERAL_BITS",
    "MARK",
    "PACKET_WORDS",
    "SLOTS",
    "STATUS_BITS",
    "Mark",
    "board_of",
    "data_words",
    "escape_like",
    "fields_of",
    "mark",
    "pack_head",
    "unpack_head",
    "via_of",
]

BULK = 6
"""The stream of marks, in both directions."""
PACKET_WORDS = 64
"""Data words of the longest packet: 512 bytes."""
SLOTS = 2**SLOT_BITS
"""Packets that one end may have in flight."""
LENGTH_BITS = log2_int(PACKET_WORDS)
LEFT_BITS = LENGTH_BITS + 1
ID_BITS = SLOT_BITS + GENERATION_BITS
KEY_BITS = ID_BITS + BOARD_BITS + VIA_BITS
"""An id, the board that issued it, and which of that board's engines: 0 is the one at the link by which the answer
comes; a board with cross links numbers its engines from 1 on."""
VIAS = 5
STATUS_BITS = 3
AGAIN = 4
"""Status of an answer, beside those of single loads and stores: the packet was received broken."""
ESCAPE = 0x6A09_E667_6A09_E667
"""Both halves are the same, those of a trailer complementary: no trailer can look like it."""
LITERAL_BITS = log2_int(WORD_BITS) + 1
ASKED = [("key", KEY_BITS), ("address", ADDRESS_BITS), ("length", LENGTH_BITS), ("far", 1)]
"""Of a packet that another board fetches: the request's key, its first word here, its words less one, and
whether the board is named, as it need not be the neighbour."""


_WAY_BITS = 4
_NEAR = 15


class Mark:
    """head: a packet begins. resume: raw words continue, after a data word that looks like an
    escape if `literal`. answer: result of a packet."""

    HEAD, RESUME, ANSWER = 1, 2, 3


_KIND_BITS = 2
ANSWER = [("key", KEY_BITS), ("status", STATUS_BITS)]
HEAD = [("key", KEY_BITS), ("length", LENGTH_BITS), ("address", ADDRESS_BITS), ("far", 1), ("destination", BOARD_BITS)]
HEAD += [("fetch", 1), ("fetched", 1)]
MARK = {
    Mark.HEAD: [("key", ID_BITS + BOARD_BITS), *HEAD[1:3], ("destination", BOARD_BITS), ("way", _WAY_BITS)],
    Mark.RESUME: [("left", LEFT_BITS), ("literal", 1), ("flipped", LITERAL_BITS)],
    Mark.ANSWER: [*ANSWER, *[(f"not_{name}", width) for name, width in ANSWER]],
}
"""Fields above the kind, the first lowest. `length`: data words - 1; `address` of the first in
words; `far`: the packet is for the board `destination`, not for the neighbour. `fetch`: it
asks for so many data, instead of having them; `fetched`: it brings those of the request with that key, `address`
does not count. `left`: raw words that follow, the trailer included. `flipped`: the bit in which a literal
differs from the escape, or 64. An answer is sent twice, the second time inverted. `way`: of a packet for another
board than the neighbour, 3 times its `via` (below `VIAS`), plus 1 if it asks for data, or 2 if it brings them; 15: for
the neighbour, the destination is that 0, 1 or 2."""


def board_of(key):
    """The board that has issued a packet with that key."""
    return key[ID_BITS : ID_BITS + BOARD_BITS]


def via_of(key):
    """The number of its engine."""
    return key[ID_BITS + BOARD_BITS :]


def pack_head(head):
    """The payload of a head: `Record` with the fields of `HEAD`."""
    kind = Cat(head.fetch, head.fetched)
    return mark(
        Mark.HEAD,
        key=head.key[: ID_BITS + BOARD_BITS],
        length=head.length,
        address=head.address,
        destination=Mux(head.far, head.destination, kind),
        way=Mux(head.far, (3 * via_of(head.key) + kind)[:_WAY_BITS], _NEAR),
    )


def unpack_head(payload):
    """The fields of `HEAD` in the payload of a head, by their names."""
    found = fields_of(Mark.HEAD, payload)
    way, near = found["way"], found["way"] == _NEAR
    kind = Array([C(way % 3, 2) for way in range(_NEAR)] + [found["destination"][:2]])[way]
    via = Array([C(way // 3, VIA_BITS) for way in range(_NEAR)] + [C(0, VIA_BITS)])[way]
    return {
        "key": Cat(found["key"], via),
        "length": found["length"],
        "address": found["address"],
        "far": ~near,
        "destination": found["destination"],
        "fetch": kind == 1,
        "fetched": kind == 2,
    }


def data_words(head):
    """Data words of the packet with that head. A request has one, of no meaning: what may be passed on is known
    two cycles after a head, not one."""
    return Mux(head.fetch, 1, head.length + 1)


def mark(kind, **values):
    """The payload of a mark: a list of its bits, low ones first."""
    return Cat(C(kind, _KIND_BITS), *[values[name] for name, _ in MARK[kind]])


def fields_of(kind, payload):
    """Names for the bits of a mark of that kind."""
    found, at = {"kind": payload[:_KIND_BITS]}, _KIND_BITS
    for name, width in MARK[kind]:
        found[name] = payload[at : at + width]
        at += width
    if at > PAYLOAD_BITS:
        raise ValueError(f"a mark has {at} bits")
    return found


def escape_like(word):
    """(whether the word differs from the escape in at most one bit, the number of that bit or
    64)."""
    wrong = [word[n] ^ (ESCAPE >> n & 1) for n in range(WORD_BITS)]
    # For each bit of the bit number, half of the word's bits have it set: at most one bit is wrong
    # if in no case both halves have wrong bits
    halves = []
    for bit in range(log2_int(WORD_BITS)):
        ones = reduce(or_, [w for n, w in enumerate(wrong) if n >> bit & 1])
        zeros = reduce(or_, [w for n, w in enumerate(wrong) if not n >> bit & 1])
        halves.append((ones, zeros))
    alike = reduce(and_, [~(ones & zeros) for ones, zeros in halves])
    right = ~reduce(or_, [ones | zeros for ones, zeros in halves[:1]])
    return alike, Cat(*[ones for ones, _ in halves], right)
