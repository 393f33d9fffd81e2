"""The transmission code 8B/10B (IEEE 802.3, clause 36): characters of 8 bits, or a control character, as 10 bits with
as many ones as zeros in the long run.

A character is two parts: its lower five bits (x) become the bits a b c d e i, its upper three (y) f g h j. Each part
has the same number of ones and zeros, or two more of one of them; for those there is the part and its inverse, of
which the running disparity of the line selects one. In integers a is bit 0, i bit 5, f bit 6 and j bit 9.
"""

from migen import *

__all__ = ["CODE_BITS", "Decoder", "Encoder", "control", "table"]

CODE_BITS = 10
_SIX = (
    "100111 011101 101101 110001 110101 101001 011001 111000 111001 100101 010101 110100 001101 101100 011100 010111 "
    "011011 100011 010011 110010 001011 101010 011010 111010 110011 100110 010110 110110 001110 101110 011110 101011"
).split()
"""abcdei of x after more zeros than ones (table 36-1)."""
_CONTROL_SIX = "001111"
"""Of K28."""
_FOUR = "1011 1001 0101 1100 1101 1010 0110 1110".split()
"""fghj of y, likewise."""
_CONTROL_FOUR = "1011 0110 1010 1100 1101 0101 1001 0111".split()
"""Of control characters, all of which have an inverse (table 36-2)."""
_ALTERNATIVE = "0111"
"""Of y = 7, where the other one would make five equal bits: after more zeros or more ones."""
_ALTERNATIVES = ((17, 18, 20), (11, 13, 14))
_OTHERS = (23, 27, 29, 30)
"""Control characters beside K28: with y = 7."""


def _bits(text):
    return sum(int(bit) << n for n, bit in enumerate(text))


def _inverted(text):
    return "".join("10"[int(bit)] for bit in text)


def _excess(text):
    return 2 * text.count("1") - len(text)


def control(x: int, y: int) -> int:
    """The control character Kx.y, as a number of nine bits."""
    return 1 << 8 | y << 5 | x


def _is_control(character):
    x, y = character & 31, character >> 5 & 7
    return x == 28 or (y == 7 and x in _OTHERS)


def _encode(character, positive):
    """Returns the code, and whether there are more ones after it."""
    x, y, special = character & 31, character >> 5 & 7, character >> 8
    six = _CONTROL_SIX if special and x == 28 else _SIX[x]
    if positive and (_excess(six) or six == "111000"):
        six = _inverted(six)
    after = positive ^ (_excess(six) != 0)
    if special:
        four = _CONTROL_FOUR[y]
        invert = after
    else:
        four = _ALTERNATIVE if y == 7 and x in _ALTERNATIVES[after] else _FOUR[y]
        invert = after and (_excess(four) != 0 or four == "1100")
    if invert:
        four = _inverted(four)
    return _bits(six + four), after ^ (_excess(four) != 0)


def table() -> dict[tuple[int, bool], tuple[int, bool]]:
    """For each character (9 bits, the highest one for control characters) and running disparity (whether there
    have been more ones): its code, and the disparity after it."""
    characters = [n for n in range(512) if n < 256 or _is_control(n)]
    return {(n, positive): _encode(n, positive) for n in characters for positive in (False, True)}


class Encoder(Module):
    """`character` (in, 9 bits), taken in a cycle with `ce` (in). `code` (out, 10 bits): its code, in the same cycle.
    An invalid control character gives code 0."""

    def __init__(self):
        self.character, self.ce, self.code = Signal(9), Signal(), Signal(CODE_BITS)

        # # #

        positive, after = Signal(), Signal()
        cases = {}
        for (character, disparity), (code, next_disparity) in table().items():
            cases[character << 1 | disparity] = [self.code.eq(code), after.eq(next_disparity)]
        cases["default"] = [self.code.eq(0), after.eq(positive)]
        self.comb += Case(Cat(positive, self.character), cases)
        self.sync += If(self.ce, positive.eq(after))


class Decoder(Module):
    """`code` (in, 10 bits). `character` (out, 9 bits), `valid` (out): it is that of a character, of either disparity;
    in the same cycle."""

    def __init__(self):
        self.code, self.character, self.valid = Signal(CODE_BITS), Signal(9), Signal()

        # # #

        cases = {
            code: [self.character.eq(character), self.valid.eq(1)] for (character, _), (code, _) in table().items()
        }
        self.comb += Case(self.code, cases)
