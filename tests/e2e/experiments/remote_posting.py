"""Outputs on a satellite for which the kernel does not wait."""

from artiq.coredevice.exceptions import RTIOUnderflow
from artiq.experiment import *


class Boards(EnvExperiment):
    def build(self):
        for name in ("core", "ttl4", "ttl5", "sat_ttl4", "sat_ttl5"):
            self.setattr_device(name)


class InTurn(Boards):
    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        for _ in range(100):
            self.sat_ttl4.on()
            delay_mu(2000)
            self.sat_ttl5.on()
            delay_mu(2000)
            self.sat_ttl4.off()
            delay_mu(2000)
            self.sat_ttl5.off()
            delay_mu(2000)


class Full(Boards):
    """More events than both boards hold, each at the same time on both."""

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        start = now_mu()
        for i in range(6000):
            at_mu(start + 800 * i)
            self.sat_ttl4.set_o(i % 2 == 0)
            self.ttl4.set_o(i % 2 == 0)
        print("end")


class Late(Boards):
    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        reached = 0
        try:
            for i in range(100):
                if i == 70:
                    at_mu(self.core.get_rtio_counter_mu() + 500)
                self.sat_ttl4.on()
                reached = i
                delay_mu(100)
        except RTIOUnderflow:
            print("underflow after", reached)
        self.core.break_realtime()
        delay(1 * ms)
        self.sat_ttl5.pulse(1 * us)
        print("end")
