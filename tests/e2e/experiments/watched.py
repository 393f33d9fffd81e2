"""Pins of several boards at the same times, from one kernel; a kernel of the first satellite;
rejected operations."""

from artiq.coredevice.exceptions import RTIOUnderflow
from artiq.experiment import *
from numpy import int64


class Watched(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("outputs", StringValue())
        self.setattr_argument("near", StringValue())

    def prepare(self):
        self.pins = [self.get_device(name) for name in self.outputs.split()]
        self.last = self.pins[-1]
        self.own = self.get_device(self.near)

    @subkernel(destination=1)
    def pulses(self):
        self.own.pulse_mu(int64(77))
        delay_mu(77)
        self.own.pulse_mu(int64(78))

    @kernel
    def run(self):
        self.core.reset()
        delay(1 * ms)
        for n in range(3):
            for pin in self.pins:
                pin.on()
            delay_mu(int64(1000 * (n + 1) + 3))
            for pin in self.pins:
                pin.off()
            delay(2 * us)
        self.pulses()
        subkernel_await(self.pulses)
        try:
            at_mu(0)
            self.last.on()
        except RTIOUnderflow:
            pass
        self.core.break_realtime()
        self.core.wait_until_mu(now_mu())
