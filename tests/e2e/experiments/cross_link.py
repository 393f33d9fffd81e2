from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

BUFFER = 0x0FE0_0000
SOURCE = BUFFER + 0x2_0000
COPIES, BYTES = 16, 4096
LONG, STREAMED = 0x8000, 200
"""Bytes of a copy that is on the line most of the time, and how many there are."""
WORDS = COPIES * BYTES // 8
"""Words on the line that all copies take at least."""


class CrossLink(EnvExperiment):
    """Two satellites with a link of their own copy to each other, while it is plugged in and while it is not."""

    def build(self):
        for name in ("core", "master", "first", "second"):
            self.setattr_device(name)
        self.before = {}

    def control(self):
        from kairos.emulator import acquire

        return acquire(self.get_device_db()["core"]["arguments"]["host"]).control

    def plug(self, plugged) -> TInt32:
        self.control().request("link", to="second", plugged=bool(plugged), **{"from": "first"})
        return 0

    def carried(self) -> TList(TInt32):
        """Return the words that each of the lines has carried since the last call: of the master's links, and the cross
        link."""
        counts = []
        for link in self.control().request("links")["links"]:
            name, sent = f"{link['from']}-{link['to']}", link["down"]["sent"] + link["up"]["sent"]
            counts.append(sent - self.before.get(name, 0))
            self.before[name] = sent
        return counts

    @subkernel(destination=2)
    def open_second(self, only: TBool):
        self.first.export(0, BUFFER, 0x1_0000, 3, only)

    @subkernel(destination=1)
    def open_first(self):
        self.second.export(0, BUFFER, 0x3_0000, 3)

    @subkernel(destination=1)
    def on_board(self, number: TInt32) -> TInt32:
        """Copies, and stores and loads words, on the second board; returns 0 if that refuses."""
        try:
            for n in range(BYTES // 4):
                self.first.store(SOURCE + 4 * n, number + n)
            for n in range(COPIES):
                self.second.copy(BUFFER + 0x1000 * n, SOURCE, BYTES)
            self.second.store(BUFFER + 0xF000, number)
            return self.second.load(BUFFER + 0x1000 * (COPIES - 1) + BYTES - 4) - (BYTES // 4 - 1)
        except RemoteMemoryError:
            return 0

    @subkernel(destination=2)
    def back(self) -> TInt32:
        """Fetches words of the first board, and stores their sum there."""
        total = 0
        try:
            self.first.fetch(SOURCE, SOURCE, 64)
        except RemoteMemoryError:
            return -1
        for n in range(16):
            total += self.second.load(SOURCE + 4 * n)
        self.first.store(BUFFER + 64, total)
        return self.first.load(BUFFER + 64)

    @subkernel(destination=1)
    def until_plugged(self) -> TInt32:
        """Return when the link leads to the second board, whose region it then accesses."""
        tries = 0
        while True:
            try:
                self.second.load(BUFFER)
                return tries
            except RemoteMemoryError:
                tries += 1

    @subkernel(destination=1)
    def stream(self) -> TInt32:
        """Copies to the second board again and again; returns how many have failed, or -1 if one that has not failed
        is not there."""
        failed = 0
        for number in range(STREAMED):
            self.first.store(SOURCE + LONG - 4, number)
            try:
                self.second.copy(BUFFER, SOURCE, LONG)
                if self.second.load(BUFFER + LONG - 4) != number:
                    return -1
            except RemoteMemoryError:
                failed += 1
        return failed

    @kernel
    def cut(self):
        """Pulls the link out while copies are on it, and plugs it in again, some times."""
        self.stream()
        for _ in range(3):
            for plugged in range(2):
                self.plug(plugged)
                self.core.break_realtime()
                delay(1 * ms)
                self.core.wait_until_mu(now_mu())
        failed = subkernel_await(self.stream)
        print("cut in the middle of copies: some fail", 0 < failed < STREAMED // 4)

    @kernel
    def round(self, text, number):
        self.carried()
        self.on_board(number)
        found = subkernel_await(self.on_board)
        lines = self.carried()
        by_master = lines[0] > WORDS and lines[1] > WORDS
        nothing_by_master = lines[0] < WORDS // 4 and lines[1] < WORDS // 4
        print(text, found, "by the master", by_master, nothing_by_master, "across", lines[2] > WORDS)

    @kernel
    def run(self):
        self.core.reset()
        self.open_second(False)
        subkernel_await(self.open_second)
        self.open_first()
        subkernel_await(self.open_first)
        self.round("plugged", 100)
        self.back()
        print("back", subkernel_await(self.back))
        self.plug(0)
        # What a board exports to another one, it exports to the link that leads there
        self.round("refused", 200)
        self.open_second(True)
        subkernel_await(self.open_second)
        self.round("unplugged", 300)
        try:
            self.second.load(BUFFER)
        except RemoteMemoryError:
            print("nothing for the master")
        self.plug(1)
        self.until_plugged()
        subkernel_await(self.until_plugged)
        self.round("again", 400)
        self.cut()
        self.until_plugged()
        subkernel_await(self.until_plugged)
        self.round("after the cuts", 500)
