from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *
from lines import Lines

from kairos.coredevice.remote_memory import BUFFER, MAILBOX

SOURCE = BUFFER + 0x2_0000
COPIES, BYTES = 16, 4096
WORDS = COPIES * BYTES // 8
"""Words on the line that all copies take at least."""


class CrossBeside(Lines, EnvExperiment):
    """A master with memory at one satellite (`near`), a block behind a bridge at another (`side`), and a cross link to
    the board (`far`) behind the first, which has another one to the board behind the bridge."""

    lines = ("master-near", "near-far", "master-side", "master-far", "near-side")

    def build(self):
        for name in ("core", "master", "near", "far", "side", "adder", "upstream"):
            self.setattr_device(name)

    def plug(self, one, other, plugged) -> TInt32:
        self.control().request("link", to=other, plugged=bool(plugged), **{"from": one})
        return 0

    @subkernel(destination=2)
    def open_far(self):
        self.master.export(0, BUFFER, 0x1_0000, 3)
        self.master.export(1, MAILBOX, 64)
        self.near.export(0, BUFFER, 0x1_0000, 3)
        self.far.store(MAILBOX, 0)

    @subkernel(destination=1)
    def open_near(self):
        self.side.export(0, BUFFER, 0x1_0000, 3)

    @subkernel(destination=3)
    def open_side(self):
        self.near.export(0, BUFFER, 0x3_0000, 3)

    @kernel
    def on_board(self, number):
        """Copies, fetches, stores and loads at the farthest board; returns the last number that is there."""
        for n in range(BYTES // 4):
            self.master.store(SOURCE + 4 * n, number + n)
        for n in range(COPIES):
            self.far.copy(BUFFER + 0x1000 * n, SOURCE, BYTES)
        self.far.fetch(BUFFER + 0xF000, SOURCE, BYTES)
        self.far.write(BUFFER, [number, number + 1])
        self.far.store(BUFFER + 8, self.master.load(SOURCE + BYTES - 4))
        return self.far.load(BUFFER) + self.far.load(BUFFER + 8) - number - BYTES // 4 + 1

    @kernel
    def round(self, text, number):
        """Accesses memory, and uses the block behind the bridge in between."""
        self.carried()
        found = self.on_board(number)
        lines = self.carried()
        sums = [0, 0]
        self.adder.begin([number, 2], [1, -5])
        self.adder.sums(sums)
        print(text, found, "by the tree", lines[0] > WORDS and lines[1] > WORDS, "across", lines[3] > WORDS, sums)

    @subkernel(destination=2)
    def answer(self) -> TInt32:
        """Waits for a message of the master, and stores and copies into its memory."""
        while self.far.load(MAILBOX) != 7:
            pass
        self.far.store(SOURCE, 40)
        self.far.store(SOURCE + 4, 2)
        self.master.copy(BUFFER, SOURCE, 8)
        self.master.store(BUFFER + 8, 77)
        return self.master.load(BUFFER + 8)

    @subkernel(destination=3)
    def beside(self, number: TInt32) -> TInt32:
        """Shows the master interrupts by the bridge, and uses the memory at the other end of the cross link."""
        self.upstream.raise_interrupts(number)
        self.side.store(SOURCE, number)
        self.near.copy(BUFFER + 0x100, SOURCE, 8)
        self.near.store(BUFFER + 0x108, 5)
        return self.near.load(BUFFER + 0x100) + self.near.load(BUFFER + 0x108)

    @subkernel(destination=1)
    def back(self) -> TInt32:
        self.side.fetch(SOURCE, SOURCE, 8)
        return self.near.load(SOURCE) + self.near.load(BUFFER + 0x108)

    @subkernel(destination=3)
    def alone(self, elsewhere: TBool) -> TInt32:
        """Nothing but the cross link leads to other boards' memory: to that of the board at its other end, and of the
        one behind that."""
        try:
            if elsewhere:
                return self.far.load(BUFFER)
            self.near.copy(BUFFER, SOURCE, 8)
            return 1
        except RemoteMemoryError:
            return 0

    @subkernel(destination=3)
    def lost(self):
        self.near.store(BUFFER, 1)

    @kernel
    def run(self):
        self.core.reset()
        while not self.adder.is_up():
            pass
        self.open_far()
        self.open_near()
        self.open_side()
        subkernel_await(self.open_far)
        subkernel_await(self.open_near)
        subkernel_await(self.open_side)
        self.far.export(0, BUFFER, 64, 3)
        self.round("plugged", 100)
        self.answer()
        self.far.store(MAILBOX, 7)
        found = subkernel_await(self.answer)
        print("answered", found, self.master.load(BUFFER) + self.master.load(BUFFER + 4))
        self.carried()
        self.beside(0x50)
        found = subkernel_await(self.beside)
        self.back()
        print("beside the bridge", found, subkernel_await(self.back), self.adder.interrupts() == 0x51)
        self.alone(True)
        print("beyond", subkernel_await(self.alone))
        self.plug("master", "far", 0)
        self.round("unplugged", 200)
        self.plug("master", "far", 1)
        across = False
        while not across:
            self.carried()
            self.on_board(0)
            across = self.carried()[3] > WORDS
        self.round("again", 300)
        self.plug("near", "side", 0)
        self.alone(False)
        print("alone", subkernel_await(self.alone))
        self.lost()
        subkernel_await(self.lost)
