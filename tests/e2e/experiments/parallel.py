"""Cards that a laboratory may have besides those of Kasli: AD9914 on a parallel bus, a Shuttler's
relays and ADC."""

from artiq.experiment import *


class Tones(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.dds = self.get_device("dds1")
        self.mark = self.get_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.dds.reset_all()
        delay(1 * us)
        self.dds.init()
        delay(10 * us)
        self.dds.set(400 * MHz, phase=0.25, amplitude=0.5)
        self.mark.on()
        delay(3 * us)
        self.dds.set(750 * MHz, phase_mode=1)
        delay(3 * us)
        self.dds.set_x(123456789.015625)
        delay(3 * us)
        self.dds.exit_x()
        delay(1 * us)
        self.core.wait_until_mu(now_mu())


class Wrong(EnvExperiment):
    """Invalid requests to an AD9914, selected by `what`."""

    def build(self):
        self.setattr_device("core")
        self.dds = self.get_device("dds1")
        self.what = self.get_argument("what", StringValue("raw"))

    def run(self):
        getattr(self, self.what)()

    @kernel
    def raw(self):
        self.core.reset()
        self.dds.set(400 * MHz)
        self.core.wait_until_mu(now_mu())

    @kernel
    def sync(self):
        self.core.reset()
        self.dds.reset_all()
        delay(1 * us)
        self.dds.init_sync(3)
        self.core.wait_until_mu(now_mu())

    @kernel
    def frequency(self):
        self.core.reset()
        self.dds.set(1.5 * GHz)

    @kernel
    def amplitude(self):
        self.core.reset()
        self.dds.set(1 * GHz, amplitude=1.5)


class MissingChip(EnvExperiment):
    """An AD9914 at a position of the bus without a chip."""

    def build(self):
        self.setattr_device("core")
        self.dds = self.get_device("missing")

    @kernel
    def run(self):
        self.core.reset()
        self.dds.set(400 * MHz)
        delay(1 * us)
        self.core.wait_until_mu(now_mu())


class Shuttler(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.relay = self.get_device("shuttler0_relay")
        self.adc = self.get_device("shuttler0_adc")

    @kernel
    def run(self):
        self.core.reset()
        self.relay.init()
        self.relay.enable(0xA5C3)
        delay(10 * us)
        self.adc.reset()
        number = self.adc.read_id()
        self.core.break_realtime()
        self.adc.write16(0x10, 0x8000 | 3 << 5 | 16)
        self.adc.write16(0x28, 0)
        self.adc.single_conversion()
        busy = self.adc.read8(0)
        self.core.break_realtime()
        delay(50 * us)
        ready = self.adc.read8(0)
        self.core.break_realtime()
        code = self.adc.read_data()
        self.core.break_realtime()
        self.adc.power_down()
        self.adc.standby()
        self.adc.power_up()
        mode = self.adc.read16(1)
        self.set_dataset("read", [number, busy, ready, code, mode])
        self.core.break_realtime()
        self.relay.enable(1)
        self.core.wait_until_mu(now_mu())
