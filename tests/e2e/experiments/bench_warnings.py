"""Experiments that count what a detector sees in the light of a channel of the Urukul: see test_bench_warnings.py."""

from artiq.experiment import *


class Light(EnvExperiment):
    """What both have in common."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.setattr_device("ttl0_counter")
        self.cpld = self.get_device("urukul0_cpld")
        self.light = self.get_device(self.get_argument("light", StringValue("urukul0_ch1")))
        self.switch = self.get_argument("switch", BooleanValue(True))

    @kernel
    def shine(self):
        self.core.reset()
        self.core.break_realtime()
        self.ttl0.input()
        self.cpld.init()
        self.light.init()
        delay(10 * ms)
        if self.switch:
            self.light.set(110 * MHz)
            self.light.set_att(0.0)
            self.light.sw.on()
        delay(100 * us)


class Counting(Light):
    """Counts at the input."""

    @kernel
    def run(self):
        self.shine()
        gate_end = self.ttl0.gate_rising(100 * us)
        self.set_dataset("counts", self.ttl0.count(gate_end))


class Counter(Light):
    """Counts in the gateware."""

    @kernel
    def run(self):
        self.shine()
        self.ttl0_counter.gate_rising(100 * us)
        self.set_dataset("counts", self.ttl0_counter.fetch_count())
