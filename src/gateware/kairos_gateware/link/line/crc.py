"""A CRC of 32 bits over words, one word per cycle: each of its bits is a parity of the previous CRC and
the word.

CRC-32C, polynomial 0x1EDC6F41 (G. Castagnoli et al., IEEE Trans. Commun. 41 (1993) 883): detects up to five
bit errors in a frame of 5243 bits, and any burst of up to 32 bits. That of IEEE 802.3 (`ETHERNET`) is for formats that
have it.
"""

from functools import reduce
from operator import xor

from migen import *

__all__ = ["CRC_BITS", "CRC_START", "ETHERNET", "Crc", "crc_of"]

CRC_BITS = 32
CRC_START = 2**CRC_BITS - 1
_CASTAGNOLI = 0x1EDC6F41
ETHERNET = 0x04C11DB7


def crc_of(data: int, width: int, before: int = CRC_START, polynomial: int = _CASTAGNOLI) -> int:
    """Returns the CRC after `data`, which has `width` bits, the lowest first."""
    crc = before
    for bit in range(width):
        top = crc >> CRC_BITS - 1 ^ data >> bit & 1
        crc = (crc << 1 & 2**CRC_BITS - 1) ^ (polynomial if top else 0)
    return crc


def _parities(width, polynomial):
    """Yields, for each bit of the CRC after a word: (bits of the previous CRC, bits of the
    word)."""
    of_crc = [crc_of(0, width, 1 << bit, polynomial) for bit in range(CRC_BITS)]
    of_data = [crc_of(1 << bit, width, 0, polynomial) for bit in range(width)]
    for row in range(CRC_BITS):
        yield [[n for n, column in enumerate(columns) if column >> row & 1] for columns in (of_crc, of_data)]


class Crc(Module):
    """Combinational: `after` (out, 32 bits) is the CRC `before` (in, 32 bits) updated with `data` (in,
    `width` bits). polynomial: without its highest term."""

    def __init__(self, width, polynomial=_CASTAGNOLI):
        self.before, self.data, self.after = Signal(CRC_BITS), Signal(width), Signal(CRC_BITS)

        # # #

        rows = _parities(width, polynomial)
        parities = [[self.before[n] for n in crc] + [self.data[n] for n in data] for crc, data in rows]
        self.comb += self.after.eq(Cat(*[reduce(xor, bits) for bits in parities]))
