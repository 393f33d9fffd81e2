"""What comes from a camera: words to packets. Clock domain sys; a word in each cycle.

A word has four characters, the highest byte first; K28.5 is always the first one of a word. Words that begin with it
are idle, also within a packet.

    packet start | type | words of which the CRC is | CRC | packet end

What is sent four times (start, end, type and further bytes) is what two of the first three characters say: one wrong
character changes nothing.
"""

from migen import *

from ..contracts import coaxpress as facts
from .crc import Crc
from .uplink import CHARACTER_BITS, CONTROL

__all__ = ["PacketReader", "Words", "vote"]


def vote(characters):
    """Expression: the value that two of the first three of these say, bit by bit."""
    a, b, c = characters[:3]
    return (a & b) | (a & c) | (b & c)


class Words(Module):
    """`take` (in): `characters` (in, 36 bits: four, the first one lowest) is a word. In the next cycle: `stb` (out) and
    the `word` (out, 32 bits) unless it is idle, and of bytes that were sent four times `value` (out, 8 bits), `control`
    (out): it is a control character. `settled` (out): no word in between."""

    def __init__(self):
        self.take, self.characters = Signal(), Signal(4 * CHARACTER_BITS)
        self.stb, self.word = Signal(), Signal(32)
        self.value, self.control = Signal(8), Signal()
        self.settled = Signal()

        # # #

        characters = [self.characters[CHARACTER_BITS * n : CHARACTER_BITS * (n + 1)] for n in range(4)]
        self.comb += self.settled.eq(~self.take & ~self.stb)
        self.sync += [
            self.stb.eq(self.take & (characters[0] != CONTROL | facts.COMMA)),
            If(
                self.take,
                self.word.eq(Cat(*[character[:8] for character in reversed(characters)])),
                Cat(self.value, self.control).eq(vote(characters)),
            ),
        ]


class PacketReader(Module):
    """words: `Words`. `answers` (out), `streams` (out): the word is one of such a packet, behind its type, up to and
    with its CRC. `begin_answer` (out), `begin_stream` (out): the word is the type of such a packet, `tagged` (out):
    with a tag. `end_answer` (out), `end_stream` (out): it ends; `good` (out): its CRC is correct."""

    def __init__(self, words):
        self.answers, self.streams = Signal(), Signal()
        self.begin_answer, self.begin_stream, self.tagged = Signal(), Signal(), Signal()
        self.end_answer, self.end_stream, self.good = Signal(), Signal(), Signal()

        # # #

        self.submodules.crc = crc = Crc()
        typed, of_answer, of_stream = Signal(), Signal(), Signal()
        control = words.stb & words.control
        # A mark of an image is a part of its packet
        begins = control & (words.value == facts.PACKET_START)
        ends = control & (words.value == facts.PACKET_END)
        inside = words.stb & ~begins & ~ends & ~typed
        kind = words.stb & ~begins & ~ends & typed
        self.comb += [
            self.answers.eq(inside & of_answer),
            self.streams.eq(inside & of_stream),
            self.end_answer.eq(ends & of_answer),
            self.end_stream.eq(ends & of_stream),
            self.begin_stream.eq(kind & (words.value == facts.STREAM)),
            self.begin_answer.eq(kind & ((words.value == facts.ANSWER) | self.tagged)),
            self.tagged.eq(words.value == facts.TAGGED_ANSWER),
            self.good.eq(crc.register == 0),
            crc.clear.eq(begins),
            crc.word.eq(words.word),
            crc.stb.eq(inside),
        ]
        self.sync += [
            If(begins | ends, of_answer.eq(0), of_stream.eq(0), typed.eq(begins)),
            If(kind, typed.eq(0), of_answer.eq(self.begin_answer), of_stream.eq(self.begin_stream)),
        ]
