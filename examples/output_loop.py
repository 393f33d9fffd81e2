from artiq.experiment import *


class OutputLoop(EnvExperiment):
    """As many output events as the kernel can submit: what one costs is the time of the loop divided by its turns."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_argument("events", NumberValue(1000, precision=0, step=1, type="int"))

    @kernel
    def run(self):
        self.core.reset()
        # Far enough ahead that no event becomes due while others are submitted.
        delay(10 * ms)
        start = self.core.get_rtio_counter_mu()
        for _ in range(self.events):
            self.ttl4.off()
            delay_mu(8)
        duration = self.core.get_rtio_counter_mu() - start
        self.set_dataset("duration_mu", duration)
        self.core.wait_until_mu(now_mu())
