"""Memory of other boards that are connected by links with remote memory: loads and stores of 32-bit words.

A board is named by its destination: 0 is the master. What it lets another board do with its memory
is for its own kernels to say (`export`); all else is refused, and a RemoteMemoryError. Addresses of
memory that is for this use: `BUFFER`, the same on each board.
"""

from ..contracts.memory import REMOTE
from ..language import kernel
from .parts.channel import CoreDevice
from .parts.firmware import firmware_function

__all__ = ["BUFFER", "BUFFER_BYTES", "READ", "READ_WRITE", "RemoteMemory"]

remote_pointer = firmware_function("remote_pointer", "destination address")
remote_load = firmware_function("remote_load", "destination address")
remote_store = firmware_function("remote_store", "destination address value")
remote_read = firmware_function("remote_read", "destination address data")
remote_write = firmware_function("remote_write", "destination address data")
remote_copy = firmware_function("remote_copy", "destination there here bytes")
remote_export = firmware_function("remote_export", "destination region address bytes rights")

BUFFER, BUFFER_BYTES = REMOTE.start, len(REMOTE)
"""First address and bytes of what kernels may export, on each board."""
NOTHING, READ, READ_WRITE = 0, 1, 3


class RemoteMemory(CoreDevice):
    """The memory of the board `destination`, for kernels of other boards. For its own kernels it is
    that board's `BUFFER`.

    A load takes as long as the way there and back, about 2.7 µs with 1 µs of fibre; a store waits
    for the answer too. Both wait for at most 0.14 ms, after which the board is taken for
    unreachable.
    """

    kernel_invariants = {"destination"}

    def __init__(self, dmgr, destination, core_device="core"):
        super().__init__(dmgr, core_device)
        self.destination = destination

    @kernel
    def load(self, address):
        """The word (int32) at `address`, a multiple of 4. RemoteMemoryError if the board refuses or does not answer."""
        return remote_load(self.destination, address)

    @kernel
    def store(self, address, value):
        """Stores a word. RemoteMemoryError likewise; the word may have been stored all the same if
        it is the answer that was lost."""
        remote_store(self.destination, address, value)

    @kernel
    def read(self, address, data):
        """Fills `data` (list of int32) with the words from `address` on."""
        remote_read(self.destination, address, data)

    @kernel
    def write(self, address, data):
        """Stores the words of `data` (list of int32) from `address` on."""
        remote_write(self.destination, address, data)

    @kernel
    def copy(self, address, source, size):
        """Copies `size` bytes of this board's `BUFFER`, from its address `source` on, to `address`
        of the other board, and returns when that has them: the logic does it, at 0.9 of the line's
        rate. All are multiples of 8."""
        remote_copy(self.destination, address, source, size)

    @kernel
    def pointer(self, address):
        """`address` as kernels in C have it: a pointer for their own loads and stores. A kernel may
        have pointers to one board behind another one: for a second one there is a
        RemoteMemoryError."""
        return remote_pointer(self.destination, address)

    @kernel
    def export(self, region, address=BUFFER, size=BUFFER_BYTES, rights=READ_WRITE):
        """From now on the kernels and logic of this board, and of those behind the same link, may
        use `size` bytes of the memory of the board on which the kernel runs, from `address`, a
        multiple of 8, on: `READ`, `READ_WRITE`, or 0: not at all. region: 0 to 3, which of the
        regions that the link has is set so."""
        remote_export(self.destination, region, address, size, rights)
