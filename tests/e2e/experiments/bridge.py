from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *


class Bridge(EnvExperiment):
    """Accesses of the master to a block on the satellite, errors, interrupts both ways, a lost link, reset."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("adder")
        self.setattr_device("master")
        self.setattr_argument("unequal", BooleanValue(False))

    def cut(self, level) -> TInt32:
        """Unplug the fibre (1), or plug it in."""
        from kairos.emulator import acquire

        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        control.request("link", to="satellite", plugged=not level)
        return 0

    @subkernel(destination=1)
    def seen(self, levels: TInt32) -> TInt32:
        """Waits for levels of the master, and raises others."""
        while self.master.interrupts() != levels:
            pass
        self.master.raise_interrupts(levels << 4)
        return self.master.interrupts()

    @kernel
    def attempt(self, text, address, store):
        try:
            if store:
                self.adder.store(address, 1)
            else:
                self.adder.load(address)
            print(text, "done")
        except RemoteMemoryError:
            print(text, "refused")

    @kernel
    def run(self):
        self.core.reset()
        while not self.adder.is_up():
            pass
        if self.unequal:
            self.adder.begin([1, 2], [3])
        print("identity", self.adder.load(0) == 0x56444441)
        first = [n * n for n in range(21)]
        second = [-7 * n for n in range(21)]
        sums = [0 for _ in range(21)]
        self.adder.begin(first, second)
        self.adder.sums(sums)
        print("sums", sums == [n * n - 7 * n for n in range(21)])
        print("interrupt", self.adder.interrupts())
        self.attempt("beyond the block", 0x4000, False)
        self.attempt("a store of a sum", 0x3000, True)
        start = self.core.get_rtio_counter_mu()
        for _ in range(20):
            self.adder.load(0)
        took = (self.core.get_rtio_counter_mu() - start) // 20
        print("a load takes", 2000 < took < 3500, "its latency", 250 < self.adder.latency() < 400)
        self.adder.raise_interrupts(0x105)
        self.seen(0x105)
        print("on the satellite", subkernel_await(self.seen))
        while self.adder.interrupts() != 0x1051:
            pass
        print("from the satellite")
        self.cut(1)
        self.attempt("a load of a lost link", 0, False)
        self.attempt("a store of a lost link", 4, True)
        print("levels of a lost link", self.adder.interrupts(), self.adder.is_up())
        self.cut(0)
        while not self.adder.is_up():
            pass
        print("back", self.adder.load(0x1004))
        self.adder.reset()
        print("after the reset", self.adder.load(4), self.adder.load(0x1004))
        self.adder.load(0x5000)
