"""The vector adder of another board, wherever its addresses begin: behind a bridge, or shown by a region of remote
memory."""

from ...contracts.remote import ADDER_AREA_BYTES, ADDER_NUMBERS, AdderArea, AdderRegister, AdderState
from ...language import kernel
from .remote_words import RemoteWords, remote_wait

__all__ = ["FIRST", "NUMBERS", "SECOND", "SUMS", "AdderWords"]

NUMBERS = ADDER_NUMBERS
"""Longest vectors."""
FIRST, SECOND, SUMS = (area * ADDER_AREA_BYTES for area in (AdderArea.FIRST, AdderArea.SECOND, AdderArea.SUMS))
"""Addresses of the vectors and the sums within the block."""
_COUNT, _STATE, _BEGIN = int(AdderRegister.COUNT), int(AdderRegister.STATE), int(AdderRegister.BEGIN)
_DONE = int(AdderState.DONE)


class AdderWords(RemoteWords):
    """`base`: address of the adder on its board."""

    kernel_invariants = {"destination", "base"}

    @kernel
    def begin(self, first, second):
        """Store two vectors (lists of int32, equally long), and have them added."""
        if len(first) != len(second) or len(first) > NUMBERS:
            raise ValueError("vectors must be equally long, and have at most 1024 numbers")
        self.write(self.base + FIRST, first)
        self.write(self.base + SECOND, second)
        self.add(len(first))

    @kernel
    def add(self, count):
        """Have the first `count` numbers of the vectors added that are in the adder: 1024, if `count` is more."""
        self.store(self.base + _COUNT, count)
        # A posted store may be overtaken
        remote_wait()
        self.store(self.base + _BEGIN, 1)

    @kernel
    def wait(self):
        """Return when the sums are there."""
        while self.load(self.base + _STATE) & _DONE == 0:
            pass

    @kernel
    def sums(self, data):
        """Wait until the sums are there, and fill `data` (list of int32) with them."""
        self.wait()
        self.read(self.base + SUMS, data)
