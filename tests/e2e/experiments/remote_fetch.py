from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

BUFFER = 0x0FE0_0000
MAILBOX = 0x0710_0000
DESTINATION = BUFFER + 0x40000
PIECES = 70
APART = 0x400


class RemoteFetch(EnvExperiment):
    """The master fetches what a satellite has written in its own memory: in one piece, scattered, and refused."""

    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def fill(self):
        """Exports for reading alone."""
        self.master.export(0, BUFFER, 0x20000, 1)
        self.master.export(1, MAILBOX, 64)
        for n in range(0x20000 // 64):
            self.satellite.store(BUFFER + 64 * n, 1000 + n)
        for piece in range(PIECES):
            for word in range(2 * (1 + piece % 9)):
                self.satellite.store(BUFFER + APART * piece + 4 * word, 100000 * piece + word)

    @kernel
    def refused(self, address, target, size) -> TBool:
        try:
            self.satellite.fetch(address, target, size)
            return False
        except RemoteMemoryError:
            return True

    @kernel
    def run(self):
        self.core.reset()
        self.fill()
        subkernel_await(self.fill)
        # 128 KiB, by an interrupt
        self.satellite.fetch(BUFFER, DESTINATION, 0x20000)
        wrong = 0
        for n in range(PIECES * APART // 64, 0x20000 // 64):
            if self.master.load(DESTINATION + 64 * n) != 1000 + n:
                wrong += 1
        print("wrong", wrong)
        pieces = [0 for _ in range(3 * PIECES)]
        at = DESTINATION
        for piece in range(PIECES):
            number = PIECES - 1 - piece
            pieces[3 * piece] = BUFFER + APART * number
            pieces[3 * piece + 1] = at
            pieces[3 * piece + 2] = 8 * (1 + number % 9)
            at += pieces[3 * piece + 2]
        self.satellite.fetch_pieces(pieces)
        at = DESTINATION
        for piece in range(PIECES):
            number = PIECES - 1 - piece
            for word in range(2 * (1 + number % 9)):
                if self.master.load(at) != 100000 * number + word:
                    wrong += 1
                at += 4
        print("wrong pieces", wrong)
        # Beyond what is exported, coherent memory, another region here, odd sizes: nothing changes
        self.master.store(DESTINATION, 7)
        refused = 0
        if self.refused(BUFFER + 0x20000, DESTINATION, 16):
            refused += 1
        if self.refused(MAILBOX, DESTINATION, 8):
            refused += 1
        if self.refused(BUFFER, MAILBOX, 8):
            refused += 1
        if self.refused(BUFFER, DESTINATION, 12):
            refused += 1
        if self.refused(BUFFER, DESTINATION, 0):
            refused += 1
        print("refused", refused, self.master.load(DESTINATION))
        # What was exported for reading is not written
        try:
            self.satellite.copy(BUFFER, DESTINATION, 8)
        except RemoteMemoryError:
            print("not writable")
        self.satellite.fetch(BUFFER + 4 * APART, DESTINATION + 8, 8)
        print("after it", self.master.load(DESTINATION + 8), self.master.load(DESTINATION + 12))
