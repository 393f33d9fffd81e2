"""An experiment that a worker runs before its points, so that all that is loaded by a first kernel, and by the first
arguments and datasets, is there when the worker is copied."""

import numpy as np

from ...experiment import (
    BooleanValue,
    EnumerationValue,
    EnvExperiment,
    NoScan,
    NumberValue,
    RangeScan,
    Scannable,
    StringValue,
)
from ...language import TInt32, kernel
from ...pyon import encode

__all__ = ["ARGUMENTS", "Warm"]

ARGUMENTS = [
    "number=20 us",
    "count=3",
    "flag=True",
    'text="a"',
    'choice="a"',
    f"scan={encode(NoScan(1.0).describe())}",
]
"""Of the experiment, as typed."""


class Warm(EnvExperiment):
    """Resets the core, after a use of each kind of argument and of the common datasets."""

    def build(self):
        self.setattr_device("core")
        self.setattr_argument("number", NumberValue(1e-6, unit="us"))
        self.setattr_argument("count", NumberValue(1, precision=0, step=1, type="int"))
        self.setattr_argument("flag", BooleanValue(False))
        self.setattr_argument("text", StringValue("b"))
        self.setattr_argument("choice", EnumerationValue(["a", "b"]))
        self.setattr_argument("scan", Scannable([NoScan(0.0), RangeScan(0.0, 1.0, 2)]))

    def run(self):
        self.set_dataset("points", np.full(2, np.nan), broadcast=True)
        self.set_dataset("list", [])
        self.mutate_dataset("points", 0, float(next(iter(self.scan))))
        self.append_to_dataset("list", self.number)
        self.play()

    @kernel
    def play(self):
        self.core.reset()
        self.report(self.count)

    def report(self, count) -> TInt32:
        """Answer a call."""
        return count
