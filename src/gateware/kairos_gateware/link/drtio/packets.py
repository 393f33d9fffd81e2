"""Real-time packets of DRTIO as words of the link, from the table of their fields (`contracts/drtio.py`). Clock domain
sys.

A packet is its type and the fields, lowest bits first, filled up with zeros to whole words. The words of a write with
more data than its packet takes follow at once; the highest ones are left out if they are zero. Since they begin where
the packet ends, all of it is one row of bits.

Latency: packet accepted → first word 1; last word → `came` 1.
"""

from functools import reduce
from operator import or_

from migen import *

from ...contracts.drtio import (
    FROM_CARD_FIELDS,
    SHORT_DATA_BITS,
    TO_CARD_FIELDS,
    TYPE_BITS,
    FromCard,
    ToCard,
)
from .words import check_characters

__all__ = ["PacketReceiver", "PacketSender", "packet_words"]


def packet_words(name, characters, data_width=0):
    """Words of the longest packet of this name."""
    word = 8 * characters
    fields = (TO_CARD_FIELDS | FROM_CARD_FIELDS)[name]
    bits = TYPE_BITS + sum(width for _, width in fields)
    if name == "write":
        bits = max(bits, bits - SHORT_DATA_BITS + data_width)
    return -(-bits // word)


class PacketSender(Module):
    """Sends packets to the card, one at a time. characters: of a word. data_width: of the widest output, in bits. For
    packets of another direction: `kinds`, `fields`, and those two below.

    requests: by name of the packet, a record with `valid`, `ready` and its fields, those of a write with `data` in
    place of what follows from it; if several are valid, the first one of the table after `first` goes. `stream` (out):
    as `realtime` of a `WordTransmitter`. Those in `punctual` are accepted only when their first word leaves in the next
    cycle for certain. `busy` (out): a packet is leaving."""

    kinds, fields = ToCard, TO_CARD_FIELDS
    punctual = ("set_time", "echo_request")
    first = ("set_time", "read_request", "write", "space_request", "echo_request")

    def __init__(self, characters, data_width=0):
        check_characters(characters)
        word = 8 * characters
        self.stream = Record([("valid", 1), ("ready", 1), ("last", 1), ("word", word)])
        self.busy = Signal()
        self.requests = {}
        for name in self.first:
            fields = [(field, width) for field, width in self.fields[name]]
            if name == "write":
                fields = [*fields[:-2], ("data", data_width)]
            self.requests[name] = Record([("valid", 1), ("ready", 1), *fields], name=name)

        # # #

        most = max(packet_words(name, characters, data_width) for name in self.first)
        row, left = Signal(word * most), Signal(max=most + 1)
        self.comb += [
            self.busy.eq(left != 0),
            self.stream.valid.eq(self.busy),
            self.stream.word.eq(row[:word]),
            self.stream.last.eq(left == 1),
        ]
        accepts, length, content = Signal(), Signal(max=most + 1), Signal(word * most)
        chosen = None
        for name in self.first:
            request = self.requests[name]
            free = ~self.busy & self.stream.ready if name in self.punctual else ~self.busy
            bits, words = self._laid_out(name, request, characters, data_width)
            takes = [request.ready.eq(free), accepts.eq(free), content.eq(bits), length.eq(words)]
            chosen = If(request.valid, *takes) if chosen is None else chosen.Elif(request.valid, *takes)
        self.comb += chosen
        self.sync += [
            If(self.stream.valid & self.stream.ready, row.eq(row[word:]), left.eq(left - 1)),
            If(accepts, row.eq(content), left.eq(length)),
        ]

    def _laid_out(self, name, request, characters, data_width):
        """(bits, number of words) of a packet."""
        kind, words = self.kinds[name.upper()], packet_words(name, characters)
        if name != "write":
            return Cat(C(kind, TYPE_BITS), *[getattr(request, field) for field, _ in self.fields[name]]), words
        word, more = 8 * characters, packet_words(name, characters, data_width) - words
        before = TYPE_BITS + sum(width for _, width in TO_CARD_FIELDS[name][:-1])
        short = word * words - before
        extra = Signal(dict(TO_CARD_FIELDS[name])["extra_words"])
        for n in range(more):
            part = request.data[short + n * word : short + (n + 1) * word]
            self.comb += If(part != 0, extra.eq(n + 1))
        return Cat(
            C(kind, TYPE_BITS), request.timestamp, request.channel, request.address, extra, request.data
        ), words + extra


class PacketReceiver(Module):
    """Reads packets from the card. characters: of a word. `valid` (in), `word` (in, `8 * characters` bits): as
    `realtime` of a `WordReceiver`. came: by name of the packet, a signal that is set for a cycle; values: by name,
    {field: signal} in that cycle. `malformed` (out): the packet has ended too early, or has another type. For packets
    of another direction: `kinds`, `fields`; a write then has `data` too, of `data_width` bits, and words have two
    characters at most, so that its `extra_words` are there before the last word of its packet."""

    kinds, fields = FromCard, FROM_CARD_FIELDS

    def __init__(self, characters, data_width=0):
        check_characters(characters)
        width = 8 * characters
        self.valid, self.word, self.malformed = Signal(), Signal(width), Signal()
        lengths = {name: packet_words(name, characters) for name in self.fields}
        most = max(packet_words(name, characters, data_width) for name in self.fields)
        row = Signal(width * most)
        self.came = {name: Signal(name=f"came_{name}") for name in self.fields}
        self.values = {name: self._values(name, row, data_width) for name in self.fields}
        if "write" in self.fields:
            lengths["write"] += self.values["write"]["extra_words"]

        # # #

        place, inside, over = Signal(max=most + 2), Signal(), Signal()
        kind, known = Signal(TYPE_BITS), Signal()
        first = self.valid & ~inside
        last = {name: Signal(name=f"last_{name}") for name in lengths}
        self.comb += [
            kind.eq(Mux(first, self.word[:TYPE_BITS], row[:TYPE_BITS])),
            known.eq(reduce(or_, [kind == self.kinds[name.upper()] for name in lengths])),
        ]
        for name, length in lengths.items():
            ends = self.valid & ~over & (kind == self.kinds[name.upper()]) & (Mux(first, 0, place) == length - 1)
            self.comb += last[name].eq(ends)
        ended = reduce(or_, last.values())
        self.sync += [
            [self.came[name].eq(signal) for name, signal in last.items()],
            self.malformed.eq((first & ~known) | (~self.valid & inside & ~over)),
            inside.eq(self.valid),
            If(
                self.valid & ~over,
                If(first, row.eq(self.word)).Else(
                    Case(place, {n: row[n * width : (n + 1) * width].eq(self.word) for n in range(1, most)})
                ),
                If(first, place.eq(1)).Elif(place != most + 1, place.eq(place + 1)),
            ),
            # What follows a packet until its frame ends is of no packet
            If(~self.valid, over.eq(0)).Elif(ended | ~known, over.eq(1)),
        ]

    def _values(self, name, row, data_width):
        """{field: part of the row} of a packet."""
        place, values = TYPE_BITS, {}
        for field, bits in self.fields[name]:
            values[field] = row[place : place + bits]
            place += bits
        if name == "write":
            place -= SHORT_DATA_BITS
            values["data"] = row[place : place + data_width]
        return values
