"""Experiments that use drivers of cards, all on an output channel of the demo, which accepts the
same events."""

from artiq.experiment import *

from kairos.devices import DeviceDB, DeviceManager

CHANNEL = 5


def local(module, driver, **arguments):
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": driver, "arguments": arguments}


ENTRIES = {
    "spi": local("spi2", "SPIMaster", channel=CHANNEL),
    "out": local("ttl", "TTLOut", channel=CHANNEL),
    "cpld": local("urukul", "CPLD", spi_device="spi", io_update_device="out"),
    "dds": local("ad9910", "AD9910", chip_select=5, cpld_device="cpld", pll_n=32),
    "zotino": local("zotino", "Zotino", spi_device="spi", ldac_device="out"),
    "fastino": local("fastino", "Fastino", channel=CHANNEL),
}


class Cards(EnvExperiment):
    """Loops around a driver method, `number` times; the kernels obtain numbers from the host, so
    that the compiler cannot know them."""

    def build(self):
        self.setattr_device("core")
        devices = DeviceManager(DeviceDB(ENTRIES), {"core": self.core})
        for name in ("cpld", "dds", "zotino", "fastino"):
            setattr(self, name, devices.get(name))
        self.number = 0

    def how_often(self) -> TInt32:
        return self.number

    def a_word(self) -> TInt32:
        return 0x123456

    def a_value(self) -> TFloat:
        return 0.25

    @kernel
    def ad9910_set(self):
        number, value = self.how_often(), self.a_value()
        self.core.reset()
        for _ in range(number):
            self.dds.set(value * 1e8, value, value)
            delay_mu(1000)

    @kernel
    def ad9910_set_mu(self):
        number, word = self.how_often(), self.a_word()
        self.core.reset()
        for _ in range(number):
            self.dds.set_mu(word, word & 0xFFFF, word & 0x3FFF)
            delay_mu(1000)

    @kernel
    def urukul_cfg_sw(self):
        number = self.how_often()
        self.core.reset()
        for i in range(number):
            self.cpld.cfg_sw(i & 3, i & 4 != 0)
            delay_mu(1000)

    @kernel
    def zotino_write_dac(self):
        number, value = self.how_often(), self.a_value()
        self.core.reset()
        for i in range(number):
            self.zotino.write_dac(i & 31, value)
            delay_mu(1000)

    @kernel
    def fastino_set_dac(self):
        number, value = self.how_often(), self.a_value()
        self.core.reset()
        for i in range(number):
            self.fastino.set_dac(i & 31, value)
            delay_mu(1000)
