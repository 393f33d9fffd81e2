from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *
from numpy import int64

BUFFER = 0x0FE0_0000


class RemoteChain(EnvExperiment):
    """Three boards in a chain: loads and stores of the end boards in each other's memory, through the middle
    one, and copies during outputs.
    """

    def build(self):
        for name in ("core", "master", "relay", "satellite", "unconnected", "sat_ttl4"):
            self.setattr_device(name)

    def cut(self, level) -> TInt32:
        """Unplug the fibre between the satellites (1), or plug it in."""
        from kairos.emulator import acquire

        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        control.request("link", to="satellite", plugged=not level)
        return 0

    @subkernel(destination=1)
    def open_relay(self):
        # For both neighbours, and the boards behind them
        self.master.export(0, BUFFER, 0x1000, 3)
        self.satellite.export(0, BUFFER, 0x1000, 3)

    @subkernel(destination=2)
    def open_satellite(self):
        self.master.export(0, BUFFER, 0x1000, 3)

    @subkernel(destination=2)
    def from_afar(self, value: TInt32) -> TInt32:
        self.master.store(BUFFER + 16, value)
        self.relay.store(BUFFER + 16, value + 1)
        return self.master.load(BUFFER + 20)

    @subkernel(destination=2)
    def pointers(self) -> TInt32:
        # To one board that is not the satellite's neighbour; calls reach others meanwhile
        self.master.pointer(BUFFER)
        self.master.pointer(BUFFER + 8)
        try:
            self.relay.pointer(BUFFER)
        except RemoteMemoryError:
            return self.relay.load(BUFFER + 16)
        return 0

    @subkernel(destination=2)
    def copies(self):
        for n in range(40):
            self.satellite.store(BUFFER + 0x8000 + 4 * n, 7 * n)
        self.master.copy(BUFFER + 256, BUFFER + 0x8000, 160)
        try:
            self.unconnected.load(BUFFER)
        except RemoteMemoryError:
            self.master.store(BUFFER + 252, 1)

    @kernel
    def attempt(self, text, board, address):
        try:
            board.load(address)
            print(text, "done")
        except RemoteMemoryError:
            print(text, "refused")

    @kernel
    def run(self):
        self.core.reset()
        self.attempt("before", self.satellite, BUFFER)
        self.open_relay()
        subkernel_await(self.open_relay)
        self.open_satellite()
        subkernel_await(self.open_satellite)
        # The same address on three boards
        self.master.store(BUFFER, 10)
        self.relay.store(BUFFER, 11)
        self.satellite.store(BUFFER, 12)
        print(self.master.load(BUFFER), self.relay.load(BUFFER), self.satellite.load(BUFFER))
        self.attempt("beyond", self.satellite, BUFFER + 0x1000)
        words = [n * n for n in range(40)]
        back = [0 for _ in range(40)]
        self.satellite.write(BUFFER + 64, words)
        self.relay.load(BUFFER)
        self.satellite.read(BUFFER + 64, back)
        print("list", back == words)
        start = self.core.get_rtio_counter_mu()
        for _ in range(20):
            self.satellite.load(BUFFER)
        took = (self.core.get_rtio_counter_mu() - start) // 20
        print("a load takes", 3000 < took < 5500)
        # The opposite direction
        self.relay.export(0, BUFFER, 0x1000, 3)
        self.master.store(BUFFER + 20, 99)
        self.from_afar(41)
        print(subkernel_await(self.from_afar), self.master.load(BUFFER + 16), self.relay.load(BUFFER + 16))
        self.pointers()
        print("pointers", subkernel_await(self.pointers))
        # Bulk transfers between both ends, loads, stores, and outputs, simultaneously
        self.master.write(BUFFER + 0x8000, words)
        self.copies()
        for _ in range(20):
            self.core.break_realtime()
            self.sat_ttl4.pulse_mu(int64(100))
            self.satellite.copy(BUFFER + 512, BUFFER + 0x8000, 160)
            self.relay.copy(BUFFER + 1024, BUFFER + 0x8000, 160)
        subkernel_await(self.copies)
        self.satellite.read(BUFFER + 512, back)
        print("copied", back == words)
        self.relay.read(BUFFER + 1024, back)
        print("to the neighbour", back == words)
        self.master.read(BUFFER + 256, back)
        print("from afar", back == [7 * n for n in range(40)], self.master.load(BUFFER + 252))
        try:
            self.satellite.copy(BUFFER + 0x1000 - 8, BUFFER + 0x8000, 160)
        except RemoteMemoryError:
            print("a copy refused")
        self.cut(1)
        try:
            self.satellite.copy(BUFFER + 512, BUFFER + 0x8000, 160)
        except RemoteMemoryError:
            print("a copy over a lost link")
        self.attempt("cut", self.satellite, BUFFER)
        self.attempt("before it", self.relay, BUFFER)
        self.cut(0)
        value = 0
        while value == 0:
            try:
                value = self.satellite.load(BUFFER)
            except RemoteMemoryError:
                pass
        print("back", value)
        self.satellite.load(BUFFER + 0x2000)
