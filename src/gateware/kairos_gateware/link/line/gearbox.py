"""Packs vectors into words without gaps, and unpacks them.

A vector of a stream has one of a few **forms**, each with its own width: an AXI write beat, for
example, needs 64 bits if all its bytes are written, and 73 if not. A vector begins with a tag that
names its form. Vectors may straddle word boundaries. All lengths are multiples of a unit of 6 bits,
so that a word of 54 bits has nine places where a vector can begin, and the shifters nine positions
instead of 54. Tag 0 is no vector: the rest of that word is empty. No word waits to be filled: if no
vector follows, the word leaves as it is.

A vector that fits into a word begins one (its tag is then in the first unit), so at most one vector
ends in each word, and the unpacker never has to hold words back.

Latency: a vector's last bit leaves in the cycle after it was accepted; from a word to its vector, 2
cycles.
"""

from functools import reduce
from operator import or_

from migen import *

from .word import PAYLOAD_BITS

__all__ = ["UNIT", "Depacketiser", "Forms", "Packetiser", "VectorStream"]

UNIT = 6
"""Bits of which every length is a multiple."""
PLACES = PAYLOAD_BITS // UNIT
"""Positions in a word at which a vector can begin."""


class Forms:
    """The forms of a stream's vectors. widths: from name to bits of data, without the tag. `tags`:
    from name to tag. `packed`: the gearbox can handle them, since none takes more than 19 units,
    and either all or none are shorter than a word; otherwise each vector has words of its own
    (`simple`)."""

    def __init__(self, **widths):
        self.widths = widths
        self.tags = {name: tag for tag, name in enumerate(widths, 1)}
        self.tag_bits = bits_for(len(widths))
        self.units = {name: -(-(self.tag_bits + width) // UNIT) for name, width in widths.items()}
        self.longest = max(self.units.values())
        short = [units < PLACES for units in self.units.values()]
        self.packed = any(short) == all(short) and self.longest <= 2 * PLACES + 1
        self.one_a_word = all(short)
        self.data_bits = max(widths.values())

    def unpacked(self):
        """The same forms for a stream whose vectors have words of their own."""
        forms = Forms(**self.widths)
        forms.packed = False
        return forms

    def layout(self):
        """Fields of a vector: `form` (one of `tags`) and `data`."""
        return [("form", self.tag_bits), ("data", self.data_bits)]


class VectorStream(Module):
    """Common ports of packers and unpackers: a vector and a `word`. forms: `Forms`.

    `vector` (in; of an unpacker, out): {valid, form, data}. `word` (out; of an unpacker, in): {valid,
    payload}.
    """

    def __init__(self, forms):
        self.forms = forms
        self.vector = Record([("valid", 1), *forms.layout()])
        self.word = Record([("valid", 1), ("payload", PAYLOAD_BITS)])


class Packetiser(VectorStream):
    """From `vector` (accepted if `vector.valid` and `vector_ready` (out)) to `word` (taken if `word.valid`
    and `word_ready` (in)). A word that is offered but not taken may be withdrawn in the next cycle, to
    return fuller."""

    def __init__(self, forms):
        super().__init__(forms)
        self.vector_ready = Signal()
        self.word_ready = Signal()

        # # #

        places = 1 if forms.one_a_word else PLACES  # positions at which a vector can be put
        room = places - 1 + max(forms.longest, PLACES)
        buffer, fill = Signal(room * UNIT), Signal(max=room + 1)
        place = Signal(max=PLACES)  # where the next vector begins: fill level in units, modulo a word
        full, taken, accepted = Signal(), Signal(), Signal()
        self.comb += [
            full.eq(fill >= places),
            self.word.payload.eq(buffer[:PAYLOAD_BITS]),
            self.word.valid.eq(full | ((fill != 0) & ~self.vector.valid)),
            taken.eq(self.word.valid & self.word_ready),
            self.vector_ready.eq(~full | (taken & (fill < PLACES + places))),
            accepted.eq(self.vector.valid & self.vector_ready),
        ]
        units, behind, cases, present = Signal.like(fill), Signal.like(place), {}, {}
        for name, tag in forms.tags.items():
            behinds = {at: behind.eq((at + forms.units[name]) % PLACES) for at in range(PLACES)}
            cases[tag] = [units.eq(forms.units[name]), Case(place, behinds)]
        # Bits of the vector, zero beyond the width of its form
        for name, tag in forms.tags.items():
            present.setdefault(forms.widths[name], []).append(self.vector.form == tag)
        parts, at = [], 0
        for width in sorted(present):
            has = reduce(or_, [any_ for w, anys in present.items() if w >= width for any_ in anys])
            parts.append(self.vector.data[at:width] & Replicate(has if at else 1, width - at))
            at = width
        vector = Signal(forms.longest * UNIT)
        self.comb += vector.eq(Cat(self.vector.form, *parts))
        nearly, placed = Signal.like(buffer), Signal.like(buffer)
        self.comb += Case(self.vector.form, cases)
        if places == 1:
            self.comb += If(accepted, placed.eq(vector))
        else:  # shift in two steps, each one LUT per bit
            high = Signal(2)
            self.comb += [
                high.eq(Mux(accepted, place[2:], 3)),
                Case(place[:2], {n: nearly.eq(vector << n * UNIT) for n in range(4)}),
                Case(high, {n: placed.eq(nearly << 4 * n * UNIT) for n in range(3)}),
            ]
        left = Signal.like(fill)
        self.comb += If(~taken, left.eq(fill)).Elif(fill > PLACES, left.eq(fill - PLACES))
        self.sync += fill.eq(left + Mux(accepted, units, 0))
        # While no word leaves, a vector is accepted only after a partial word: its destination and
        # the word beyond are empty, and what precedes it stays. So a buffer bit is either the bit
        # one word further or the vector's: one LUT together with the step above
        behind_word = C(0, len(buffer))
        if len(buffer) > PAYLOAD_BITS:
            behind_word = Cat(buffer[PAYLOAD_BITS:], C(0, PAYLOAD_BITS))
        for unit in range(room):
            bits = slice(unit * UNIT, (unit + 1) * UNIT)
            comes = accepted & (unit >= place) if unit < PLACES and places > 1 else accepted
            self.sync += If(taken | comes, buffer[bits].eq(behind_word[bits] | placed[bits]))
        if places > 1:
            self.sync += If(accepted, place.eq(behind)).Elif(taken & ~full, place.eq(0))


class Depacketiser(VectorStream):
    """From `word` to `vector`. Both are valid for a cycle; the consumer must have room for the
    vectors (credits ensure that)."""

    def __init__(self, forms):
        super().__init__(forms)

        # # #

        span = -(-(PLACES - 1 + forms.longest) // PLACES)  # words over which a vector can extend
        history = [Signal(PAYLOAD_BITS) for _ in range(span)]
        busy, more, start, end = Signal(), Signal(2), Signal(max=PLACES), Signal(max=PLACES + 1)
        words = Signal(2)  # over which the current vector extends
        ended = Signal()
        tag, begins, at = Signal(forms.tag_bits), Signal(), Signal(max=PLACES)
        done = Signal()
        # Where the next vector would begin in this word, and whether one does
        self.comb += [
            ended.eq(busy & (more == 1)),
            If(busy, at.eq(end), begins.eq(ended & (end != PLACES))).Else(begins.eq(1)),
            Case(at, {n: tag.eq(self.word.payload[n * UNIT : n * UNIT + forms.tag_bits]) for n in range(PLACES)}),
        ]
        last_start, final_words = Signal.like(start), Signal.like(words)
        following = {}
        for name, number in forms.tags.items():
            cases = {}
            for place in range(1 if forms.one_a_word else PLACES):
                spanned = -(-(place + forms.units[name]) // PLACES)
                if spanned == 1:
                    cases[place] = [done.eq(1), last_start.eq(place), final_words.eq(1)]
                    continue
                cases[place] = [
                    busy.eq(1),
                    more.eq(spanned - 1),
                    words.eq(spanned),
                    end.eq(place + forms.units[name] - (spanned - 1) * PLACES),
                ]
            following[number] = Case(at, cases)
        self.sync += [
            done.eq(0),
            If(
                self.word.valid,
                history[0].eq(self.word.payload),
                [newer.eq(older) for older, newer in zip(history, history[1:], strict=False)],
                If(busy, more.eq(more - 1)),
                If(ended, busy.eq(0), done.eq(1), last_start.eq(start), final_words.eq(words)),
                If(begins & (tag != 0), start.eq(at), Case(tag, following)),
            ),
        ]
        window, aligned = Signal(span * PAYLOAD_BITS), Signal(forms.longest * UNIT)
        self.comb += [
            Case(final_words, {n: window.eq(Cat(*reversed(history[:n]))) for n in range(1, span + 1)}),
            Case(last_start, {n: aligned.eq(window[n * UNIT :]) for n in range(PLACES)}),
        ]
        self.sync += [
            self.vector.valid.eq(done),
            self.vector.form.eq(aligned[: forms.tag_bits]),
            self.vector.data.eq(aligned[forms.tag_bits :]),
        ]
