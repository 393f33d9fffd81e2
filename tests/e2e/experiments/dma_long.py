"""A recording for which there is not enough memory: refused at the first output without room."""

from artiq.coredevice.exceptions import DMAError
from artiq.coredevice.rtio import rtio_output_wide
from artiq.experiment import *


class TooLong(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")
        self.tried = 0

    @kernel
    def record(self):
        self.core.reset()
        words = [1] * 16
        with self.core_dma.record("long"):
            for n in range(1 << 24):
                self.tried = n
                rtio_output_wide(4 << 8, words)
                delay_mu(8)

    @kernel
    def short(self):
        self.core.reset()
        with self.core_dma.record("short"):
            self.ttl4.pulse_mu(800)
        self.core.break_realtime()
        self.core_dma.playback("short")

    def run(self):
        try:
            self.record()
        except DMAError as error:
            print("refused", str(error))
        self.short()
        print("short")
