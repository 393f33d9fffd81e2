"""A Sampler read in bursts: codes and volts, gains, averages in the kernel, and the data on the host.
Nothing is connected, so the codes are those of the idle input.
"""

from artiq.coredevice.sampler import adc_mu_to_volt
from artiq.experiment import *


class Readout(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sampler0")
        self.volts = [0.5] * 8
        self.codes = [1, 2]
        self.sums = [0.0] * 8

    @kernel
    def run(self):
        self.core.reset()
        self.sampler0.init()
        for i in range(8):
            delay(40 * us)
            self.sampler0.set_gain_mu(i, i % 4)
        for n in range(3):
            delay(100 * us)
            self.sampler0.sample(self.volts)
            for i in range(8):
                self.sums[i] += self.volts[i] + float(n)
            self.core.break_realtime()
        self.sampler0.sample_mu(self.codes)
        self.set_dataset("volts", self.volts)
        print([adc_mu_to_volt(-32768, gain) for gain in [0, 1, 2, 3]])

    def analyze(self):
        print(hex(self.sampler0.gains), self.codes, self.sums)
        print(adc_mu_to_volt(32767), adc_mu_to_volt(100, 3, False))
