"""Bulk data between an end of the link and its line: raw words while nothing else is to be sent
(bulk_words.py).

    packets ─▶ ┐                                            ┌─▶ packets
    answers ─▶ ┼─▶ BulkSending ═══ line ═══ BulkReceiving ─▶ ┼─▶ answers
    endpoint ─▶ ┘                                            └─▶ endpoint

The endpoint must protect its words by frames (`Reliable`): if a head is lost, raw words are taken
for words with check bits, and only CRCs reveal that they are not.

Latency: endpoint's word → line 1, or 2 just after a raw word; line → endpoint 0. Clock domain sys.
"""

from migen import *

from ..line.crc import CRC_BITS, CRC_START, Crc
from ..line.secded import Decoder, Encoder
from ..line.word import CHECK_BITS, PAYLOAD_BITS, STREAM_BITS, WORD_BITS
from .words import (
    ANSWER,
    BULK,
    ESCAPE,
    HEAD,
    KEY_BITS,
    LEFT_BITS,
    LITERAL_BITS,
    STATUS_BITS,
    Mark,
    data_words,
    escape_like,
    fields_of,
    mark,
    pack_head,
    unpack_head,
)

__all__ = ["BulkLine", "BulkReceiving", "BulkSending"]

_BITS = PAYLOAD_BITS + STREAM_BITS


class BulkSending(Module):
    """endpoint: its `out` is sent to the line here. `out` (out): word to the line coder, with `ready`.

    `packet` (in): a head (`head`, with the fields of `HEAD`), then its data, each accepted if `valid` and
    `ready`; `spoiled`: this word could not be read, so the packet must be received as broken. `answer`
    (in): result of a received packet, with `ready`. `moving` (out): something is in transit.
    """

    def __init__(self, endpoint):
        self.out = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.packet = Record([("valid", 1), ("ready", 1), ("head", 1), *HEAD, ("word", WORD_BITS), ("spoiled", 1)])
        self.answer = Record([("valid", 1), ("ready", 1), *ANSWER])
        self.moving = Signal()

        # # #

        packet, answer, other = self.packet, self.answer, endpoint.out
        raw, under_way, left, spoiled = Signal(), Signal(), Signal(LEFT_BITS), Signal()
        step, sends, word, payload = Signal(), Signal(), Signal(WORD_BITS), Signal(PAYLOAD_BITS)
        trailer, alike, flipped = Signal(), Signal(), Signal(LITERAL_BITS)
        crc, summed = Signal(CRC_BITS), Signal()
        begins, ends, enters, leaves, takes = [Signal() for _ in range(5)]
        self.submodules.encoder = encoder = Encoder(_BITS, CHECK_BITS)
        self.submodules.crc = sums = Crc(WORD_BITS)
        found = escape_like(packet.word)
        head = pack_head(packet)
        resume = mark(Mark.RESUME, left=(left - takes)[:LEFT_BITS], literal=takes, flipped=flipped)
        answers = {name: getattr(answer, name) for name, _ in ANSWER}
        answers |= {f"not_{name}": ~value for name, value in answers.items()}
        ready = packet.valid & ~packet.head
        self.comb += [
            step.eq(~self.out.valid | self.out.ready),
            trailer.eq(left == 1),
            alike.eq(found[0]),
            flipped.eq(found[1]),
            encoder.data.eq(Cat(payload, C(BULK, STREAM_BITS))),
            word.eq(encoder.word),
            If(
                other.valid,
                sends.eq(1),
                If(raw, word.eq(ESCAPE), leaves.eq(1)).Else(word.eq(other.word), other.ready.eq(step)),
            )
            .Elif(
                raw & trailer,
                Cat(sends, ends, leaves).eq(7),
                word.eq(Cat(crc ^ spoiled, ~crc)),
            )
            .Elif(
                raw & ready,
                sends.eq(1),
                If(alike, word.eq(ESCAPE), leaves.eq(1)).Else(word.eq(packet.word), takes.eq(1)),
            )
            .Elif(
                ~raw & under_way & (trailer | ready),
                Cat(sends, enters).eq(3),
                takes.eq(~trailer & alike),
                payload.eq(resume),
            )
            .Elif(
                ~under_way & answer.valid,
                sends.eq(1),
                answer.ready.eq(step),
                payload.eq(mark(Mark.ANSWER, **answers)),
            )
            .Elif(
                ~under_way & packet.valid & packet.head & endpoint.up,
                Cat(sends, begins, enters).eq(7),
                payload.eq(head),
            ),
            # Packets offered while the link is down are discarded; their engine retransmits them
            packet.ready.eq(step & (takes | begins | (~under_way & (~packet.head | ~endpoint.up)))),
            summed.eq(takes | begins),
            sums.before.eq(Mux(begins, CRC_START, crc)),
            sums.data.eq(Mux(begins, payload, packet.word)),
            self.moving.eq(packet.valid | under_way | answer.valid | self.out.valid | other.valid),
        ]
        self.sync += If(
            step,
            self.out.valid.eq(sends),
            self.out.word.eq(word),
            If(enters, raw.eq(1)).Elif(leaves, raw.eq(0)),
            If(begins, under_way.eq(1), left.eq(data_words(packet) + 1), spoiled.eq(0)),
            If(ends, under_way.eq(0)),
            If(takes, left.eq(left - 1), spoiled.eq(spoiled | packet.spoiled)),
            If(summed, crc.eq(sums.after)),
        )


class BulkReceiving(Module):
    """endpoint: its `into` and `line` are driven here. `into` (in): word from the line coder. A cycle
    later: `head` (out), a packet begins, with its fields in `head_of` (out); a head ends a previous packet
    that has no end; `data` (out), a `word` (out, 64 bits) of it; `end` (out), it is complete, and right if
    `good` (out). `answer` (out): with `answer_key` (out, 13 bits) and `answer_status` (out, 3 bits). `busy`
    (out): a packet is being received."""

    def __init__(self, endpoint):
        self.into = Record([("valid", 1), ("word", WORD_BITS)])
        self.head, self.head_of = Signal(), Record(HEAD)
        self.data, self.word = Signal(), Signal(WORD_BITS)
        self.end, self.good, self.busy = Signal(), Signal(), Signal()
        self.answer, self.answer_key, self.answer_status = Signal(), Signal(KEY_BITS), Signal(STATUS_BITS)

        # # #

        self.submodules.decoder = decoder = Decoder(_BITS, CHECK_BITS)
        self.submodules.crc = sums = Crc(WORD_BITS)
        into, raw, known, left = self.into, Signal(), Signal(), Signal(LEFT_BITS)  # known: the head was received
        crc, marked, payload = Signal(CRC_BITS), Signal(), decoder.data[:PAYLOAD_BITS]
        resume, answer = [fields_of(kind, payload) for kind in (Mark.RESUME, Mark.ANSWER)]
        head = unpack_head(payload) | {"kind": resume["kind"]}
        alike, literal, follows, twice = Signal(), Signal(WORD_BITS), Signal(), Signal()
        self.comb += [
            decoder.word.eq(into.word),
            marked.eq(into.valid & ~raw & ~decoder.broken & (decoder.data[PAYLOAD_BITS:] == BULK)),
            endpoint.into.valid.eq(into.valid & ~raw & ~marked),
            endpoint.into.word.eq(into.word),
            alike.eq(escape_like(into.word)[0]),
            literal.eq(ESCAPE ^ Mux(resume["flipped"][-1], 0, 1 << resume["flipped"][:-1])),
            follows.eq(known & (resume["left"] + resume["literal"] == left)),
            twice.eq((answer["key"] == ~answer["not_key"]) & (answer["status"] == ~answer["not_status"])),
            sums.before.eq(Mux(marked & (head["kind"] == Mark.HEAD), CRC_START, crc)),
            sums.data.eq(Mux(raw, into.word, Mux(head["kind"] == Mark.HEAD, payload, literal))),
            self.busy.eq(known | raw | self.head | self.data | self.end | self.answer),
        ]
        self.sync += [
            self.head.eq(0),
            self.data.eq(0),
            self.end.eq(0),
            self.answer.eq(0),
            If(
                into.valid & raw,
                self.word.eq(into.word),
                If(alike, raw.eq(0))
                .Elif(
                    left == 1,
                    raw.eq(0),
                    known.eq(0),
                    self.end.eq(known),
                    self.good.eq(into.word == Cat(crc, ~crc)),
                )
                .Else(left.eq(left - 1), crc.eq(sums.after), self.data.eq(known)),
            ),
            If(
                marked & (head["kind"] == Mark.HEAD),
                raw.eq(1),
                known.eq(1),
                left.eq(Mux(head["fetch"], 2, head["length"] + 2)),
                crc.eq(sums.after),
                self.head.eq(1),
                [getattr(self.head_of, name).eq(head[name]) for name, _ in HEAD],
            ),
            If(
                marked & (head["kind"] == Mark.RESUME),
                raw.eq(1),
                known.eq(follows),
                left.eq(resume["left"]),
                If(resume["literal"], self.word.eq(literal), self.data.eq(follows), crc.eq(sums.after)),
            ),
            If(
                marked & (head["kind"] == Mark.ANSWER),
                self.answer.eq(twice),
                self.answer_key.eq(answer["key"]),
                self.answer_status.eq(answer["status"]),
            ),
            If(~endpoint.line, raw.eq(0), known.eq(0)),
        ]


class BulkLine(Module):
    """endpoint: an end of the link. `out`, `into`, `line`: replace those of the endpoint.
    `sending`, `receiving`."""

    def __init__(self, endpoint):
        self.submodules.sending = BulkSending(endpoint)
        self.submodules.receiving = BulkReceiving(endpoint)
        self.out, self.into, self.line = self.sending.out, self.receiving.into, endpoint.line
