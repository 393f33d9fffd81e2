"""A Zotino and a Sampler through the real chain: settings are read back, and one measures the
other's output."""

from artiq.coredevice.ad53xx import (
    AD53XX_READ_CONTROL,
    AD53XX_READ_GAIN,
    AD53XX_READ_OFFSET,
    AD53XX_READ_X1A,
)
from artiq.coredevice.spi2 import SPI_CLK_PHASE, SPI_END
from artiq.experiment import *


class Converters(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("zotino0")
        self.setattr_device("sampler0")

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        self.zotino0.init()
        delay(1 * ms)
        self.zotino0.write_gain_mu(5, 0x7FFF)
        self.zotino0.write_offset_mu(5, 0x9000)
        self.zotino0.set_leds(0xA5)
        delay(100 * us)
        self.zotino0.set_dac([0.5, -3.0], [0, 3])
        delay(100 * us)
        words = [
            self.read(AD53XX_READ_X1A, 3),
            self.read(AD53XX_READ_GAIN, 5),
            self.read(AD53XX_READ_OFFSET, 5),
            self.read(AD53XX_READ_CONTROL, 0),
        ]
        self.core.break_realtime()
        self.sampler0.init()
        for channel in range(8):
            self.sampler0.set_gain_mu(channel, channel % 2)
            delay(20 * us)
        gains = self.sampler0.get_gains_mu()
        self.core.break_realtime()
        volts = [0.0] * 8
        self.sampler0.sample(volts)
        self.set_dataset("words", words)
        self.set_dataset("gains", gains)
        self.set_dataset("volts", volts)

    @kernel
    def read(self, register, channel) -> TInt32:
        self.core.break_realtime()
        return self.zotino0.read_reg(channel, register)


class Alone(EnvExperiment):
    """Two DACs on a bus: the one on its second line without LDAC, then the one on its first line."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("near")
        self.setattr_device("far")
        self.setattr_device("sampler0")

    @kernel
    def run(self):
        self.core.reset()
        self.far.init()
        self.core.break_realtime()
        self.far.write_dac_mu(15, 0xA007)
        far = self.far.read_reg(15)
        self.core.break_realtime()
        self.near.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.near.set_dac([1.0, -2.0], [0, 39])
        delay(100 * us)
        near = self.near.read_reg(39)
        self.core.break_realtime()
        self.set_dataset("words", [near, far])
        self.sampler0.init()
        volts = [0.0] * 8
        self.sampler0.sample(volts)
        self.set_dataset("volts", volts)


class Alternating(EnvExperiment):
    """Two DACs on a bus, written in turn."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("near")
        self.setattr_device("far")

    @kernel
    def run(self):
        self.core.reset()
        self.far.init()
        self.core.break_realtime()
        self.near.init()
        self.core.break_realtime()
        delay(1 * ms)
        for n in range(3):
            self.near.write_dac(n, 1.0 + n)
            self.far.write_dac(n, -1.0 - n)
            self.near.write_dac(8 + n, 1.5 + n)
        self.near.load()
        delay(100 * us)
        self.far.set_dac([2.0, 2.5], [4, 5])
        delay(10 * us)
        self.near.set_dac([3.0], [4])
        delay(100 * us)


class TooFast(EnvExperiment):
    """Violations of the data sheets, and a missing wire."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("sampler0")
        self.setattr_device("spi_sampler0_adc")
        self.zotino = self.get_device("dio_spi0")
        self.cnv = self.get_device("ttl_sampler0_cnv")

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        self.sampler0.init()
        self.cnv.pulse(16 * ns)
        delay(16 * ns)
        self.spi_sampler0_adc.write(0)
        self.zotino.set_config_mu(SPI_CLK_PHASE | SPI_END, 16, 4, 1)
        delay(100 * us)
        self.zotino.write(0)
        delay(100 * us)
