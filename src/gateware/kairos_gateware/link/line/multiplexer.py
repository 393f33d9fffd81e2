"""Multiplexes streams onto the link word by word; each word carries its stream's number.

Ranks have strict priority: a word of a lower-priority rank leaves only in a cycle in which no
higher one has a word, so a word of the first rank never waits. Streams of one rank are served
round-robin. Stream 0 is not a stream but an empty word.
"""

from functools import reduce
from operator import or_

from migen import *
from migen.genlib.roundrobin import SP_CE, RoundRobin

from .word import PAYLOAD_BITS, STREAM_BITS, word_layout

__all__ = ["Multiplexer"]


class Multiplexer(Module):
    """ranks: lists of stream numbers, highest priority first.

    For stream n, `valid[n]` and `payload[n]` are inputs and `ready[n]` an output: the word leaves in this
    cycle. `word` (out): leaves if `ready`; it may change until then.

    `any` (out): some stream has a word. `word_ready` (in): the word on offer leaves in this cycle.
    """

    def __init__(self, ranks):
        streams = [number for rank in ranks for number in rank]
        if len(set(streams)) < len(streams) or not set(streams) <= set(range(1, 2**STREAM_BITS)):
            raise ValueError(f"streams have numbers of their own from 1 to {2**STREAM_BITS - 1}, not {streams}")
        self.valid = {number: Signal(name=f"valid_{number}") for number in streams}
        self.payload = {number: Signal(PAYLOAD_BITS, name=f"payload_{number}") for number in streams}
        self.ready = {number: Signal(name=f"ready_{number}") for number in streams}
        self.word = Record(word_layout())
        self.any = Signal()
        self.word_ready = Signal()

        # # #

        before = C(0)
        for rank in ranks:
            turn = RoundRobin(len(rank), SP_CE)
            self.submodules += turn
            asks = [self.valid[number] for number in rank]
            wins = [self._first_from(turn.grant, asks, n) & ~before for n in range(len(rank))]
            self.comb += [turn.request.eq(Cat(*asks)), turn.ce.eq(reduce(or_, wins) & self.word_ready)]
            for number, won in zip(rank, wins, strict=True):
                self.comb += [
                    self.ready[number].eq(won & self.word_ready),
                    If(won, self.word.stream.eq(number), self.word.payload.eq(self.payload[number])),
                ]
            before = before | reduce(or_, asks)
        self.comb += self.any.eq(before)

    @staticmethod
    def _first_from(grant, asks, n):
        """Whether stream n of a rank is the first that requests, counting from the one after the
        last winner."""
        count = len(asks)
        if count == 1:
            return asks[0]
        cases = []
        for last in range(count):
            nearer = [asks[(last + 1 + step) % count] for step in range((n - last - 1) % count)]
            cases.append((grant == last) & asks[n] & ~reduce(or_, nearer, C(0)))
        return reduce(or_, cases)
