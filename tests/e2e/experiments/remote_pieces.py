from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

BUFFER = 0x0FE0_0000
PIECES = 70
APART = 0x400
"""Bytes between pieces there; here they are packed, in reverse."""


class RemotePieces(EnvExperiment):
    """Copies many scattered pieces at once to a satellite, which checks them; then some of which one is refused."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("master")
        self.setattr_device("satellite")

    @subkernel(destination=1)
    def open(self):
        self.master.export(0, BUFFER, 0x20000, 3)

    @subkernel(destination=1)
    def wrong(self) -> TInt32:
        """The number of words that are not those that the master has sent."""
        found = 0
        for piece in range(PIECES):
            for word in range(2 * (1 + piece % 9)):
                if self.satellite.load(BUFFER + APART * piece + 4 * word) != 1000 * piece + word:
                    found += 1
        return found

    @subkernel(destination=1)
    def got(self, address: TInt32) -> TInt32:
        return self.satellite.load(address)

    @subkernel(destination=1)
    def show(self) -> TInt32:
        """One range from 4 MiB on, of two parts that are apart and in reverse here, for the master only."""
        self.master.export(0, rights=0)
        self.master.show(2, 0x400000, BUFFER + 0x4000, 0x200, 3, only=True)
        self.master.show(1, 0x400200, BUFFER + 0x1000, 0x200, 3, only=True)
        refused = 0
        try:
            self.master.show(4, 0)
        except ValueError:
            refused += 1
        try:
            self.master.show(3, 0x0FFFFF00, size=0x200)
        except RemoteMemoryError:
            refused += 1
        return refused

    @kernel
    def run(self):
        self.core.reset()
        self.open()
        subkernel_await(self.open)
        pieces = [0 for _ in range(3 * PIECES)]
        here = BUFFER + 0x10000
        for piece in range(PIECES):
            number = PIECES - 1 - piece
            words = 2 * (1 + number % 9)
            pieces[3 * piece] = BUFFER + APART * number
            pieces[3 * piece + 1] = here
            pieces[3 * piece + 2] = 4 * words
            for word in range(words):
                self.master.store(here, 1000 * number + word)
                here += 4
        self.satellite.copy_pieces(pieces)
        self.wrong()
        print("wrong", subkernel_await(self.wrong))
        # The third is beyond what is exported; the fourth must not have been begun
        self.master.store(BUFFER, 7)
        self.master.store(BUFFER + 4, 8)
        try:
            self.satellite.copy_pieces(
                [BUFFER + 0x1F000, BUFFER, 8, BUFFER + 0x1F100, BUFFER, 8, BUFFER + 0x20000, BUFFER, 8]
            )
        except RemoteMemoryError:
            print("refused")
        self.got(BUFFER + 0x1F100)
        print("before it", subkernel_await(self.got))
        try:
            self.satellite.copy_pieces([BUFFER, BUFFER, 8, BUFFER])
        except RemoteMemoryError:
            print("malformed")
        self.satellite.copy_pieces([BUFFER + 0x1F200, BUFFER, 8])
        self.got(BUFFER + 0x1F204)
        print("after it", subkernel_await(self.got))
        self.show()
        print("regions refused", subkernel_await(self.show))
        source = BUFFER + 0x10000
        self.satellite.copy(0x400100, source, 0x200)
        self.satellite.store(0x4001FC, 11)
        self.satellite.store(0x400200, 12)
        back = BUFFER + 0x8000
        self.satellite.fetch(0x400000, back, 0x400)
        one = self.master.load(back + 0x1FC) == 11 and self.master.load(back + 0x200) == 12
        for at in range(0, 0xF8, 4):
            one = one and self.master.load(back + 0x100 + at) == self.master.load(source + at)
            one = one and self.master.load(back + 0x204 + at) == self.master.load(source + 0x104 + at)
        print("one range", one)
