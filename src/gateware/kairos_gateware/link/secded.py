"""Error correction of a word: one wrong bit of any is corrected, two are detected.

Hsiao's code: a data bit enters an odd number of check bits, three or more, no two bits the same
ones, and the check bits have about equal shares. So a syndrome of odd weight is one wrong bit, an
even one two, and each check bit is a parity of as few bits as there can be (32 of 64). 57 data bits
take all columns that 7 check bits have.

M. Y. Hsiao, A class of optimal minimum odd-weight-column SEC-DED codes, IBM J. Res. Dev. 14 (1970) 395.
"""

from functools import reduce
from itertools import combinations
from operator import xor

from migen import *

__all__ = ["Decoder", "Encoder", "check_columns", "encode"]


def check_columns(data_bits: int, check_bits: int) -> list[int]:
    """For each data bit the check bits that it enters, as a mask. Raises ValueError if there are
    too few check bits."""
    chosen, shares = [], [0] * check_bits
    for weight in range(3, check_bits + 1, 2):
        left = list(combinations(range(check_bits), weight))
        while left and len(chosen) < data_bits:
            rows = min(left, key=lambda rows: sum(shares[row] ** 2 for row in rows))
            left.remove(rows)
            for row in rows:
                shares[row] += 1
            chosen.append(sum(1 << row for row in rows))
    if len(chosen) < data_bits:
        raise ValueError(f"{check_bits} check bits are not enough for {data_bits} data bits")
    return chosen


def encode(data: int, data_bits: int, check_bits: int) -> int:
    """The word of `data`: check bits above data bits."""
    columns = check_columns(data_bits, check_bits)
    check = reduce(xor, (column for bit, column in enumerate(columns) if data >> bit & 1), 0)
    return data | check << data_bits


def _parities(data, columns, check_bits):
    for row in range(check_bits):
        yield reduce(xor, [data[bit] for bit, column in enumerate(columns) if column >> row & 1])


class Encoder(Module):
    """`data` to `word`, within a cycle."""

    def __init__(self, data_bits, check_bits):
        self.data = Signal(data_bits)
        self.word = Signal(data_bits + check_bits)

        # # #

        columns = check_columns(data_bits, check_bits)
        self.comb += self.word.eq(Cat(self.data, *_parities(self.data, columns, check_bits)))


class Decoder(Module):
    """`word` to `data`, within a cycle. `corrected`: one bit was wrong and is right now. `broken`:
    two bits are wrong, and `data` means nothing."""

    def __init__(self, data_bits, check_bits):
        self.word = Signal(data_bits + check_bits)
        self.data = Signal(data_bits)
        self.corrected = Signal()
        self.broken = Signal()

        # # #

        columns = check_columns(data_bits, check_bits)
        syndrome = Signal(check_bits)
        parities = _parities(self.word, columns, check_bits)
        self.comb += [
            syndrome.eq(Cat(*[parity ^ self.word[data_bits + row] for row, parity in enumerate(parities)])),
            self.data.eq(Cat(*[self.word[bit] ^ (syndrome == column) for bit, column in enumerate(columns)])),
            self.corrected.eq(reduce(xor, syndrome)),
            self.broken.eq((syndrome != 0) & ~self.corrected),
        ]
