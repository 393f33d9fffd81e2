"""What comes in at inputs that a command line has wired."""

from artiq.experiment import *


class Wired(EnvExperiment):
    """Prints the edges that ttl0 has in 10 ms, how much later than ttl4 ttl1 rises in ns, and the level of ttl2."""

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
