"""Wiring faults, each as encountered by a kernel."""

from artiq.coredevice.chips.ad9912 import FREQUENCY
from artiq.coredevice.spi2 import SPI_CS_POLARITY, SPI_END
from artiq.experiment import *
from numpy import int32


class Dac(EnvExperiment):
    """A message to a Zotino with an unconnected chip select."""

    def build(self):
        self.setattr_device("core")
        self.bus = self.get_device("dio_spi0")

    @kernel
    def run(self):
        self.core.reset()
        self.bus.set_config_mu(0, 24, 16, 4)
        self.bus.write(0x123456 << 8)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Adc(EnvExperiment):
    """A Sampler whose amplifiers are not selected."""

    def build(self):
        self.setattr_device("core")
        self.adc = self.get_device("sampler0")
        self.bus = self.get_device("spi_sampler0_pgia")

    @kernel
    def run(self):
        self.core.reset()
        self.bus.set_config_mu(0, 16, 16, 0)
        self.bus.write(0x5555 << 16)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Selects(EnvExperiment):
    """Messages to an AD9912 with a chip select without a chip, and a truncated one."""

    def build(self):
        self.setattr_device("core")
        self.bus = self.get_device("spi_urukul0")

    @kernel
    def run(self):
        self.core.reset()
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 16, 8, 0)
        self.bus.write(FREQUENCY.address << 16)  # no chip
        delay(10 * us)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 20, 8, 5)
        self.bus.write(FREQUENCY.address << 16)  # cut
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Crossed(EnvExperiment):
    """A tone of one channel whose driver closes the switch of another channel."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("light")
        self.dds = self.get_device("crossed")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set(100 * MHz)
        self.dds.sw.on()
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Synthesiser(EnvExperiment):
    """An AD9912: a frequency without a clock, then one that no update applies."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("light")
        self.dds = self.get_device("beam")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set(100 * MHz)
        delay(10 * us)
        self.dds.write(FREQUENCY.address, int32(0x1234), 2)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())
