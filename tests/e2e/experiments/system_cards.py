"""A card of a satellite, and the effect of its light at the master."""

from artiq.experiment import *


class Lit(EnvExperiment):
    """Counts at the master, without and with light from a synthesiser of the satellite."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.cpld = self.get_device("urukul0_cpld")
        self.cooling = self.get_device("urukul0_ch1")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl0.input()
        self.cpld.init()
        self.cooling.init()
        self.cooling.set_att(0.0)
        self.cooling.sw.off()
        self.cooling.set(110 * MHz)
        delay(10 * us)
        dark = self.ttl0.count(self.ttl0.gate_rising(100 * us))
        self.core.break_realtime()
        self.cooling.sw.on()
        delay(1 * us)
        gate_end = self.ttl0.gate_rising(100 * us)
        self.cooling.sw.off()
        bright = self.ttl0.count(gate_end)
        self.core.break_realtime()
        print(dark, bright, self.cooling.get_frequency())


class Mute(EnvExperiment):
    """The satellite's synthesiser, whose clock is unplugged."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.cooling = self.get_device("urukul0_ch1")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.cooling.init()
