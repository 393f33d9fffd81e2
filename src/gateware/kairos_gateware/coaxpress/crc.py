"""The CRC of packets: Ethernet's polynomial, register initially all ones, not inverted at the end, its lowest byte
first on the line. So the register after a packet with its CRC is 0.

    line      packet start | type | words of which the CRC is | CRC | packet end
"""

import zlib
from functools import reduce
from operator import xor

from migen import *

__all__ = ["CRC_START", "Crc", "crc_of", "crc_word"]

_BITS = 32
CRC_START = 2**_BITS - 1


def crc_of(data: bytes, before: int = CRC_START) -> int:
    """Returns the register after these bytes."""
    return zlib.crc32(data, before ^ CRC_START) ^ CRC_START


def crc_word(data: bytes) -> int:
    """Returns the word that follows these bytes, whose first byte on the line is its highest."""
    return int.from_bytes(crc_of(data).to_bytes(4, "little"), "big")


class Crc(Module):
    """The register, a word of four bytes at a time, of which the highest is the first one.

    `clear` (in): it is to be as before a packet. `stb` (in): `word` (in, 32 bits) is another word of the packet.
    `register` (out, 32 bits), `value` (out, 32 bits): the word that follows those so far, from the cycle after the
    last one.
    """

    def __init__(self):
        self.clear, self.stb, self.word = Signal(), Signal(), Signal(_BITS)
        self.register = Signal(_BITS, reset=CRC_START)
        self.value = Signal(_BITS)

        # # #

        register, after = self.register, Signal(_BITS)
        of_register = [crc_of(bytes(4), 1 << bit) for bit in range(_BITS)]
        of_word = [crc_of((1 << bit).to_bytes(4, "big"), 0) for bit in range(_BITS)]
        self.comb += self.value.eq(Cat(*[register[n : n + 8] for n in (24, 16, 8, 0)]))
        for row in range(_BITS):
            terms = [register[n] for n, column in enumerate(of_register) if column >> row & 1]
            terms += [self.word[n] for n, column in enumerate(of_word) if column >> row & 1]
            self.comb += after[row].eq(reduce(xor, terms))
        self.sync += If(self.clear, register.eq(CRC_START)).Elif(self.stb, register.eq(after))
