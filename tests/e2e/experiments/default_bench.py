"""An Urukul without a bench file: its chips exist because the device database has them."""

from artiq.experiment import *


class Init(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch1")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set(81.25 * MHz, amplitude=0.5)
        self.core.break_realtime()
        frequency, _, amplitude = self.dds.get()
        print(frequency, amplitude)


class Elsewhere(EnvExperiment):
    """The drivers have other names than the gateware's channels."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("light")
        self.dds = self.get_device("dds_729")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set(100 * MHz)
        self.dds.sw.on()
        self.core.break_realtime()
        frequency, _ = self.dds.get()
        self.core.break_realtime()
        print(frequency, self.cpld.sta_read() >> 16)
