"""Between a transceiver and a grabber: bits to words, and the level of the line to the camera to bits.

    40 bits a cycle ─▶ Aligner ─▶ four characters ─▶ WordReader ─▶ words but idle ones
    20 equal bits a cycle ◀─ FIFO ◀─ level

The receiver has the camera's clock, a cycle for a word: 31.25 MHz at 1.25 Gbit/s, 156.25 MHz at 6.25 Gbit/s. What
reads the words has this clock, too, so no rate is too high for it, nor a clock that differs from the logic's.

The receiver is in step once it has seen a whole idle word, and until in eight cycles characters are invalid without
another one among them, or none comes for half as long again as it may take. Only out of step it takes another
alignment.
"""

from functools import reduce
from operator import or_

from migen import *
from migen.genlib.fifo import AsyncFIFO

from ..code8b10b import CODE_BITS, Decoder, table
from ..contracts import coaxpress as facts
from .uplink import CHARACTER_BITS, CONTROL, IDLE_WORD

__all__ = ["LEVEL_BITS", "LINE_BITS", "WORD_BITS", "LineReceiver", "LineTransmitter"]

_CHARACTERS = 4
"""Of a word, and of a cycle."""
LINE_BITS, LEVEL_BITS = _CHARACTERS * CODE_BITS, 20
"""Bits of a cycle from the camera, and of one to it."""
WORD_BITS = _CHARACTERS * CHARACTER_BITS
_COMMA = CONTROL | facts.COMMA
_CODES = sorted({code for (character, _), (code, _) in table().items() if character == _COMMA})
_LEVELS = 8
"""Depth of the FIFO."""
_IDLE_TIMEOUT = 15_000
"""Cycles without an idle word after which the receiver is out of step: a camera sends one in 10,000."""
_INVALID = 8
"""Cycles with invalid characters, without an idle word, after which it is."""


class Aligner(Module):
    """`line` (in, 40 bits): of a cycle, the first one lowest. `hold` (in): keep the alignment. `characters` (out, four
    of 9 bits), `valid` (out, 4 bits): those of a cycle, the first one lowest."""

    def __init__(self):
        self.line, self.hold = Signal(LINE_BITS), Signal()
        self.characters = [Signal(CHARACTER_BITS, name=f"character_{n}") for n in range(_CHARACTERS)]
        self.valid = Signal(_CHARACTERS)

        # # #

        before, kept, codes = Signal(LINE_BITS), Signal(LINE_BITS + CODE_BITS - 1), Signal(LINE_BITS)
        # A bit for each alignment, so that neither the search nor the choice waits for a number
        found, chosen = Signal(CODE_BITS), Signal(CODE_BITS, reset=1)
        window = Cat(before, self.line)
        for shift in range(CODE_BITS):
            codes_there = [window[place : place + CODE_BITS] for place in range(shift, LINE_BITS, CODE_BITS)]
            is_comma = [code == comma for code in codes_there for comma in _CODES]
            self.sync += found[shift].eq(reduce(or_, is_comma))
        choices = [Replicate(chosen[n], LINE_BITS) & kept[n : n + LINE_BITS] for n in range(CODE_BITS)]
        self.sync += [
            before.eq(self.line),
            kept.eq(window),
            If(~self.hold & (found != 0), chosen.eq(found)),
            codes.eq(reduce(or_, choices)),
        ]
        for n, character in enumerate(self.characters):
            self.submodules += (decoder := Decoder())
            self.comb += decoder.code.eq(codes[CODE_BITS * n : CODE_BITS * (n + 1)])
            self.sync += [character.eq(decoder.character), self.valid[n].eq(decoder.valid)]


class WordReader(Module):
    """characters, valid: of an `Aligner`; patience: cycles without an idle word until it is out of step. `stb` (out),
    `word` (out, 36 bits, four characters, the first one lowest): a word that is not idle, while `in_step` (out)."""

    def __init__(self, characters, valid, patience):
        self.stb, self.word, self.in_step = Signal(), Signal(WORD_BITS), Signal()

        # # #

        before, seen, commas = Signal(WORD_BITS), Signal(_CHARACTERS), Signal(_CHARACTERS)
        # A bit for each place of a cycle at which words begin
        kept, chosen = Signal(_CHARACTERS, reset=1), Signal(_CHARACTERS)
        now, word, begins, whole = Cat(*characters), Signal(WORD_BITS), Signal(), Signal(WORD_BITS)
        both = Cat(before, now)
        places = [both[CHARACTER_BITS * n : CHARACTER_BITS * n + WORD_BITS] for n in range(_CHARACTERS)]
        idle = sum(character << CHARACTER_BITS * n for n, character in enumerate(IDLE_WORD))
        left, invalid = Signal(max=patience), Signal(max=_INVALID + 1)
        bad, is_idle = Signal(), Signal()
        self.comb += [
            commas.eq(Cat(*[character == _COMMA for character in characters])),
            # The first one, if noise has several
            chosen.eq(Mux(seen != 0, seen & (~seen + 1), kept)),
            whole.eq(reduce(or_, [Replicate(chosen[n], WORD_BITS) & place for n, place in enumerate(places)])),
            self.in_step.eq(left != 0),
            is_idle.eq(word == idle),
        ]
        self.sync += [
            before.eq(now),
            seen.eq(commas),
            kept.eq(chosen),
            word.eq(whole),
            bad.eq(valid != 2**_CHARACTERS - 1),
            begins.eq(whole[:CHARACTER_BITS] == _COMMA),
            self.stb.eq(self.in_step & ~begins),
            self.word.eq(word),
            If(
                is_idle,
                left.eq(patience - 1),
                invalid.eq(0),
            )
            .Elif(
                invalid == _INVALID,
                left.eq(0),
                invalid.eq(0),
            )
            .Else(
                If(self.in_step, left.eq(left - 1)),
                If(bad, invalid.eq(invalid + 1)),
            ),
        ]


class LineReceiver(Module):
    """patience: of a `WordReader`. `line` (in, 40 bits): of a cycle, the first one lowest; `in_step` (out): words of
    CoaXPress arrive; `stb` (out), `word` (out, 36 bits, four characters, the first one lowest): one that is not idle.
    Clock domain sys, which is that of the received clock."""

    def __init__(self, patience=_IDLE_TIMEOUT):
        self.line, self.in_step = Signal(LINE_BITS), Signal()
        self.stb, self.word = Signal(), Signal(WORD_BITS)

        # # #

        self.submodules.aligner = aligner = Aligner()
        self.submodules.reader = reader = WordReader(aligner.characters, aligner.valid, patience)
        self.comb += [
            aligner.line.eq(self.line),
            aligner.hold.eq(reader.in_step),
            self.in_step.eq(reader.in_step),
            self.stb.eq(reader.stb),
            self.word.eq(reader.word),
        ]


class LineTransmitter(Module):
    """domain: of the clock to send, of the same frequency as sys. `level` (in), in sys. `line` (out, 20 bits), in the
    domain: all of them the level, of which each lasts as long as in sys."""

    def __init__(self, domain):
        self.level, self.line = Signal(), Signal(LEVEL_BITS)

        # # #

        fifo = ClockDomainsRenamer({"write": "sys", "read": domain})(AsyncFIFO(1, _LEVELS))
        self.submodules += fifo
        level = Signal()
        self.comb += [fifo.din.eq(self.level), fifo.we.eq(1), fifo.re.eq(1), self.line.eq(Replicate(level, LEVEL_BITS))]
        in_domain = getattr(self.sync, domain)
        in_domain += If(fifo.readable, level.eq(fifo.dout))
