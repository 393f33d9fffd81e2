from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

BUFFER, MAILBOX = 0x0FE0_0000, 0x0710_0000
MESSAGES = 40


class RemoteMailbox(EnvExperiment):
    """Messages between kernels of two boards through cached memory, while both drive outputs."""

    def build(self):
        for name in ("core", "master", "satellite", "ttl4", "sat_ttl4"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def open(self, rights: TInt32):
        self.master.export(1, MAILBOX, 64, rights)

    @subkernel(destination=1)
    def answer(self) -> TInt32:
        """Answers each message with its double, and drives an output meanwhile; returns their sum."""
        self.core.break_realtime()
        total = 0
        for number in range(1, MESSAGES + 1):
            while self.satellite.load(MAILBOX + 8) != number:
                delay(1 * us)
                self.sat_ttl4.pulse(200 * ns)
                self.core.break_realtime()
            total += self.satellite.load(MAILBOX + 12)
            self.master.store(MAILBOX, 2 * number)
        return total

    @kernel
    def attempt(self, text, copies):
        try:
            if copies:
                self.satellite.copy(MAILBOX, BUFFER, 8)
            else:
                self.satellite.store(MAILBOX, 1)
            print(text, "done")
        except RemoteMemoryError:
            print(text, "refused")

    @kernel
    def run(self):
        self.core.reset()
        self.attempt("before the export", False)
        self.open(3)
        subkernel_await(self.open)
        self.satellite.export(0, MAILBOX, 16)
        self.attempt("a store", False)
        self.attempt("a copy", True)
        self.satellite.store(MAILBOX + 8, 0)
        print("a load", self.satellite.load(MAILBOX))
        self.answer()
        for number in range(1, MESSAGES + 1):
            self.satellite.store(MAILBOX + 12, 100 + number)
            self.satellite.store(MAILBOX + 8, number)
            self.core.break_realtime()
            self.ttl4.pulse(100 * ns)
            while self.master.load(MAILBOX) != 2 * number:
                pass
        total = 0
        for number in range(1, MESSAGES + 1):
            total += 100 + number
        print("answered", subkernel_await(self.answer) == total)
        self.open(1)
        subkernel_await(self.open)
        self.attempt("a store of what may be read", False)
        print("still", self.satellite.load(MAILBOX + 8))
