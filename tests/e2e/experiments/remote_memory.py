from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

BUFFER = 0x0FE0_0000


class RemoteMemory(EnvExperiment):
    """Loads and stores of the master in a satellite's memory and vice versa, and rejected accesses."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("master")
        self.setattr_device("satellite")

    def cut(self, level) -> TInt32:
        """Unplug the fibre (1), or plug it in."""
        from kairos.emulator import acquire

        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        control.request("link", to="satellite", plugged=not level)
        return 0

    @subkernel(destination=1)
    def open(self, rights: TInt32):
        self.master.export(0, BUFFER, 0x1000, rights)

    @subkernel(destination=1)
    def put(self, address: TInt32, value: TInt32):
        self.satellite.store(address, value)

    @subkernel(destination=1)
    def got(self, address: TInt32) -> TInt32:
        return self.satellite.load(address)

    @subkernel(destination=1)
    def to_master(self, value: TInt32) -> TInt32:
        self.master.store(BUFFER + 8, value)
        return self.master.load(BUFFER + 8) + 1

    @subkernel(destination=1)
    def refused(self):
        self.master.store(BUFFER + 0x1000, 1)

    @kernel
    def attempt(self, text, address, store):
        try:
            if store:
                self.satellite.store(address, 1)
            else:
                self.satellite.load(address)
            print(text, "done")
        except RemoteMemoryError:
            print(text, "refused")

    @kernel
    def unplugged(self):
        self.cut(1)
        try:
            self.satellite.load(BUFFER + 12)
        except RemoteMemoryError:
            print("a load of a lost link")
        try:
            self.satellite.store(BUFFER + 12, 78)
        except RemoteMemoryError:
            print("a store of a lost link")
        self.cut(0)
        value = 0
        while value == 0:
            try:
                value = self.satellite.load(BUFFER + 12)
            except RemoteMemoryError:
                pass
        print("back", value)

    @kernel
    def run(self):
        self.core.reset()
        self.attempt("nothing is exported", BUFFER, False)
        self.open(1)
        subkernel_await(self.open)
        self.attempt("a load", BUFFER, False)
        self.attempt("a store", BUFFER, True)
        self.open(3)
        subkernel_await(self.open)
        self.attempt("a store", BUFFER, True)
        self.attempt("beyond", BUFFER + 0x1000, True)
        # Both access the same memory
        self.satellite.store(BUFFER, 123456)
        self.got(BUFFER)
        print("from the master", subkernel_await(self.got))
        self.put(BUFFER + 4, -5)
        subkernel_await(self.put)
        print("from the satellite", self.satellite.load(BUFFER + 4))
        words = [n * n for n in range(50)]
        self.satellite.write(BUFFER + 64, words)
        back = [0 for _ in range(50)]
        self.satellite.read(BUFFER + 64, back)
        print("list", back == words)
        start = self.core.get_rtio_counter_mu()
        for _ in range(20):
            self.satellite.load(BUFFER)
        took = (self.core.get_rtio_counter_mu() - start) // 20
        print("a load takes", 2000 < took < 3500)
        # Copies, from this board's memory for this purpose
        for n in range(50):
            words[n] = 3 * n + 1
        self.master.write(BUFFER + 0x8000, words)
        for n in range(3):
            self.satellite.copy(BUFFER + 512 * n, BUFFER + 0x8000, 200)
        self.satellite.read(BUFFER + 1024, back)
        print("copied", back == words)
        try:
            self.satellite.copy(BUFFER + 0x1000 - 8, BUFFER + 0x8000, 200)
        except RemoteMemoryError:
            print("a copy refused")
        self.satellite.copy(BUFFER + 2048, BUFFER + 0x8000, 8)
        print("another", self.satellite.load(BUFFER + 2052))
        # The opposite direction
        self.satellite.export(0, BUFFER, 0x1000, 3)
        self.to_master(41)
        print("to the master", subkernel_await(self.to_master), self.master.load(BUFFER + 8))
        try:
            self.refused()
            subkernel_await(self.refused)
        except RemoteMemoryError:
            print("refused on the satellite")
        self.satellite.store(BUFFER + 12, 77)
        self.unplugged()
        self.satellite.load(BUFFER + 0x2000)
