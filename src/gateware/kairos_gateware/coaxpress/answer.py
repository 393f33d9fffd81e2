"""The answer of a camera to a command, kept until it has been read. Clock domain sys.

    tag, if any | code | length in bytes | data, if any | CRC

Tag and code are sent four times. A camera that needs longer answers with the code `ANSWER_WAIT` first.
"""

from migen import *

from ..contracts import coaxpress as facts
from .downlink import PacketReader, Words

__all__ = ["WORDS", "Answer"]

WORDS = 32
"""Words of an answer after its code: the length, at most 25 of data, and the CRC."""
assert WORDS >= 2 + facts.MOST_DATA // 4


class Answer(Module):
    """words, packets: of the camera.

    `answered` (out), one cycle: there is one, from now on; `good` (out): its CRC is correct and it is not too long;
    `tagged` (out) and its `tag` (out, 8 bits); `code` (out, 8 bits); `count` (out, 6 bits): its words after the code.
    `index` (in, 5 bits), and `word` (out, 32 bits): the one with this number, a cycle later.
    reader: clock domain of these two.
    """

    def __init__(self, words: Words, packets: PacketReader, reader="sys"):
        self.answered, self.good, self.tagged = Signal(), Signal(), Signal()
        self.tag, self.code, self.count = Signal(8), Signal(8), Signal(max=2 * WORDS)
        self.index, self.word = Signal(max=WORDS), Signal(32)

        # # #

        kept = Memory(32, WORDS)
        write, read = kept.get_port(write_capable=True), kept.get_port(clock_domain=reader)
        self.specials += kept, write, read
        tag_next, code_next, too_long = Signal(), Signal(), Signal()
        self.comb += [
            read.adr.eq(self.index),
            self.word.eq(read.dat_r),
            write.adr.eq(self.count),
            write.dat_w.eq(words.word),
            write.we.eq(packets.answers & ~tag_next & ~code_next & ~too_long),
            too_long.eq(self.count == WORDS),
        ]
        self.sync += [
            If(
                packets.begin_answer,
                self.tagged.eq(packets.tagged),
                tag_next.eq(packets.tagged),
                code_next.eq(1),
                self.count.eq(0),
            ),
            If(
                packets.answers,
                If(tag_next, tag_next.eq(0), self.tag.eq(words.value))
                .Elif(code_next, code_next.eq(0), self.code.eq(words.value))
                .Elif(~too_long, self.count.eq(self.count + 1)),
            ),
            self.answered.eq(packets.end_answer),
            If(packets.end_answer, self.good.eq(packets.good & ~too_long)),
        ]
