"""Experiments whose run is measured."""

from artiq.experiment import *


class Outputs(EnvExperiment):
    """A loop of TTL outputs with ample slack: what one output costs."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        for _ in range(200):
            self.ttl4.on()
            delay_mu(2000)
            self.ttl4.off()
            delay_mu(2000)


class WaitOneSecond(EnvExperiment):
    """Waits for 1 s of device time."""

    def build(self):
        self.setattr_device("core")

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * s)
        self.core.wait_until_mu(now_mu())


class Compute(EnvExperiment):
    """Integer and list arithmetic on the kernel core, with an asynchronous RPC now and then for the comms core."""

    def build(self):
        self.setattr_device("core")
        self.reports = 0
        self.cells = [0] * 64

    @rpc(flags={"async"})
    def report(self, value):
        self.reports += 1

    @kernel
    def run(self):
        cells = self.cells
        state = 12345
        for i in range(6000000):
            state = state * 1103515245 + 12345
            cells[i & 63] = cells[(i + 7) & 63] ^ state
            if i % 20000 == 0:
                self.report(state)


class InputReads(EnvExperiment):
    """Reads events that are there already: samples of a TTL."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")

    @kernel
    def read(self, number) -> TInt64:
        self.core.reset()
        self.ttl0.input()
        delay(10 * us)
        for _ in range(number):
            self.ttl0.sample_input()
            delay(1 * us)
        end = now_mu()
        self.core.wait_until_mu(end)
        found = 0
        start = self.core.get_rtio_counter_mu()
        for _ in range(number):
            if self.ttl0.timestamp_mu(end) >= 0:
                found += 1
        stop = self.core.get_rtio_counter_mu()
        if found != number:
            raise ValueError("events are missing")
        return stop - start
