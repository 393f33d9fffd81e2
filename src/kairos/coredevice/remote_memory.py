"""Memory of other boards that are connected by links with remote memory: loads and stores of 32-bit words.

A board is identified by its destination: 0 is the master. The kernels of a board decide which parts
of its memory other boards may access (`export`); any other access is rejected with a
RemoteMemoryError. Memory for this purpose is at the address `BUFFER`, the same on each board.
"""

from ..contracts.memory import MAILBOX as _MAILBOX
from ..contracts.memory import PL_BLOCK, REMOTE
from ..contracts.remote import ADDER_AREA_BYTES, FETCH_DESTINATION, REGIONS, AdderArea, Right
from ..language import kernel
from .parts.adder_words import FIRST, NUMBERS, SECOND, SUMS, AdderWords
from .parts.firmware import firmware_function
from .parts.remote_words import RemoteWords, remote_wait

__all__ = [
    "ADDER_BYTES",
    "BLOCK",
    "BUFFER",
    "BUFFER_BYTES",
    "FIRST",
    "MAILBOX",
    "MAILBOX_BYTES",
    "NUMBERS",
    "READ",
    "READ_WRITE",
    "SECOND",
    "SUMS",
    "RemoteAdder",
    "RemoteMemory",
]

remote_copy = firmware_function("remote_copy", "destination there here bytes")
remote_copy_pieces = firmware_function("remote_copy_pieces", "destination pieces")
remote_post = firmware_function("remote_post", "posts")
remote_export = firmware_function("remote_export", "destination region address bytes rights shown only")

BUFFER, BUFFER_BYTES = REMOTE.start, len(REMOTE)
"""Start address and size in bytes of the memory that kernels may export, on each board."""
MAILBOX, MAILBOX_BYTES = _MAILBOX.start, len(_MAILBOX)
"""The same of the memory for messages: its accesses by other boards are coherent with the cache of a kernel that polls
it."""
BLOCK = PL_BLOCK.start
"""Address, on its own board, of a block in the logic, of a board described with one: regions show it as they show
memory."""
ADDER_BYTES = len(AdderArea) * ADDER_AREA_BYTES
"""Size of the block `adder`."""
NOTHING, READ, READ_WRITE = 0, int(Right.READ), int(Right.READ | Right.WRITE)
FETCH = FETCH_DESTINATION - (1 << 32)
"""Added to a destination: from there to here."""


class RemoteMemory(RemoteWords):
    """The memory of the board `destination`, for kernels of other boards. For the board's own
    kernels it is the board's `BUFFER` and `MAILBOX`.

    A load takes a round trip, about 2.7 µs with 1 µs of fibre; a store also waits for the answer.
    Both wait for at most 0.14 ms, after which the board counts as unreachable.
    """

    @kernel
    def copy(self, address, source, size):
        """Copy `size` bytes of this board's `BUFFER`, starting at its address `source`, to
        `address` of the other board, and return when they have arrived: the logic does it, at 0.9
        of the line rate. All three are multiples of 8.
        """
        remote_copy(self.destination, address, source, size)

    @kernel
    def copy_pieces(self, pieces):
        """Copy pieces, as `copy` does, one after another without a gap, and return when all have arrived. `pieces`:
        a list of three numbers for each, its address on the other board, its address in this board's `BUFFER`, and its
        size in bytes: scattered here, there, or both.

        RemoteMemoryError names the address of the first piece that failed; those before it have arrived.
        """
        remote_copy_pieces(self.destination, pieces)

    @kernel
    def fetch(self, address, target, size):
        """Copy `size` bytes from `address` of the other board to `target` in this board's `BUFFER`, and return
        when they are there, as `copy` does in the other direction. The other board must export them, this one
        nothing.
        """
        remote_copy(self.destination | FETCH, address, target, size)

    @kernel
    def fetch_pieces(self, pieces):
        """Fetch pieces, as `copy_pieces` copies them. `pieces`: a list of three numbers for each, its address
        on the other board, its address in this board's `BUFFER`, and its size in bytes."""
        remote_copy_pieces(self.destination | FETCH, pieces)

    @kernel
    def post_stores(self, posts=True):
        """Let stores, also those through pointers, return before the other board has executed them, up
        to 16 at once; until the kernel ends, or `posts` is false. Stores to different words are then
        executed in any order, and before or after loads of other words.

        RemoteMemoryError, if one of them fails, is raised by a later access, by `wait_stored`, or at
        the kernel's end.
        """
        remote_post(posts)

    @kernel
    def wait_stored(self):
        """Return when the other boards have executed all stores. RemoteMemoryError as for
        `post_stores`."""
        remote_wait()

    @kernel
    def export(self, region, address=BUFFER, size=BUFFER_BYTES, rights=READ_WRITE, only=False):
        """Allow kernels and logic of this board, and, unless it is for it `only`, of the boards behind the same
        link, to access `size` bytes of the memory of the board on which the kernel runs, starting at `address`, a
        multiple of 8: `READ`, `READ_WRITE`, or 0 for no access. `region`: 0 to 3, the region of the
        link to set. A region in `MAILBOX` takes loads and stores, but no copies. A block of the logic is beyond what
        others address: `show` it.
        """
        self.show(region, address, address, size, rights, only)

    @kernel
    def show(self, region, shown, address=BUFFER, size=BUFFER_BYTES, rights=READ_WRITE, only=False):
        """As `export`, but the other boards find the memory at the address `shown`, a multiple of 8 below 256 MiB,
        instead of its own. Regions that are scattered here may so be one range there; where one ends and the next
        begins at a multiple of 512, copies of any size pass from one into the other. With an `address` from `BLOCK`
        on, the region is a part of the block in the board's logic.
        """
        if region < 0 or region >= REGIONS:
            raise ValueError("a link has regions 0 to 3")
        if rights != NOTHING and rights != READ and rights != READ_WRITE:
            raise ValueError("rights to a region are 0, none, 1, read, or 3, read and write")
        remote_export(self.destination, region, address, size, rights, shown, 1 if only else 0)


class RemoteAdder(AdderWords, RemoteMemory):
    """The vector adder in the logic of the board `destination`, for kernels of all boards to which that board shows it
    by a region, at `address`:

        self.master.show(0, 0, BLOCK, ADDER_BYTES)         # in a kernel of its board

    For its board's own kernels the address is `BLOCK`. One adder serves one user at a time: nothing else divides it
    than the rights to the region.
    """

    def __init__(self, dmgr, destination, address=0, core_device="core"):
        RemoteMemory.__init__(self, dmgr, destination, core_device)
        self.base = address

    @kernel
    def begin_copies(self, first, second, count):
        """As `begin`, with vectors of `count` numbers in this board's `BUFFER`, at the addresses `first` and `second`
        there, multiples of 8: the logic copies them."""
        if count < 1 or count > NUMBERS:
            raise ValueError("the adder takes 1 to 1024 numbers")
        self.copy(self.base + FIRST, first, (count + 1) // 2 * 8)
        self.copy(self.base + SECOND, second, (count + 1) // 2 * 8)
        self.add(count)

    @kernel
    def fetch_sums(self, target, count):
        """Wait until the sums are there, and copy `count` of them, rounded up to an even number, to `target` in this
        board's `BUFFER`."""
        self.wait()
        self.fetch(self.base + SUMS, target, (count + 1) // 2 * 8)
