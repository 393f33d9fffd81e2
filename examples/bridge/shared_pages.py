from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

from kairos.coredevice.bridge import PAGE_BYTES
from kairos.coredevice.remote_memory import BUFFER

WORDS = PAGE_BYTES // 4
READ = 1


class SharedPages(EnvExperiment):
    """Pages scattered in a satellite's memory are one range for the master: its kernel fills the range, and the
    satellite's kernel finds the numbers in its pages. Run with SYSTEM=pages.toml."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pages")
        self.setattr_device("shown")
        self.setattr_device("memory")

    @subkernel(destination=1)
    def show(self, order: TList(TInt32)) -> TInt32:
        """Shows a page of the buffer as each page of the range; the page after them for reading only."""
        for page in range(len(order)):
            self.shown.show(page, BUFFER + order[page] * PAGE_BYTES)
        self.shown.show(len(order), BUFFER, READ)
        return len(order)

    @subkernel(destination=1)
    def seen(self, page: TInt32, word: TInt32) -> TInt32:
        """A word of a page of this board's own buffer."""
        return self.memory.load(BUFFER + page * PAGE_BYTES + 4 * word)

    @subkernel(destination=1)
    def hide(self, page: TInt32) -> TInt32:
        self.shown.hide(page)
        return page

    @subkernel(destination=1)
    def forbidden(self, address: TInt32) -> TBool:
        """Whether a page that is not for other boards cannot be shown."""
        try:
            self.shown.show(0, address)
            return False
        except RemoteMemoryError:
            return True

    @kernel
    def refused(self, address, stores) -> TBool:
        try:
            if stores:
                self.pages.store(address, 1)
            else:
                self.pages.load(address)
            return False
        except RemoteMemoryError:
            return True

    @kernel
    def run(self):
        self.core.reset()
        while not self.pages.is_up():
            pass
        order = [5, 2, 9]
        self.show(order)
        subkernel_await(self.show)
        # Across the boundary of the first and the second page
        first = PAGE_BYTES - 16
        self.pages.write(first, [n * n for n in range(8)])
        got = [0 for _ in range(8)]
        self.pages.read(first, got)
        print("range", got == [n * n for n in range(8)])
        self.seen(5, WORDS - 1)
        last = subkernel_await(self.seen)
        self.seen(2, 0)
        print("pages", last, subkernel_await(self.seen))
        start = self.core.get_rtio_counter_mu()
        for _ in range(20):
            self.pages.load(first)
        print("a load takes", (self.core.get_rtio_counter_mu() - start) // 20, "ns")
        end = 3 * PAGE_BYTES
        print("read only", not self.refused(end, False), self.refused(end, True))
        print("not shown", self.refused(end + PAGE_BYTES, False), "beyond", self.refused(256 * PAGE_BYTES, True))
        self.forbidden(0x08000000)
        print("the kernel core's image is not shown", subkernel_await(self.forbidden))
        self.hide(1)
        subkernel_await(self.hide)
        print("hidden", self.refused(PAGE_BYTES, False), not self.refused(first, False))
