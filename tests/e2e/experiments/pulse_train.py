"""Trains of pulses by DMA: recorded once, with a parameter, and played by name and by handle between live pulses."""

from artiq.coredevice.exceptions import DMAError
from artiq.experiment import *


class PulseTrain(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.gate = self.get_device("ttl4")
        self.trigger = self.get_device("ttl5")
        self.setattr_argument("pulses", NumberValue(20, precision=0, step=1, type="int"))

    @kernel
    def record(self, name, period_mu, n):
        with self.core_dma.record(name):
            for i in range(n):
                with parallel:
                    self.gate.pulse_mu(int64(20 + 2 * i))
                    if i % 4 == 0:
                        self.trigger.pulse_mu(8)
                delay_mu(period_mu - int64(20 + 2 * i))

    @kernel
    def run(self):
        self.core.reset()
        self.record("train", 200, self.pulses)
        self.record("burst", 48, 2)
        train = self.core_dma.get_handle("train")
        self.core.break_realtime()
        start = now_mu()
        self.trigger.pulse_mu(100)
        for _ in range(2):
            self.core_dma.playback_handle(train)
        self.core_dma.playback("burst")
        self.trigger.pulse_mu(100)
        print("length", now_mu() - start)
        self.core.wait_until_mu(now_mu())
        self.core_dma.erase("burst")
        try:
            self.core_dma.playback_handle(train)
        except DMAError:
            print("handle is gone")
        try:
            self.core_dma.playback("burst")
        except DMAError:
            print("trace is gone")
