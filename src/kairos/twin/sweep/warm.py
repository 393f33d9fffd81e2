"""A kernel that a worker runs before its points, so that all that is loaded by a first kernel is there when the
worker is copied."""

from ...experiment import EnvExperiment
from ...language import kernel

__all__ = ["Warm"]


class Warm(EnvExperiment):
    """Resets the core."""

    def build(self):
        self.setattr_device("core")

    @kernel
    def run(self):
        self.core.reset()
