from artiq.experiment import *


class Blink(EnvExperiment):
    """Two outputs blink together; the host says how long the first pulse lasts, and each later one is longer."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")
        self.setattr_argument("pulses", NumberValue(5, precision=0, step=1, type="int"))

    def shortest_pulse(self) -> TFloat:
        """Runs on the host, whoever calls it: a kernel receives the result over the network."""
        return 2 * us

    @kernel
    def run(self):
        self.core.reset()
        length = self.shortest_pulse()
        # The call took time, so the time cursor may be in the past by now.
        self.core.break_realtime()
        for i in range(self.pulses):
            with parallel:
                self.ttl4.pulse((i + 1) * length)
                with sequential:
                    delay(1 * us)
                    self.ttl5.pulse(length)
            delay(3 * us)
        self.core.wait_until_mu(now_mu())
        print("blinked", self.pulses, "times")
