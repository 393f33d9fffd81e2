"""Coefficients of splines, as Shuttler and Songbird take them: in 16-bit words at consecutive addresses."""

from ...language import TInt32, TInt64, TList, delay_mu, kernel
from ...numeric import Wide, int32, int64
from ..chips.shuttler import LEVEL_WORDS, WORD_BITS
from ..rtio import rtio_output
from .channel import RTIODevice

__all__ = ["LEVEL", "WORD_BITS", "SplineDevice"]

LEVEL = [words for words, *_ in LEVEL_WORDS]
"""Words of each coefficient of a level or an amplitude."""
_WORD = Wide((1 << WORD_BITS) - 1)


class SplineDevice(RTIODevice):
    """A device with channels that take coefficients."""

    @kernel
    def _write_coefficients(self, target, coefficients: TList(TInt64), words: TList(TInt32)):
        """Write each coefficient as its number of words, lowest bits first, one word per coarse
        cycle, from the address `target` on."""
        address = target
        for place in range(len(coefficients)):
            for word in range(words[place]):
                rtio_output(address, int32((coefficients[place] >> (WORD_BITS * word)) & _WORD))
                delay_mu(int64(self.core.ref_multiplier))
                address += 1
