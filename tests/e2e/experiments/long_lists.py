"""Long lists of numbers of every kind, read and changed by a kernel: transferred as they are in
memory."""

import numpy as np
from artiq.experiment import *

LENGTH = 2000


class LongLists(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.plain = list(range(-1000, LENGTH - 1000))
        self.wide = [2**40, *range(1, LENGTH)]
        self.floats = [n / 4 for n in range(LENGTH)]
        self.with_float = [0.5, *range(1, LENGTH)]
        self.int32 = [np.int32(n) for n in range(LENGTH)]
        self.int64 = [np.int64(n) for n in range(LENGTH)]
        self.with_int32 = [np.int32(7), *range(1, LENGTH)]

    def run(self):
        for name in ["plain", "wide", "floats", "with_float", "int32", "int64", "with_int32"]:
            values = getattr(self, name)
            print(name, self.total(values) == sum(value * (n % 7) for n, value in enumerate(values)))
        before = list(self.plain)
        self.change()
        before[1999] = before[3]
        print("changed", self.plain == before)

    @kernel
    def total(self, values) -> TFloat:
        total = 0.0
        for n in range(len(values)):
            total += values[n] * (n % 7)
        return total

    @kernel
    def change(self):
        self.plain[1999] = self.plain[3]
