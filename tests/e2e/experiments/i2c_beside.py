"""Repeatedly reads a device behind a switch, and reports how often the result was wrong."""

from artiq.coredevice.i2c import *
from artiq.experiment import *


class Beside(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("i2c_switch")
        self.setattr_device("i2c_expander")
        self.setattr_argument("rounds", NumberValue(60, precision=0, step=1, type="int"))

    @kernel
    def run(self):
        wrong = 0
        self.i2c_switch.set(2)
        for n in range(self.rounds):
            self.i2c_expander.set(n)
            if self.i2c_expander.get() != n:
                wrong += 1
        print("wrong", wrong)
