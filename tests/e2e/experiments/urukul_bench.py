"""An Urukul through the real chain: settings are read back from the chips on the bench."""

from artiq.coredevice.rtio import rtio_input_timestamp
from artiq.coredevice.spi2 import SPI_CS_POLARITY, SPI_END
from artiq.experiment import *
from numpy import int64


class ReadBack(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch2")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.cpld.set_profile(2, 3)
        self.dds.set(81.25 * MHz, phase=0.25, amplitude=0.5, profile=3)
        self.dds.set_att(6.5)
        self.dds.sw.on()
        self.core.break_realtime()
        frequency, phase, amplitude = self.dds.get(profile=3)
        self.core.break_realtime()
        attenuation = self.dds.get_att()
        self.core.break_realtime()
        # Otherwise the frequency in use is read.
        self.dds.set_cfr2(effective_ftw=0)
        self.dds.set_ftw(0x12345678)
        self.dds.io_update.pulse_mu(8)
        word = self.dds.get_ftw()
        self.core.break_realtime()
        status = self.cpld.sta_read()
        ram = [0] * 5
        self.core.break_realtime()
        delay(1 * ms)
        self.cpld.set_profile(2, 0)
        self.dds.set_profile_ram(start=10, end=14, profile=0)
        self.dds.io_update.pulse_mu(8)
        self.dds.write_ram([1, 2, 3, 4, -5])
        delay(1 * ms)
        self.dds.read_ram(ram)
        print(frequency, phase, amplitude, attenuation, word == 0x12345678, status & 0xF, status >> 16, ram)


class NoClock(EnvExperiment):
    """The clock selected by the configuration is missing."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch0")

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()


class Inputs(EnvExperiment):
    """Edges of a loopback: their times, also for a core that waits without a limit, and dark
    counts."""

    def build(self):
        self.setattr_device("core")
        for name in ("ttl0", "ttl1", "ttl4"):
            self.setattr_device(name)

    @kernel
    def run(self):
        self.core.reset()
        self.ttl1.input()
        delay(1 * us)
        begin = now_mu()
        delay(200 * us)
        self.ttl4.pulse(103 * ns)
        at_mu(begin)
        end = self.ttl1.gate_both(300 * us)
        rising = self.ttl1.timestamp_mu(end) - begin
        falling = self.ttl1.timestamp_mu(end) - begin
        self.core.break_realtime()
        counted = self.ttl0.count(self.ttl0.gate_rising(10 * ms))
        print(rising, falling, self.ttl1.timestamp_mu(end), counted)
        self.core.break_realtime()
        self.ttl0.gate_rising(100 * ms)
        print("photon", rtio_input_timestamp(int64(-1), self.ttl0.channel) > end)


class Faults(EnvExperiment):
    """Operations that cannot be intended: each such line is reported."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.cpld = self.get_device("urukul0_cpld")
        self.dds = self.get_device("urukul0_ch2")
        self.bus = self.get_device("spi_urukul0")

    @kernel
    def set_without_update(self):
        self.dds.write64(0x15, 0x3FFF0000, 0x12345678)  # no update

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 16, 8, 0)
        self.bus.write(0x12345678)  # no chip select
        delay(10 * us)
        self.bus.set_config_mu(SPI_END | SPI_CS_POLARITY, 20, 8, 4)
        delay(10 * us)
        self.bus.write(0x12345678)  # cut
        delay(10 * us)
        self.ttl0.output()  # driven twice
        delay(1 * us)
        self.ttl0.pulse(1 * us)
        self.set_without_update()
        self.core.wait_until_mu(now_mu() + 10000)


class Shutter(EnvExperiment):
    """A user-defined model, as in docs/bench.md: it opens and closes with given delays."""

    def build(self):
        self.setattr_device("core")
        for name in ("ttl3", "ttl5"):
            self.setattr_device(name)

    def prepare(self):
        self.set_dataset("before", 1)

    @kernel
    def run(self):
        self.core.reset()
        self.ttl3.input()
        delay(300 * us)
        begin = now_mu()
        self.ttl5.pulse(300 * us)
        at_mu(begin)
        end = self.ttl3.gate_both(600 * us)
        print(self.ttl3.timestamp_mu(end) - begin, self.ttl3.timestamp_mu(end) - begin)
