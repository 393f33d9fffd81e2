"""Fastino: a ramp of 32 channels, hold and update, and the card's configuration."""

from artiq.experiment import *


class Ramp(EnvExperiment):
    """Channel 5 rises from -9 V to 9 V in steps of 2 V, one per frame; then 6 V are held and
    updated."""

    def build(self):
        self.setattr_device("core")
        self.fastino = self.get_device("fastino0")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.fastino.init()
        self.fastino.set_leds(0x5A)
        delay(1 * ms)
        for n in range(10):
            self.fastino.set_group(4, [0.0, 2.0 * n - 9.0, 0.0, 0.0])
            delay_mu(self.fastino.t_frame)
        delay(10 * us)
        self.fastino.set_hold(1 << 5)
        delay_mu(self.fastino.t_frame)
        self.fastino.set_group(4, [1.0, 6.0, 0.0, 0.0])
        delay(10 * us)
        self.ttl4.pulse(1 * us)
        self.fastino.update(1 << 5)
        delay(10 * us)
        self.fastino.stage_cic_mu(3, 2, 1)
        delay_mu(self.fastino.t_frame)
        self.fastino.apply_cic(1 << 5)
        delay(10 * us)
        self.fastino.set_cfg(afe_power_down=1)
        delay(10 * us)
        self.fastino.set_cfg()
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Clear(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.fastino = self.get_device("fastino0")

    @kernel
    def run(self):
        self.core.reset()
        self.fastino.init()
        self.fastino.set_group(4, [0.0, 5.0, 0.0, 0.0])
        delay(10 * us)
        self.fastino.set_cfg(dac_clr=1)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())


class Refused(EnvExperiment):
    """Each error of the driver, selected by `what`."""

    def build(self):
        self.setattr_device("core")
        self.fastino = self.get_device("fastino0")
        self.what = self.get_argument("what", StringValue("volts"))

    def run(self):
        getattr(self, self.what)()

    @kernel
    def volts(self):
        self.core.reset()
        self.fastino.set_dac(0, 10.1)

    @kernel
    def group(self):
        self.core.reset()
        self.fastino.set_group(1, [0.0, 0.0])

    @kernel
    def read(self):
        self.core.reset()
        self.fastino.read(0)
