"""Words of a link as characters of DRTIO over EEM (`eem.py`), and what is sent while there is none. Clock domain sys.

A word of 64 bits is four link words of two data characters each, lowest bits first. While there is none, link words
begin with a control character: K28.5 and K28.1, by which the receiver finds characters, and others; the second
character is any. So each lane has edges at all places of a bit, which the search for the delays needs. A control
character ends a word that is not complete, so the receiver is in step again after it; one is sent after 16 words at
the latest. A word with an invalid code is not passed on.

    link word   control, any   D0, D1   D2, D3   D4, D5   D6, D7   D0, D1   …
                               └──────────── word ───────────┘

Latency: word → link word 1, the last of the four link words → word 1. A word takes WORD_CYCLES.
"""

from functools import reduce
from operator import or_

from migen import *

from ...code8b10b import control
from .eem import CHARACTER_BITS
from .word import WORD_BITS

__all__ = ["WORDS", "WORD_CYCLES", "WordReceiver", "WordTransmitter"]

WORD_CYCLES = 4
WORDS = 16
"""Words in a row, after which comes a control character: an odd number of cycles later, so that it is on lanes 0 and 1
in turn."""
_PART = WORD_BITS // WORD_CYCLES
_IDLE = [control(28, y) for y in (5, 1, 5, 2, 1, 4, 6, 0)]
_NOISE = (23, 18)
"""x^23 + x^18 + 1."""


def _data(part):
    """Two data characters."""
    return Cat(part[:8], C(0, 1), part[8:], C(0, 1))


class WordTransmitter(Module):
    """`word` (in): accepted in a cycle with `valid` and `ready`. `line` (out, 18 bits): the link word of this cycle."""

    def __init__(self):
        self.word = Record([("valid", 1), ("ready", 1), ("word", WORD_BITS)])
        self.line = Signal(2 * CHARACTER_BITS)

        # # #

        rest, left, run = Signal(WORD_BITS - _PART), Signal(max=WORD_CYCLES), Signal(max=WORDS + 1)
        noise = Signal(_NOISE[0], reset=1)
        bits = [noise[n] for n in range(_NOISE[0])]  # oldest bit lowest
        for _ in range(11):
            bits.append(bits[-_NOISE[0]] ^ bits[-_NOISE[1]])
        first = Signal(CHARACTER_BITS)
        self.comb += [
            Case(noise[:3], {n: first.eq(character) for n, character in enumerate(_IDLE)}),
            self.word.ready.eq((left == 0) & (run != WORDS)),
        ]
        self.sync += [
            noise.eq(Cat(*bits[11:])),
            If(left != 0, left.eq(left - 1), rest.eq(rest[_PART:]), self.line.eq(_data(rest[:_PART])))
            .Elif(
                self.word.valid & self.word.ready,
                left.eq(WORD_CYCLES - 1),
                run.eq(run + 1),
                rest.eq(self.word.word[_PART:]),
                self.line.eq(_data(self.word.word[:_PART])),
            )
            .Else(run.eq(0), self.line.eq(Cat(first, noise[3:11], C(0, 1)))),
        ]


class WordReceiver(Module):
    """`line` (in, 18 bits): a link word, with `invalid` (in), in each cycle in which the line is `aligned` (in). `word`
    (out): in a cycle with `valid`."""

    def __init__(self):
        self.line, self.invalid, self.aligned = Signal(2 * CHARACTER_BITS), Signal(), Signal()
        self.word = Record([("valid", 1), ("word", WORD_BITS)])

        # # #

        first, second = self.line[:CHARACTER_BITS], self.line[CHARACTER_BITS:]
        place, wrong = Signal(max=WORD_CYCLES), Signal(WORD_CYCLES - 1)
        kept, whole, bad = Signal(WORD_BITS - _PART), Signal(WORD_BITS), Signal()
        in_step = Signal()  # a control character has come
        self.comb += [
            bad.eq(self.invalid | second[-1]),
            whole.eq(Cat(kept, first[:8], second[:8])),
        ]
        self.sync += [
            self.word.valid.eq(0),
            If(~self.aligned, in_step.eq(0))
            .Elif(first[-1], in_step.eq(1), place.eq(0))
            .Elif(
                in_step,
                place.eq(place + 1),
                kept.eq(whole[_PART:]),
                wrong.eq(Cat(bad, wrong)),
                If(
                    place == WORD_CYCLES - 1,
                    self.word.valid.eq(~(bad | reduce(or_, [wrong[n] for n in range(WORD_CYCLES - 1)]))),
                    self.word.word.eq(whole),
                ),
            ),
        ]
