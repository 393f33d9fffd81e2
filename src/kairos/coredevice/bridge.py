"""Bridge to a block in the logic of another board: its addresses as those of memory.

Unlike `RemoteMemory`, which reaches memory that the other board exports, a bridge leads to a block that was
built behind it, and carries interrupts in both directions. `VectorAdder` is the block `adder`, `SharedPages` the
block `pages`.
"""

from ..contracts.memory import REMOTE
from ..contracts.remote import PAGE_AT, PAGE_BYTES, PAGES, BridgeRegister
from ..language import TBool, TInt32, kernel
from .parts.adder_words import NUMBERS, AdderWords
from .parts.firmware import firmware_function
from .parts.remote_words import RemoteWords
from .remote_memory import NOTHING, READ, READ_WRITE

__all__ = ["NUMBERS", "PAGES", "PAGE_BYTES", "Bridge", "SharedPages", "VectorAdder"]

remote_bridge = firmware_function("remote_bridge", "destination register value")

_LEVELS, _STATE, _LATENCY, _RAISES, _RESET, _ENTRY = map(int, BridgeRegister)
_RESET_MU = 1_000_000
_BUFFER = REMOTE.start


class Bridge(RemoteWords):
    """The block behind the bridge to the board `destination`, for kernels of the bridge's master, the board at the
    other end of that link. For kernels of the board with the block, `destination` is the master, for
    `interrupts` and `raise_interrupts` only. On a satellite, 0 names the board at the other end of its upstream link,
    if that has a bridge, whatever its number is.

    An access takes a round trip, about 2.7 µs with 1 µs of fibre. It waits for at most 0.14 ms, after which
    RemoteMemoryError is raised, as for a refusal by the block, a lost link, and while the bridge is in reset.
    """

    @kernel
    def interrupts(self) -> TInt32:
        """The interrupts that the other board shows, one bit each: those of its block, and those that its
        kernels raise."""
        return remote_bridge(self.destination, _LEVELS, 0)

    @kernel
    def raise_interrupts(self, levels):
        """Show these interrupts, one bit each of 16, at the other board, until they are changed."""
        remote_bridge(self.destination, _RAISES, levels)

    @kernel
    def is_up(self) -> TBool:
        """Whether the link is up, the bridge not in reset, and no earlier access has left it stuck, so that only
        `reset` helps."""
        return remote_bridge(self.destination, _STATE, 0) & 0b1101 == 1

    @kernel
    def latency(self) -> TInt32:
        """Cycles of 8 ns from the address of the latest access, at this board's logic, to its answer."""
        return remote_bridge(self.destination, _LATENCY, 0)

    @kernel
    def reset(self):
        """Reset both ends of the bridge, and the block: takes 2 ms."""
        for held in range(2):
            remote_bridge(self.destination, _RESET, 1 - held)
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + _RESET_MU)


class VectorAdder(AdderWords, Bridge):
    """A bridge whose block, `adder`, adds vectors of up to 1024 numbers: an accelerator on another board. Interrupt 0
    is raised when the sums are there."""

    def __init__(self, dmgr, destination, core_device="core"):
        Bridge.__init__(self, dmgr, destination, core_device)
        self.base = 0


class SharedPages(Bridge):
    """A bridge whose block, `pages`, shows pages of the memory of the board behind it as one range, from address 0
    on, to the bridge's master.

    There, with that board as `destination`: `load`, `store`, `read`, `write`, `pointer`. On the board with the
    memory, with the master as `destination`: `show` and `hide`.
    """

    @kernel
    def show(self, page, address=_BUFFER, rights=READ_WRITE):
        """Show the page of this board's memory (`remote_memory.BUFFER`) at `address`, a multiple of `PAGE_BYTES`, as
        page `page` of the range, 0 to `PAGES` - 1: to read (1), or to read and write (3). It replaces what was shown
        there, and stays until it is replaced or hidden, also after the kernel.
        """
        if page < 0 or page >= PAGES:
            raise ValueError("the range has pages 0 to 255")
        if address & PAGE_BYTES - 1 != 0:
            raise ValueError("pages begin at multiples of 4096")
        if rights != READ and rights != READ_WRITE:
            raise ValueError("rights to a page are 1, read, or 3, read and write")
        remote_bridge(self.destination, _ENTRY, address | page << PAGE_AT | rights)

    @kernel
    def hide(self, page):
        """Show nothing any longer as page `page` of the range: its accesses fail."""
        if page < 0 or page >= PAGES:
            raise ValueError("the range has pages 0 to 255")
        remote_bridge(self.destination, _ENTRY, page << PAGE_AT | NOTHING)
