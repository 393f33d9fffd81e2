"""Vectors of any width in words of their own: each vector begins a word, and the rest of its last
word is empty. For streams that the gearbox cannot handle (`Forms.packed`); `make_packetiser` and
`make_depacketiser` choose. As in the gearbox, a vector begins with its tag.

Latency: a vector's first word leaves in the cycle after it was accepted; from its last word to the
vector, 1 cycle.
"""

from migen import *

from .gearbox import Depacketiser, Packetiser, VectorStream
from .word import PAYLOAD_BITS

__all__ = ["SimpleDepacketiser", "SimplePacketiser", "make_depacketiser", "make_packetiser"]


def _words(forms):
    """{tag: words of a vector}"""
    return {tag: -(-(forms.tag_bits + forms.widths[name]) // PAYLOAD_BITS) for name, tag in forms.tags.items()}


class SimplePacketiser(VectorStream):
    """As `Packetiser`; a word that is offered is held until it is taken.

    `vector_ready` (out): the vector is taken in this cycle. `word_ready` (in): the word is.
    """

    def __init__(self, forms):
        super().__init__(forms)
        self.vector_ready, self.word_ready = Signal(), Signal()

        # # #

        words = _words(forms)
        longest = max(words.values())
        buffer, left = Signal(longest * PAYLOAD_BITS), Signal(max=longest + 1)
        taken = Signal()
        self.comb += [
            self.word.payload.eq(buffer[:PAYLOAD_BITS]),
            self.word.valid.eq(left != 0),
            taken.eq(self.word.valid & self.word_ready),
            self.vector_ready.eq((left == 0) | ((left == 1) & taken)),
        ]
        self.sync += [
            If(taken, buffer.eq(buffer[PAYLOAD_BITS:]), left.eq(left - 1)),
            If(
                self.vector.valid & self.vector_ready,
                buffer.eq(Cat(self.vector.form, self.vector.data)),
                Case(self.vector.form, {tag: left.eq(count) for tag, count in words.items()}),
            ),
        ]


class SimpleDepacketiser(VectorStream):
    """As `Depacketiser`."""

    def __init__(self, forms):
        super().__init__(forms)

        # # #

        words = _words(forms)
        longest = max(words.values())
        buffer = [Signal(PAYLOAD_BITS) for _ in range(longest)]
        place, left = Signal(max=longest + 1), Signal(max=longest + 1)  # of the current vector
        tag, more = Signal(forms.tag_bits), Signal.like(left)
        self.comb += [
            tag.eq(self.word.payload[: forms.tag_bits]),
            If(left == 0, Case(tag, {number: more.eq(count - 1) for number, count in words.items()})).Else(
                more.eq(left - 1)
            ),
            Cat(self.vector.form, self.vector.data).eq(Cat(*buffer)),
        ]
        begins = (left != 0) | (tag != 0)
        self.sync += [
            self.vector.valid.eq(self.word.valid & begins & (more == 0)),
            If(
                self.word.valid & begins,
                left.eq(more),
                place.eq(Mux(more == 0, 0, place + 1)),
                Case(place, {n: word.eq(self.word.payload) for n, word in enumerate(buffer)}),
            ),
        ]


def make_packetiser(forms):
    return Packetiser(forms) if forms.packed else SimplePacketiser(forms)


def make_depacketiser(forms):
    return Depacketiser(forms) if forms.packed else SimpleDepacketiser(forms)
