"""Between a transceiver at 1.25 Gbit/s and a grabber's pads: bits to characters, and the level of the line to the
camera to bits.

    20 bits a cycle ─▶ Aligner ─▶ two characters ─▶ WordReader ─▶ words but idle ones ─▶ FIFO ─▶ a character a cycle
    20 equal bits a cycle ◀─ FIFO ◀─ level

The camera's clock and that of the logic differ by up to 200 ppm. A word that is not idle lasts four cycles of the
logic, so idle words, of which a camera sends one in 10,000 at least, make up for up to 100 ppm forever, and the FIFO
for the rest of images of up to 100,000 words; when it is full a word is lost, and with it an image.

The receiver is in step once it has seen a whole idle word, and until eight characters are invalid without another one
among them, or none comes for half a millisecond. Only out of step it takes another alignment.
"""

from migen import *
from migen.genlib.fifo import AsyncFIFO

from ..code8b10b import CODE_BITS, Decoder, table
from ..contracts import coaxpress as facts
from .uplink import CHARACTER_BITS, CONTROL, IDLE_WORD

__all__ = ["LINE_BITS", "LineReceiver", "LineTransmitter"]

LINE_BITS = 2 * CODE_BITS
_COMMA = CONTROL | facts.COMMA
_CODES = sorted({code for (character, _), (code, _) in table().items() if character == _COMMA})
_WORDS, _LEVELS = 32, 8
"""Depths of the FIFOs."""
_PATIENCE = 2**15
"""Cycles without an idle word after which the receiver is out of step: a camera sends one in 20,000."""
_INVALID = 8
"""Invalid characters without an idle word after which it is."""


class Aligner(Module):
    """`line` (in, 20 bits): of a cycle, the first one lowest. `hold` (in): keep the alignment. `characters` (out, two
    of 9 bits), `valid` (out, 2 bits): those of a cycle, the first one lowest."""

    def __init__(self):
        self.line, self.hold = Signal(LINE_BITS), Signal()
        self.characters = [Signal(CHARACTER_BITS, name=f"character_{n}") for n in range(2)]
        self.valid = Signal(2)

        # # #

        before, kept, codes = Signal(LINE_BITS), Signal(LINE_BITS + CODE_BITS - 1), Signal(LINE_BITS)
        shift = Signal(max=CODE_BITS)
        window = Cat(before, self.line)
        for place in range(LINE_BITS):
            found = Cat(*[window[place + n] for n in range(CODE_BITS)])
            is_comma = (found == _CODES[0]) | (found == _CODES[1])
            self.sync += If(~self.hold & is_comma, shift.eq(place % CODE_BITS))
        self.sync += [
            before.eq(self.line),
            kept.eq(window),
            Case(shift, {n: codes.eq(kept[n : n + LINE_BITS]) for n in range(CODE_BITS)}),
        ]
        for n, character in enumerate(self.characters):
            self.submodules += (decoder := Decoder())
            self.comb += decoder.code.eq(codes[CODE_BITS * n : CODE_BITS * (n + 1)])
            self.sync += [character.eq(decoder.character), self.valid[n].eq(decoder.valid)]


class WordReader(Module):
    """characters, valid: of an `Aligner`; patience: cycles without an idle word until it is out of step. `stb` (out),
    `word` (out, 36 bits, four characters, the first one lowest): a word that is not idle, while `in_step` (out)."""

    def __init__(self, characters, valid, patience):
        self.stb, self.word, self.in_step = Signal(), Signal(4 * CHARACTER_BITS), Signal()

        # # #

        first, second = characters
        late = Signal(CHARACTER_BITS)  # the one before these two
        odd, odd_now = Signal(), Signal()  # words begin with the second one
        pair, half = Signal(2 * CHARACTER_BITS), Signal(2 * CHARACTER_BITS)
        begins, halfway = Signal(), Signal()
        whole = Cat(half, pair)
        idle = sum(character << CHARACTER_BITS * n for n, character in enumerate(IDLE_WORD))
        left, invalid = Signal(max=patience), Signal(max=_INVALID + 1)
        self.comb += [
            odd_now.eq(odd & (first != _COMMA)),
            pair.eq(Mux(odd_now, Cat(late, first), Cat(first, second))),
            begins.eq(pair[:CHARACTER_BITS] == _COMMA),
            self.in_step.eq(left != 0),
        ]
        self.sync += [
            late.eq(second),
            If(second == _COMMA, odd.eq(1)).Elif(first == _COMMA, odd.eq(0)),
            half.eq(pair),
            halfway.eq(begins | ~halfway),
            self.stb.eq(self.in_step & halfway & ~begins & (half[:CHARACTER_BITS] != _COMMA)),
            self.word.eq(whole),
            If(
                halfway & ~begins & (whole == idle),
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
                If(valid != 0b11, invalid.eq(invalid + 1)),
            ),
        ]


class LineReceiver(Module):
    """domain: of the received clock, a cycle for 20 bits; patience: of a `WordReader`. `line` (in, 20 bits), in the
    domain: the first one lowest; `in_step` (out), in it: words of CoaXPress arrive. `character` (out, 9 bits), `valid`
    (out), in sys: those of words that are not idle."""

    def __init__(self, domain, patience=_PATIENCE):
        self.line, self.in_step = Signal(LINE_BITS), Signal()
        self.character, self.valid = Signal(CHARACTER_BITS), Signal()

        # # #

        in_domain = ClockDomainsRenamer(domain)
        aligner = Aligner()
        reader = WordReader(aligner.characters, aligner.valid, patience)
        self.submodules.aligner, self.submodules.reader = in_domain(aligner), in_domain(reader)
        fifo = ClockDomainsRenamer({"write": domain, "read": "sys"})(AsyncFIFO(4 * CHARACTER_BITS, _WORDS))
        self.submodules += fifo
        word, left = Signal(4 * CHARACTER_BITS), Signal(max=4)
        self.comb += [
            aligner.line.eq(self.line),
            aligner.hold.eq(reader.in_step),
            self.in_step.eq(reader.in_step),
            fifo.din.eq(reader.word),
            fifo.we.eq(reader.stb),
            fifo.re.eq(left == 0),
            self.character.eq(word[:CHARACTER_BITS]),
        ]
        self.sync += [
            If(left != 0, left.eq(left - 1), word.eq(word[CHARACTER_BITS:]))
            .Elif(fifo.readable, left.eq(3), word.eq(fifo.dout), self.valid.eq(1))
            .Else(self.valid.eq(0)),
        ]


class LineTransmitter(Module):
    """domain: of the clock to send, of the same frequency as sys. `level` (in), in sys. `line` (out, 20 bits), in the
    domain: all of them the level, of which each lasts as long as in sys."""

    def __init__(self, domain):
        self.level, self.line = Signal(), Signal(LINE_BITS)

        # # #

        fifo = ClockDomainsRenamer({"write": "sys", "read": domain})(AsyncFIFO(1, _LEVELS))
        self.submodules += fifo
        level = Signal()
        self.comb += [fifo.din.eq(self.level), fifo.we.eq(1), fifo.re.eq(1), self.line.eq(Replicate(level, LINE_BITS))]
        in_domain = getattr(self.sync, domain)
        in_domain += If(fifo.readable, level.eq(fifo.dout))
