"""The transmission code 8B/10B (IEEE 802.3, clause 36): characters of 8 bits, or a control character, as 10 bits with
as many ones as zeros in the long run.

A character is two parts: its lower five bits (x) become the bits a b c d e i, its upper three (y) f g h j. Each part
has the same number of ones and zeros, or two more of one of them; for those there is the part and its inverse, of
which the running disparity of the line selects one. In integers a is bit 0, i bit 5, f bit 6 and j bit 9.
"""

from migen import *

from .contracts import code8b10b as facts
from .contracts.code8b10b import CODE_BITS

__all__ = ["CODE_BITS", "Decoder", "Encoder", "control", "table"]

_SIX_BITS, _FOUR_BITS = 6, 4
_SIX = [code for row in facts.SIX for code in row]
_FOUR, _CONTROL_FOUR = facts.FOUR
_BALANCED_SIX, _BALANCED_FOUR = 0b000111, 0b0011
"""Codes with as many ones as zeros that have an inverse nevertheless: 111000 and 1100, as written in the tables."""
_OTHERS = (23, 27, 29, 30)
"""Control characters beside K28: with y = 7."""


def _excess(code, width):
    return 2 * code.bit_count() - width


def control(x: int, y: int) -> int:
    """The control character Kx.y, as a number of nine bits."""
    return 1 << 8 | y << 5 | x


def _is_control(character):
    x, y = character & 31, character >> 5 & 7
    return x == 28 or (y == 7 and x in _OTHERS)


def _encode(character, positive):
    """Returns the code, and whether there are more ones after it."""
    x, y, special = character & 31, character >> 5 & 7, character >> 8
    six = facts.CONTROL_SIX if special and x == 28 else _SIX[x]
    unequal = _excess(six, _SIX_BITS) != 0
    if positive and (unequal or six == _BALANCED_SIX):
        six ^= 2**_SIX_BITS - 1
    after = positive ^ unequal
    if special:
        four = _CONTROL_FOUR[y]
        invert = after
    else:
        four = facts.ALTERNATIVE if y == 7 and x in facts.ALTERNATIVES[after] else _FOUR[y]
        invert = after and (_excess(four, _FOUR_BITS) != 0 or four == _BALANCED_FOUR)
    if invert:
        four ^= 2**_FOUR_BITS - 1
    return four << _SIX_BITS | six, after ^ (_excess(four, _FOUR_BITS) != 0)


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
