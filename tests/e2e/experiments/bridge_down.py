from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

from kairos.coredevice.bridge import PAGE_BYTES
from kairos.coredevice.remote_memory import BUFFER

READ = 1


class BridgeDown(EnvExperiment):
    """Kernels of two satellites use the master through bridges: one a block in its logic, with errors, interrupts both
    ways, a lost link and a reset; the other pages of its memory, which the master's kernel shows."""

    def build(self):
        for name in ("core", "up", "adder", "user", "pages", "shown", "memory", "beyond"):
            self.setattr_device(name)

    def cut(self, level) -> TInt32:
        """Unplug the fibre to the first satellite (1), or plug it in."""
        from kairos.emulator import acquire

        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        control.request("link", to="user", plugged=not level)
        return 0

    @kernel
    def refused(self, device, address, stores) -> TBool:
        try:
            if stores:
                device.store(address, 1)
            else:
                device.load(address)
            return False
        except RemoteMemoryError:
            return True

    @subkernel(destination=1)
    def add(self, first: TList(TInt32), second: TList(TInt32)) -> TList(TInt32):
        while not self.adder.is_up():
            pass
        sums = [0 for _ in range(len(first))]
        if self.adder.load(0) == 0x56444441:
            self.adder.begin(first, second)
            self.adder.sums(sums)
        return sums

    @subkernel(destination=1)
    def refusals(self) -> TInt32:
        """Which accesses are refused, one bit each."""
        beyond = self.refused(self.up, 0x4000, False)
        sums = self.refused(self.up, 0x3000, True)
        return int32(beyond) | int32(sums) << 1 | int32(self.refused(self.up, 0x1000, True)) << 2

    @subkernel(destination=1)
    def latency(self) -> TInt64:
        """Machine units of a load, and above them its cycles in the logic."""
        start = self.core.get_rtio_counter_mu()
        for _ in range(20):
            self.adder.load(0)
        took = (self.core.get_rtio_counter_mu() - start) // 20
        return took | int64(self.adder.latency()) << 32

    @subkernel(destination=1)
    def seen(self, levels: TInt32) -> TInt32:
        """Waits for levels of the master beside those of its block, and raises others."""
        while self.adder.interrupts() != levels | 1:
            pass
        self.adder.raise_interrupts(levels << 4)
        return self.adder.interrupts()

    @subkernel(destination=1)
    def lost(self) -> TInt32:
        """Waits until the link is lost, tries it, and waits for it; returns what was refused, and a word afterwards."""
        while self.adder.is_up():
            pass
        refused = int32(self.refused(self.up, 0, False)) | int32(self.refused(self.up, 4, True)) << 1
        levels = self.adder.interrupts()
        while not self.adder.is_up():
            pass
        return refused | levels << 4 | self.adder.load(0x1004) << 8

    @subkernel(destination=1)
    def after_reset(self) -> TInt32:
        self.adder.reset()
        return self.adder.load(4) | self.adder.load(0x1004) << 8

    @subkernel(destination=2)
    def fill(self, count: TInt32) -> TBool:
        """Numbers across the boundary of the first and the second page."""
        while not self.pages.is_up():
            pass
        numbers = [n * n for n in range(count)]
        got = [0 for _ in range(count)]
        self.pages.write(PAGE_BYTES - 16, numbers)
        self.pages.read(PAGE_BYTES - 16, got)
        return got == numbers

    @subkernel(destination=2)
    def page_refusals(self) -> TInt32:
        only_read = self.refused(self.up, 2 * PAGE_BYTES, True)
        hidden = self.refused(self.up, 3 * PAGE_BYTES, False)
        beyond = self.refused(self.up, 256 * PAGE_BYTES, False)
        shown = self.refused(self.up, 2 * PAGE_BYTES, False)
        return int32(only_read) | int32(hidden) << 1 | int32(beyond) << 2 | int32(shown) << 3

    @subkernel(destination=2)
    def astray(self):
        self.pages.load(0x5000)

    @kernel
    def run(self):
        self.core.reset()
        self.add([n * n for n in range(21)], [-7 * n for n in range(21)])
        print("sums", subkernel_await(self.add) == [n * n - 7 * n for n in range(21)])
        self.refusals()
        print("refused", subkernel_await(self.refusals))
        self.latency()
        took = subkernel_await(self.latency)
        print("a load takes", 2000 < int32(took) < 3500, "its latency", 250 < int32(took >> 32) < 400)
        self.user.raise_interrupts(0x104)
        self.seen(0x104)
        print("on the satellite", subkernel_await(self.seen))
        while self.user.interrupts() != 0x1040:
            pass
        print("from the satellite", self.user.is_up())
        self.lost()
        self.cut(1)
        print("levels of a lost link", self.user.interrupts(), self.user.is_up())
        self.cut(0)
        print("back", subkernel_await(self.lost))
        self.after_reset()
        print("after the reset", subkernel_await(self.after_reset))
        self.shown.show(0, BUFFER + 5 * PAGE_BYTES)
        self.shown.show(1, BUFFER + 2 * PAGE_BYTES)
        self.shown.show(2, BUFFER, READ)
        self.fill(8)
        filled = subkernel_await(self.fill)
        print("pages", filled, self.memory.load(BUFFER + 6 * PAGE_BYTES - 4), self.memory.load(BUFFER + 2 * PAGE_BYTES))
        self.page_refusals()
        print("refused", subkernel_await(self.page_refusals))
        print("the other way", self.refused(self.user, 0, False), self.refused(self.beyond, 0, False))
        self.astray()
        subkernel_await(self.astray)
