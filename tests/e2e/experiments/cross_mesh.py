from artiq.experiment import *

BUFFER = 0x0FE0_0000
SOURCE = BUFFER + 0x2_0000
PLACE = 0x1000
"""Bytes for what a board copies to another one."""
COPIES, WORDS = 8, 256
LINE = 2 * COPIES * WORDS // 2
"""Words on a line between two boards that all copies take at least."""


class CrossMesh(EnvExperiment):
    """Three satellites, each with a link to both others, copy to each other at the same time."""

    def build(self):
        for name in ("core", "b1", "b2", "b3"):
            self.setattr_device(name)
        self.before = {}

    def carried(self) -> TList(TInt32):
        """Return the words that each of the lines has carried since the last call: of the master's links, and the cross
        links."""
        from kairos.emulator import acquire

        counts = []
        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        for link in control.request("links")["links"]:
            name, sent = f"{link['from']}-{link['to']}", link["down"]["sent"] + link["up"]["sent"]
            counts.append(sent - self.before.get(name, 0))
            self.before[name] = sent
        return counts

    @portable
    def give(self, own, one, other, number):
        for n in range(WORDS):
            own.store(SOURCE + 4 * n, 1000 * number + n)
        for _ in range(COPIES):
            one.copy(BUFFER + PLACE * number, SOURCE, 4 * WORDS)
            other.copy(BUFFER + PLACE * number, SOURCE, 4 * WORDS)

    @portable
    def total(self, own, number) -> TInt32:
        """Return the sum of what both others have copied here, and clear it."""
        found = 0
        for other in range(1, 4):
            if other != number:
                for n in range(WORDS):
                    found += own.load(BUFFER + PLACE * other + 4 * n)
                    own.store(BUFFER + PLACE * other + 4 * n, 0)
        return found

    @subkernel(destination=1)
    def open1(self):
        self.b2.export(0)
        self.b3.export(0)

    @subkernel(destination=2)
    def open2(self):
        self.b1.export(0)
        self.b3.export(0)

    @subkernel(destination=3)
    def open3(self):
        self.b1.export(0)
        self.b2.export(0)

    @subkernel(destination=1)
    def give1(self):
        self.give(self.b1, self.b2, self.b3, 1)

    @subkernel(destination=2)
    def give2(self):
        self.give(self.b2, self.b1, self.b3, 2)

    @subkernel(destination=3)
    def give3(self):
        self.give(self.b3, self.b1, self.b2, 3)

    @subkernel(destination=1)
    def total1(self) -> TInt32:
        return self.total(self.b1, 1)

    @subkernel(destination=2)
    def total2(self) -> TInt32:
        return self.total(self.b2, 2)

    @subkernel(destination=3)
    def total3(self) -> TInt32:
        return self.total(self.b3, 3)

    @kernel
    def all(self):
        self.give1()
        self.give2()
        self.give3()
        subkernel_await(self.give1)
        subkernel_await(self.give2)
        subkernel_await(self.give3)

    @kernel
    def run(self):
        self.core.reset()
        self.open1()
        subkernel_await(self.open1)
        self.open2()
        subkernel_await(self.open2)
        self.open3()
        subkernel_await(self.open3)
        # Sends the libraries of the subkernels, too
        self.all()
        self.carried()
        self.all()
        lines = self.carried()
        for n in range(3):
            print(lines[n] < LINE // 2, lines[3 + n] > LINE)
        self.total1()
        self.total2()
        self.total3()
        print(subkernel_await(self.total1), subkernel_await(self.total2), subkernel_await(self.total3))
