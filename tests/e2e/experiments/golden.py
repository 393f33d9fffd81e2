"""Pulses of light on ions: their start, duration and phase."""

from artiq.experiment import *
from numpy import int64


class Pulses(EnvExperiment):
    """Through the chip of channel 0, with the durations and phases in its lists."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch0")
        self.setattr_argument("frequency", NumberValue(80e6))
        self.lengths = self.get_argument("lengths", PYONValue([10_000]))
        self.phases = self.get_argument("phases", PYONValue([0.0]))
        self.gap = self.get_argument("gap", NumberValue(20_000, precision=0, step=1, type="int"))

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set_att(0.0)
        delay(1 * ms)
        begin = now_mu()
        for n in range(len(self.lengths)):
            at_mu(begin - 5000)
            self.dds.set(self.frequency, phase=self.phases[n])
            at_mu(begin)
            self.dds.sw.pulse_mu(self.lengths[n])
            begin += self.lengths[n] + self.gap
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Gate(EnvExperiment):
    """Both sidebands simultaneously, from channels 0 and 1, for a given time."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.beams = [self.get_device(f"urukul0_ch{n}") for n in range(2)]
        self.frequencies = self.get_argument("frequencies", PYONValue([80e6, 80e6]))
        self.length = self.get_argument("length", NumberValue(50_000, precision=0, step=1, type="int"))

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        for n in range(2):
            self.beams[n].init()
            self.core.break_realtime()
            self.beams[n].set_att(0.0)
            self.beams[n].set(self.frequencies[n])
        delay(1 * ms)
        with parallel:
            self.beams[0].sw.pulse_mu(int64(self.length))
            self.beams[1].sw.pulse_mu(int64(self.length))
        delay(10 * us)
        self.core.wait_until_mu(now_mu())
