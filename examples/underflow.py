from artiq.experiment import *


class Underflow(EnvExperiment):
    """Asks for an output in the past. The kernel ends with RTIOUnderflow, which names the channel and the line."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.on()
        delay(-1 * ms)
        self.ttl4.off()
