"""One kernel pulses pins of four boards simultaneously, and timestamps an edge on each satellite."""

from artiq.experiment import *
from numpy import int64


class Star(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.boards = [self.get_device(name) for name in ("ttl4", "sat1_ttl4", "sat2_ttl4", "sat3_ttl4")]
        self.inputs = [self.get_device(name) for name in ("sat1_ttl0", "sat2_ttl0", "sat3_ttl0")]

    @kernel
    def run(self):
        self.core.reset()
        for line in self.inputs:
            line.output()
        delay(10 * us)
        for length in range(1, 4):
            for board in self.boards:
                board.on()
            delay_mu(int64(1000 * length + 3))
            for board in self.boards:
                board.off()
            delay(2 * us)
        for line in self.inputs:
            self.core.break_realtime()
            end = line.gate_rising(2 * us)
            at_mu(end - 1500)
            rising = now_mu()
            line.pulse(100 * ns)
            print(line.timestamp_mu(end) - rising)
