"""Experiments of a laboratory's repository that a rehearsal passes, and refuses."""

__all__ = ["KERNELS", "LATE"]

KERNELS = """from artiq.experiment import *


class Fine(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)


class Late(Fine):
    def build(self):
        super().build()
        self.setattr_argument("early", NumberValue(0.0, unit="ms"))
        self.lead = self.early

    def prepare(self):
        self.lead += self.get_dataset("lead", 0.0)

    @kernel
    def run(self):
        self.core.reset()
        delay(-1 * ms + self.lead)
        self.ttl4.pulse(1 * us)
"""

LATE = KERNELS.splitlines().index("        delay(-1 * ms + self.lead)") + 2
"""Line of the output that is too late."""
