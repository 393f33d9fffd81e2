"""Trap electrodes: ramps of a Zotino, with voltages computed on the host and in the kernel, updates
synchronous with a TTL, and errors for voltages out of range.
"""

import numpy as np
from artiq.coredevice.ad53xx import voltage_to_mu
from artiq.experiment import *


class Electrodes(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("zotino0")
        self.setattr_device("ttl4")
        self.channels = [3, 1, 4]

    def prepare(self):
        steps = np.linspace(0, 1, 3)
        start, stop = np.array([0.0, 0.5, -1.0]), np.array([2.0, -0.5, 1.0])
        self.ramp = [list(start + (stop - start) * step) for step in steps]
        self.expected = [[self.zotino0.voltage_to_mu(v) for v in point] for point in self.ramp]

    @kernel
    def init(self):
        self.core.reset()
        self.zotino0.init(blind=True)
        delay(200 * us)

    @kernel
    def play(self):
        self.core.break_realtime()
        for i in range(len(self.ramp)):
            delay(100 * us)
            with parallel:
                self.zotino0.set_dac(self.ramp[i], self.channels)
                self.ttl4.pulse(1 * us)
        self.zotino0.set_leds(0b101)
        for volts in [0.25, 10.0]:
            delay(20 * us)
            try:
                self.zotino0.write_dac(7, volts)
                self.zotino0.load()
            except ValueError:
                print("refused", volts)

    def run(self):
        self.init()
        self.play()
        print(self.expected, voltage_to_mu(0.25))
        try:
            self.zotino0.voltage_to_mu(-10.1)
        except ValueError as error:
            print(error)
