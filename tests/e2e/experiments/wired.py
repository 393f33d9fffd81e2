"""Signals at inputs wired on the command line."""

from artiq.experiment import *


class Wired(EnvExperiment):
    """Print the number of edges of ttl0 in 10 ms, the delay of ttl1 after ttl4 in ns, and the level
    of ttl2."""

    def build(self):
        for name in ["core", "ttl0", "ttl1", "ttl2", "ttl4"]:
            self.setattr_device(name)

    @kernel
    def run(self):
        self.core.reset()
        for ttl in [self.ttl0, self.ttl1, self.ttl2]:
            ttl.input()
        delay(100 * us)
        edges = self.ttl0.count(self.ttl0.gate_rising(10 * ms))
        self.core.break_realtime()
        begin = now_mu()
        with parallel:
            self.ttl1.gate_rising(10 * us)
            with sequential:
                delay(1 * us)
                self.ttl4.pulse(1 * us)
        came = self.ttl1.timestamp_mu(now_mu())
        self.core.break_realtime()
        self.ttl2.sample_input()
        print(edges, came - begin - 1000, self.ttl2.sample_get())
