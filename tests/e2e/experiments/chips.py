"""A single chip on a bus, or a Novogorny, set by its driver."""

from artiq.experiment import *


class Alone(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.chip = self.get_device("chip")

    @kernel
    def finish(self):
        delay(1 * us)
        self.core.wait_until_mu(now_mu())


class AD9834(Alone):
    @kernel
    def run(self):
        self.core.reset()
        self.chip.init()
        self.chip.set(12.5 * MHz, 0.25)
        self.finish()


class HMC542B(Alone):
    @kernel
    def run(self):
        self.core.reset()
        self.chip.set_att(7.0)
        self.finish()


class Novogorny(Alone):
    @kernel
    def run(self):
        self.core.reset()
        self.chip.set_gain_mu(3, 1)
        self.chip.configure([0x80 | 3 << 3 | 7])
        print(round(self.chip.sample() * 1000))
        self.finish()
