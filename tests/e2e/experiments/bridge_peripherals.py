from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

from kairos.coredevice.bridge import PAGE_BYTES

UARTS = [0, PAGE_BYTES]
SYSTEM, MEMORY, NOTHING = 2 * PAGE_BYTES, 3 * PAGE_BYTES, 4 * PAGE_BYTES
CONTROL, STATUS, FIFO = 0, 0x2C, 0x30
IDENTITY, LOCK = 0x530, 0x4
SENDS = 0x10
TEXT = "a word from another board\n"


class BridgePeripherals(EnvExperiment):
    """A kernel of the master uses peripherals and on-chip memory of the satellite."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("there")
        self.bytes = [ord(letter) for letter in TEXT]

    def control(self):
        from kairos.emulator import acquire

        return acquire(self.get_device_db()["core"]["arguments"]["host"]).control

    def said(self) -> TBool:
        """Whether the satellite's UART has sent the text."""
        return TEXT in self.control().request("uart", board="satellite", **{"from": 0})["text"]

    def memory(self, words: TInt32) -> TList(TInt32):
        """Words of the satellite's on-chip memory."""
        return self.control().request("read", address=0xFFFC_0000, words=int(words), board="satellite")["words"]

    @kernel
    def refused(self, address, stores) -> TBool:
        try:
            if stores:
                self.there.store(address, 1)
            else:
                self.there.load(address)
            return False
        except RemoteMemoryError:
            return True

    @kernel
    def run(self):
        self.core.reset()
        while not self.there.is_up():
            pass
        print("identity", self.there.load(SYSTEM + IDENTITY) == 0x03731093)
        print("read only", self.refused(SYSTEM + LOCK, True), "not listed", self.refused(NOTHING, False))
        for uart in UARTS:
            if self.there.load(uart + CONTROL) & 0x30 == SENDS:
                for letter in self.bytes:
                    self.there.store(uart + FIFO, letter)
        print("said", self.said())
        numbers = [3 * n for n in range(20)]
        self.there.write(MEMORY, numbers)
        got = [0 for _ in range(20)]
        self.there.read(MEMORY, got)
        print("memory", got == numbers, self.memory(20) == numbers)
        start = self.core.get_rtio_counter_mu()
        for _ in range(20):
            self.there.load(SYSTEM + IDENTITY)
        took = (self.core.get_rtio_counter_mu() - start) // 20
        print("a load takes", 2000 < took < 4000, took)
