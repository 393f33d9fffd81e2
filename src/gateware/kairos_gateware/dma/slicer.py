"""Finds records in a stream of 64-bit words, at one word per cycle.

Three successive words are in view. A record starts at byte `offset` of the first of them, so its
first 17 bytes (a whole record with 32 bits of data) are in view at once, and are selected by 17
byte-wide 8:1 multiplexers. A longer record's further data follow with the next words, 8 bytes each,
through the same multiplexers. Every record is longer than a word, so at most one starts in each
word and the stream never has to stop for one: 17-byte records take 2.125 cycles. Compact records
start at byte 0.

Output, one `Step` for each examined word, one cycle later:

    start: the lanes hold a record from its byte 0 on
    otherwise: lanes 9 to 16 (recorded format), 8 to 15 (compact) are the next 8 bytes of the present record's data

Clock domain sys; held in reset while no trace is played.
"""

from litex.soc.interconnect import stream
from migen import *

from .format import COMPACT

__all__ = ["Slicer", "LANES", "step_layout"]

LANES = 17
_WORDS = 3


def step_layout():
    """lanes: byte n in bits 8n+7..8n. error: one of the words in view could not be read;
    first_error: the first of them."""
    return [("start", 1), ("error", 1), ("first_error", 1), ("lanes", 8 * LANES)]


class Slicer(Module):
    """`sink` (in, stream): words {data 64, error}. `format` (in): `RECORDED` or `COMPACT`, constant while
    playing. `source` (out, stream): `step_layout`."""

    def __init__(self):
        self.format = Signal()
        self.sink = sink = stream.Endpoint([("data", 64), ("error", 1)])
        self.source = source = stream.Endpoint(step_layout())

        # # #

        words = [Signal(64, name=f"word_{i}") for i in range(_WORDS)]
        errors = Signal(_WORDS)
        fill = Signal(max=_WORDS + 1)
        self.full = full = fill == _WORDS
        move = Signal()
        self.comb += [
            move.eq(sink.valid & (~full | ~source.valid | source.ready)),
            sink.ready.eq(~full | ~source.valid | source.ready),
        ]
        self.sync += If(
            move,
            [words[i].eq(words[i + 1]) for i in range(_WORDS - 1)],
            words[-1].eq(sink.data),
            errors.eq(Cat(errors[1:], sink.error)),
            If(~full, fill.eq(fill + 1)),
        )

        # Lane n is byte offset + n
        offset = Signal(3)
        view = Cat(*words)
        lanes = Signal(8 * LANES)
        for n in range(LANES):
            choices = Array(view[8 * (n + k) : 8 * (n + k + 1)] for k in range(8))
            self.comb += lanes[8 * n : 8 * n + 8].eq(choices[offset])

        # Words until the next start, and its offset
        skip = Signal(4)
        following = Signal(3)
        end = Signal(7)
        compact_more = Signal(4)
        first = lanes[:8]
        self.comb += [
            end.eq(offset + first[:7]),
            Case(first[:2], {2: compact_more.eq(1 + (first[2:8] >> 1)), 3: compact_more.eq(1), "default": []}),
        ]
        self.sync += [
            If(
                move & full,
                If(
                    skip != 0,
                    skip.eq(skip - 1),
                    If(skip == 1, offset.eq(following)),
                )
                .Elif(self.format == COMPACT, skip.eq(compact_more))
                .Else(
                    skip.eq(end[3:] - 1),
                    following.eq(end[:3]),
                    If(end[3:] == 1, offset.eq(end[:3])),
                ),
            ),
            If(
                move & full,
                source.valid.eq(1),
                source.start.eq(skip == 0),
                source.lanes.eq(lanes),
                source.error.eq(errors != 0),
                source.first_error.eq(errors[0]),
            ).Elif(source.ready, source.valid.eq(0)),
        ]
