"""Words of another board, in its memory or behind a bridge: loads and stores by kernels."""

from ...language import kernel
from .channel import CoreDevice
from .firmware import firmware_function

__all__ = ["RemoteWords", "remote_wait"]

remote_pointer = firmware_function("remote_pointer", "destination address")
remote_load = firmware_function("remote_load", "destination address")
remote_store = firmware_function("remote_store", "destination address value")
remote_read = firmware_function("remote_read", "destination address data")
remote_write = firmware_function("remote_write", "destination address data")
remote_wait = firmware_function("remote_wait")


class RemoteWords(CoreDevice):
    """Words of the board `destination`."""

    kernel_invariants = {"destination"}

    def __init__(self, dmgr, destination, core_device="core"):
        super().__init__(dmgr, core_device)
        self.destination = destination

    @kernel
    def load(self, address):
        """Load the word (int32) at `address`, a multiple of 4. RemoteMemoryError if the board
        refuses or does not answer."""
        return remote_load(self.destination, address)

    @kernel
    def store(self, address, value):
        """Store a word. RemoteMemoryError as for `load`; the word may still have been stored if
        only the answer was lost."""
        remote_store(self.destination, address, value)

    @kernel
    def read(self, address, data):
        """Fill `data` (list of int32) with the words starting at `address`."""
        remote_read(self.destination, address, data)

    @kernel
    def write(self, address, data):
        """Store the words of `data` (list of int32) starting at `address`; up to 16 are on their way at
        once to memory, one at a time to a block behind a bridge."""
        remote_write(self.destination, address, data)

    @kernel
    def pointer(self, address):
        """Convert `address` to a pointer for loads and stores of kernels in C. A kernel may have
        pointers to one board behind another board; for a second one RemoteMemoryError is raised."""
        return remote_pointer(self.destination, address)
