"""Pulses and transfers of an SPI bus, at times determined only by the experiment."""

from artiq.coredevice.spi2 import SPI_END
from artiq.experiment import *


class Beside(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("spi_urukul0")

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        for n in range(200):
            self.ttl4.pulse((1 + n % 7) * us)
            self.spi_urukul0.set_config_mu(SPI_END, 24, 8, 1)
            self.spi_urukul0.write(n << 8)
            delay(30 * us)
        self.core.wait_until_mu(now_mu())
