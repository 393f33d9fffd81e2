from artiq.experiment import *


class WaitOneSecond(EnvExperiment):
    """Two pulses, one second apart. The emulator skips the time in between."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(10 * us)
        delay(1 * s)
        self.ttl4.pulse(10 * us)
        self.core.wait_until_mu(now_mu())
