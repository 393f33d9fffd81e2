from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *
from lines import Lines

from kairos.coredevice.remote_memory import BUFFER

SOURCE, TARGET, BYTES, COPIES = BUFFER + 0x2_0000, BUFFER + 0x3_0000, 4096, 4
COPIED = COPIES * BYTES // 8
"""Words on every line that the copies take at least."""
COUNT = 400
"""Words that are stored, each of which takes four words on every line at least, with its answer."""


class CrossForward(Lines, EnvExperiment):
    """Two satellites (`first`, `second`) with a link of their own, and a board (`third`) behind the second, which the
    first reaches across it."""

    lines = ("master-first", "master-second", "first-second")

    def build(self):
        for name in ("core", "first", "second", "third"):
            self.setattr_device(name)

    def plug(self, plugged) -> TInt32:
        self.control().request("link", to="second", plugged=bool(plugged), **{"from": "first"})
        return 0

    @subkernel(destination=3)
    def open_third(self):
        self.first.export(0, BUFFER, 0x1_0000, 3)
        self.first.export(1, BUFFER + 0x1_0000, 64, 3, True)

    @subkernel(destination=1)
    def open_first(self):
        self.third.export(0, BUFFER, 0x1_0000, 3)

    @subkernel(destination=1)
    def on_board(self, number: TInt32) -> TList(TInt32):
        """Stores and loads words on the third board, each when the one before is there; returns the last one and the
        nanoseconds that a store takes, or 0 if that refuses."""
        try:
            begin = self.core.get_rtio_counter_mu()
            for n in range(COUNT):
                self.third.store(BUFFER + 4 * n, number + n)
            took = (self.core.get_rtio_counter_mu() - begin) // COUNT
            self.third.write(BUFFER + 0x8000, [number, 2, 3])
            return [self.third.load(BUFFER + 4 * COUNT - 4) + self.third.load(BUFFER + 0x8000) - number, int(took)]
        except RemoteMemoryError:
            return [0, 0]

    @subkernel(destination=3)
    def back(self) -> TInt32:
        """Stores words on the first board, whose answers come across as well."""
        self.first.store(BUFFER, 40)
        for n in range(COUNT):
            self.first.store(BUFFER + 4, n)
        self.first.store(BUFFER + 4, 2)
        return self.first.load(BUFFER)

    @subkernel(destination=1)
    def own(self) -> TInt32:
        return self.first.load(BUFFER + 4)

    @subkernel(destination=1)
    def copies_there(self, number: TInt32) -> TInt32:
        """Copies to the third board, and fetches the last of it; returns its last word less that of the source, plus
        the number."""
        for n in range(BYTES // 4):
            self.first.store(SOURCE + 4 * n, number + n)
        for n in range(COPIES):
            self.third.copy(BUFFER + BYTES * n, SOURCE, BYTES)
        self.third.fetch(BUFFER + BYTES * (COPIES - 1), TARGET, BYTES)
        return self.first.load(TARGET + BYTES - 4) - self.first.load(SOURCE + BYTES - 4) + number

    @subkernel(destination=3)
    def copies_back(self, number: TInt32) -> TInt32:
        for n in range(BYTES // 4):
            self.third.store(SOURCE + 4 * n, number + n)
        for n in range(COPIES):
            self.first.copy(BUFFER + BYTES * n, SOURCE, BYTES)
        self.first.fetch(BUFFER + BYTES * (COPIES - 1), TARGET, BYTES)
        return self.third.load(TARGET + BYTES - 4) - self.third.load(SOURCE + BYTES - 4) + number

    @subkernel(destination=1)
    def only_first(self) -> TInt32:
        self.third.store(BUFFER + 0x1_0000, 5)
        return self.third.load(BUFFER + 0x1_0000)

    @subkernel(destination=2)
    def not_second(self) -> TInt32:
        try:
            return self.third.load(BUFFER + 0x1_0000)
        except RemoteMemoryError:
            return 0

    @subkernel(destination=3)
    def stream(self) -> TInt32:
        """Stores and loads on the first board again and again; returns how many have failed, or -1 if a word is wrong
        that has not."""
        failed = 0
        for n in range(COUNT):
            try:
                self.first.store(BUFFER, n)
                if self.first.load(BUFFER) != n:
                    return -1
            except RemoteMemoryError:
                failed += 1
        return failed

    @kernel
    def round(self, text, number):
        self.carried()
        self.on_board(number)
        found = subkernel_await(self.on_board)
        lines = self.carried()
        by_master = lines[0] > 4 * COUNT and lines[1] > 4 * COUNT
        nothing_by_master = lines[0] < COUNT and lines[1] < COUNT
        print(text, found[0], "by the master", by_master, nothing_by_master, "across", lines[2] > 4 * COUNT)
        return found[1]

    @kernel
    def copied(self, text, number):
        """Copies in both directions, one after the other."""
        self.carried()
        self.copies_there(number)
        there = subkernel_await(self.copies_there)
        self.copies_back(number)
        back = subkernel_await(self.copies_back)
        lines = self.carried()
        by_master, nothing = lines[0] > 2 * COPIED and lines[1] > 2 * COPIED, lines[0] < COPIED and lines[1] < COPIED
        print(text, there, back, "by the master", by_master, nothing, "across", lines[2] > 2 * COPIED)

    @kernel
    def cut(self):
        """Pulls the link out while stores are on it, and plugs it in again, some times."""
        self.stream()
        for _ in range(3):
            for plugged in range(2):
                self.plug(plugged)
                self.core.break_realtime()
                delay(0.5 * ms)
                self.core.wait_until_mu(now_mu())
        print("cut in the middle of stores: failed", subkernel_await(self.stream))

    @kernel
    def run(self):
        self.core.reset()
        self.on_board(0)
        print("refused", subkernel_await(self.on_board)[0])
        self.open_third()
        self.open_first()
        subkernel_await(self.open_third)
        subkernel_await(self.open_first)
        across = self.round("plugged", 100)
        self.back()
        found = subkernel_await(self.back)
        lines = self.carried()
        self.own()
        print("back", found, subkernel_await(self.own), "by the master", lines[0] > 4 * COUNT, lines[0] < COUNT)
        self.only_first()
        self.not_second()
        print("only one", subkernel_await(self.only_first), subkernel_await(self.not_second))
        self.copied("copied", 7)
        self.plug(0)
        by_tree = self.round("unplugged", 1100)
        self.copied("copied", 8)
        self.plug(1)
        self.core.break_realtime()
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())
        self.round("again", 2100)
        self.cut()
        print("faster across", across + 1500 < by_tree)
        print("ns", across, by_tree)
