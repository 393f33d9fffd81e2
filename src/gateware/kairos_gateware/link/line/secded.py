"""Error correction of a word: corrects any single-bit error and detects any double-bit error.

Hsiao's code: each data bit enters an odd number (three or more) of check bits, each a different
set, and the check bits are loaded about equally. A syndrome of odd weight therefore means one bit
error, a nonzero one of even weight two, and each check bit is a parity of as few bits as possible
(32 of 64). 57 data bits use all columns available with 7 check bits.

M. Y. Hsiao, A class of optimal minimum odd-weight-column SEC-DED codes, IBM J. Res. Dev. 14 (1970)
395.
"""

from functools import reduce
from itertools import combinations
from operator import xor

from migen import *

__all__ = ["Decoder", "Encoder", "check_columns", "encode"]


def check_columns(data_bits: int, check_bits: int) -> list[int]:
    """Returns for each data bit the mask of the check bits that it enters. Raises ValueError if
    there are too few check bits."""
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
    """Returns the code word of `data`: check bits above data bits."""
    columns = check_columns(data_bits, check_bits)
    check = reduce(xor, (column for bit, column in enumerate(columns) if data >> bit & 1), 0)
    return data | check << data_bits


def _parities(data, columns, check_bits):
    for row in range(check_bits):
        yield reduce(xor, [data[bit] for bit, column in enumerate(columns) if column >> row & 1])


class Encoder(Module):
    """Combinational encoder from `data` (in, `data_bits` bits) to `word` (out, `data_bits + check_bits`
    bits)."""

    def __init__(self, data_bits, check_bits):
        self.data = Signal(data_bits)
        self.word = Signal(data_bits + check_bits)

        # # #

        columns = check_columns(data_bits, check_bits)
        self.comb += self.word.eq(Cat(self.data, *_parities(self.data, columns, check_bits)))


class Decoder(Module):
    """Combinational decoder from `word` (in, `data_bits + check_bits` bits) to `data` (out, `data_bits`
    bits). `corrected` (out): a single-bit error was corrected. `broken` (out): two bits are wrong and
    `data` is invalid."""

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
