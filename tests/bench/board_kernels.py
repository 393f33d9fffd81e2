"""Communication between two boards for measurements."""

from artiq.coredevice.exceptions import RTIOUnderflow
from artiq.experiment import *
from numpy import int64

ROUNDS = 8
BUFFER = 0x0FE0_0000
"""Memory of each board that kernels may export."""
MAILBOX = 0x0710_0000
"""The same for messages, coherent with the caches."""


class Distributed(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "sat_ttl4"):
            self.setattr_device(name)

    @kernel
    def run(self) -> TTuple([TInt64, TInt64]):
        """Return the machine units by which a trace of the other board has to be started ahead,
        shortly after the preceding one and after the boards have been idle for some time."""
        self.core.reset()
        with self.core_dma.record("far", enable_ddma=True):
            self.sat_ttl4.pulse_mu(int64(100))
        handle = self.core_dma.get_handle("far")
        needed = [int64(0), int64(0)]
        for quiet in range(2):
            done = False
            while not done:
                needed[quiet] += 1000
                start = self.core.get_rtio_counter_mu()
                self.core.wait_until_mu(start + 10000000 * quiet)
                try:
                    at_mu(self.core.get_rtio_counter_mu() + needed[quiet])
                    self.core_dma.playback_handle(handle)
                    done = True
                except RTIOUnderflow:
                    pass
                self.core.wait_until_mu(now_mu() + 1000)
        return needed[0], needed[1]


class Calls(EnvExperiment):
    def build(self):
        self.setattr_device("core")

    @subkernel(destination=1)
    def empty(self):
        pass

    @subkernel(destination=1)
    def echo(self):
        for _ in range(ROUNDS):
            subkernel_send(0, "back", subkernel_recv("there", TInt32))

    @kernel
    def run(self) -> TTuple([TInt64, TInt64, TInt64]):
        """Return the machine units of the first call, of a later one, and of a message and its
        answer."""
        self.core.reset()
        start = self.core.get_rtio_counter_mu()
        self.empty()
        subkernel_await(self.empty)
        first = self.core.get_rtio_counter_mu() - start
        start = self.core.get_rtio_counter_mu()
        for _ in range(ROUNDS):
            self.empty()
            subkernel_await(self.empty)
        later = (self.core.get_rtio_counter_mu() - start) // ROUNDS
        self.echo()
        start = self.core.get_rtio_counter_mu()
        for i in range(ROUNDS):
            subkernel_send(1, "there", i)
            subkernel_recv("back", TInt32)
        messages = (self.core.get_rtio_counter_mu() - start) // ROUNDS
        subkernel_await(self.echo)
        return first, later, messages


class Copies(EnvExperiment):
    """Copies of a few bytes to a satellite, whose kernel polls its memory."""

    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def open(self):
        self.master.export(0)

    @subkernel(destination=1)
    def watch(self, number: TInt32) -> TInt64:
        """Return the time at which a number arrives."""
        self.satellite.store(BUFFER + 8, number)
        while self.satellite.load(BUFFER) != number:
            pass
        return self.core.get_rtio_counter_mu()

    @kernel
    def run(self) -> TTuple([TInt64, TInt64]):
        """Return the machine units from the call to the arrival of 8 bytes, and to its return, of the
        fastest of some rounds."""
        self.core.reset()
        self.open()
        subkernel_await(self.open)
        arrived, returned = int64(1000000), int64(1000000)
        for number in range(1, 1 + ROUNDS):
            self.master.write(BUFFER + 0x8000, [number, number])
            self.watch(number)
            while self.satellite.load(BUFFER + 8) != number:
                pass
            start = self.core.get_rtio_counter_mu()
            self.satellite.copy(BUFFER, BUFFER + 0x8000, 8)
            returned = min(returned, self.core.get_rtio_counter_mu() - start)
            arrived = min(arrived, subkernel_await(self.watch) - start)
        return arrived, returned


class Fetches(EnvExperiment):
    """Reads of a satellite's memory: by the engine, and by single loads."""

    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def open(self):
        self.master.export(0)

    @kernel
    def run(self) -> TTuple([TInt64, TInt64, TInt64]):
        """Return the machine units of a fetch of 8 bytes, of one of 64 KiB, each the fastest of some, and of loads of
        1024 words."""
        self.core.reset()
        self.open()
        subkernel_await(self.open)
        words = [0 for _ in range(1024)]
        small, large = int64(1000000), int64(1000000)
        for _ in range(ROUNDS):
            start = self.core.get_rtio_counter_mu()
            self.satellite.fetch(BUFFER, BUFFER + 0x8000, 8)
            small = min(small, self.core.get_rtio_counter_mu() - start)
            start = self.core.get_rtio_counter_mu()
            self.satellite.fetch(BUFFER, BUFFER + 0x20000, 0x10000)
            large = min(large, self.core.get_rtio_counter_mu() - start)
        start = self.core.get_rtio_counter_mu()
        self.satellite.read(BUFFER, words)
        return small, large, self.core.get_rtio_counter_mu() - start


class Messages(EnvExperiment):
    """Single stores to a satellite, whose kernel polls its cached memory."""

    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def open(self):
        self.master.export(0)
        self.master.export(1, MAILBOX, 64)

    @subkernel(destination=1)
    def watch(self, number: TInt32) -> TInt64:
        """Return the time at which a number arrives."""
        self.satellite.store(BUFFER + 8, number)
        while self.satellite.load(MAILBOX) != number:
            pass
        return self.core.get_rtio_counter_mu()

    @kernel
    def run(self) -> TInt64:
        """Return the machine units from the call to the arrival of a word, of the fastest of some rounds."""
        self.core.reset()
        self.open()
        subkernel_await(self.open)
        arrived = int64(1000000)
        for number in range(1, 1 + ROUNDS):
            self.watch(number)
            while self.satellite.load(BUFFER + 8) != number:
                pass
            start = self.core.get_rtio_counter_mu()
            self.satellite.store(MAILBOX, number)
            arrived = min(arrived, subkernel_await(self.watch) - start)
        return arrived


class Across(EnvExperiment):
    """Stores and copies of a satellite to another one, by their cross link, and by way of the master."""

    def build(self):
        for name in ("core", "first", "second"):
            self.setattr_device(name)

    def unplug(self) -> TInt32:
        from kairos.emulator import acquire

        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        control.request("link", to="second", plugged=False, **{"from": "first"})
        return 0

    @subkernel(destination=2)
    def open(self):
        self.first.export(0)

    @subkernel(destination=1)
    def store_once(self) -> TInt64:
        taken = int64(1000000)
        for number in range(ROUNDS):
            start = self.core.get_rtio_counter_mu()
            self.second.store(BUFFER, number)
            taken = min(taken, self.core.get_rtio_counter_mu() - start)
        return taken

    @subkernel(destination=1)
    def copy_once(self, size: TInt32) -> TInt64:
        taken = int64(1000000)
        for _ in range(ROUNDS):
            start = self.core.get_rtio_counter_mu()
            self.second.copy(BUFFER, BUFFER + 0x20000, size)
            taken = min(taken, self.core.get_rtio_counter_mu() - start)
        return taken

    @kernel
    def run(self) -> TList(TInt64):
        """Return the machine units of a store, a copy of 8 bytes and one of 64 KiB, of the fastest of some; first by
        the cross link, then without it."""
        self.core.reset()
        taken = [int64(0) for _ in range(6)]
        for way in range(2):
            if way == 1:
                self.unplug()
            # To the link that leads to the other board
            self.open()
            subkernel_await(self.open)
            self.store_once()
            taken[3 * way] = subkernel_await(self.store_once)
            self.copy_once(8)
            taken[3 * way + 1] = subkernel_await(self.copy_once)
            self.copy_once(0x10000)
            taken[3 * way + 2] = subkernel_await(self.copy_once)
        return taken
