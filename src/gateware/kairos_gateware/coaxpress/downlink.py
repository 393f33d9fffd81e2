"""What comes from a camera: characters to words, words to packets. Clock domain sys.

A transceiver gives characters, one per cycle at 1.25 Gbit/s. A word has four, the highest byte first; K28.5 is always
the first one of a word. Words that begin with it are idle, also within a packet.

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
    """`character` (in, 9 bits), `valid` (in): from the transceiver. In the cycle after the fourth one: `stb` (out) and
    the `word` (out, 32 bits) unless it is idle, and of bytes that were sent four times `value` (out, 8 bits), `control`
    (out): it is a control character. `settled` (out): no word in between."""

    def __init__(self):
        self.character, self.valid = Signal(CHARACTER_BITS), Signal()
        self.stb, self.word = Signal(), Signal(32)
        self.value, self.control = Signal(8), Signal()
        self.settled = Signal()

        # # #

        kept = [Signal(CHARACTER_BITS, name=f"character_{n}") for n in range(4)]  # the first one last
        place = Signal(max=4)
        comma = self.character == CONTROL | facts.COMMA
        voted = Signal(CHARACTER_BITS)
        self.comb += [
            self.word.eq(Cat(*[character[:8] for character in kept])),
            voted.eq(vote(kept[::-1])),
            self.value.eq(voted[:8]),
            self.control.eq(voted[8]),
            self.settled.eq(~self.valid & ~self.stb),
        ]
        self.sync += [
            self.stb.eq(self.valid & ~comma & (place == 3) & (kept[2] != CONTROL | facts.COMMA)),
            If(
                self.valid,
                [after.eq(before) for after, before in zip(kept, [self.character, *kept[:3]], strict=True)],
                place.eq(Mux(comma, 1, place + 1)),
            ),
        ]


class PacketReader(Module):
    """words: `Words`. `answers` (out), `streams` (out): the word is one of such a packet, behind its type, up to and
    with its CRC. `begin_answer` (out), `begin_stream` (out): such a packet begins, `tagged` (out): with a tag.
    `end_answer` (out), `end_stream` (out): it ends; `good` (out): its CRC is correct."""

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
        types = {
            facts.STREAM: [of_stream.eq(1), self.begin_stream.eq(1)],
            facts.ANSWER: [of_answer.eq(1), self.begin_answer.eq(1), self.tagged.eq(0)],
            facts.TAGGED_ANSWER: [of_answer.eq(1), self.begin_answer.eq(1), self.tagged.eq(1)],
        }
        self.comb += [
            self.answers.eq(inside & of_answer),
            self.streams.eq(inside & of_stream),
            self.end_answer.eq(ends & of_answer),
            self.end_stream.eq(ends & of_stream),
            self.good.eq(crc.register == 0),
            crc.clear.eq(begins),
            crc.word.eq(words.word),
            crc.stb.eq(inside),
        ]
        self.sync += [
            self.begin_answer.eq(0),
            self.begin_stream.eq(0),
            If(begins | ends, of_answer.eq(0), of_stream.eq(0), typed.eq(begins)),
            If(words.stb & ~begins & ~ends & typed, typed.eq(0), Case(words.value, types)),
        ]
