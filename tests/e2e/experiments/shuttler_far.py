"""A Shuttler on a satellite, whose tone lights an ion that an input of the master counts."""

from artiq.experiment import *
from numpy import int64


class Far(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.near, self.far, self.counter = (self.get_device(name) for name in ("ttl4", "sat_ttl4", "ttl0"))
        self.start = self.get_device("sat_shuttler0_trigger")
        self.level, self.tone = self.get_device("sat_shuttler0_dcbias3"), self.get_device("sat_shuttler0_dds3")
        self.config = self.get_device("sat_shuttler0")
        self.a1 = self.get_argument("a1", PYONValue(0))
        self.b0, self.c1 = self.get_argument("b0", PYONValue(0)), self.get_argument("c1", PYONValue(0))

    @kernel
    def count(self) -> TInt32:
        gate = self.counter.gate_rising(20 * us)
        found = self.counter.count(gate)
        self.core.break_realtime()
        delay(200 * us)
        return found

    @kernel
    def run(self):
        self.core.reset()
        self.level.set_waveform(0, self.a1, int64(0), int64(0))
        self.tone.set_waveform(self.b0, 0, int64(0), int64(0), 0, self.c1, 0)
        delay(500 * us)
        dark = self.count()
        self.start.trigger(8)
        self.near.pulse(8 * ns)
        delay(-8 * ns)
        self.far.pulse(8 * ns)
        delay(1 * us)
        bright = self.count()
        self.config.set_gain(3, -0x1000)
        delay(100 * us)
        gain = self.config.get_gain(3)
        self.core.break_realtime()
        self.set_dataset("found", [dark, bright, gain])
        self.core.wait_until_mu(now_mu())
