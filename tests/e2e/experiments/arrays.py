"""NumPy arrays of the host in kernels: calibration matrices, waveforms, elements and rows written back,
arrays as arguments, from and to remote calls, and mathematical functions.
"""

import numpy as np
from artiq.experiment import *


class Arrays(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.matrix = np.array([[1.0, 0.5, 0.0], [0.0, 2.0, 0.25]])
        self.offsets = np.array([0.1, -0.2])
        self.counts = np.zeros((2, 4), dtype=np.int32)
        self.flags = np.array([True, False, True])
        self.times = np.arange(5)
        self.wave = np.linspace(0, 2 * np.pi, 8)

    def setpoints(self) -> TArray(TFloat):
        return np.array([1.0, 2.0, 4.0])

    def check(self, name, value):
        print(name, value.tolist(), value.dtype.name)

    @portable
    def polynomial(self, x: TFloat) -> TFloat:
        return np.sqrt(x) + np.arctan2(x, 2.0)

    @kernel
    def fill(self, target: TArray(TInt32, 2), start):
        for i in range(target.shape[0]):
            for j in range(len(target[i])):
                target[i, j] = start + 10 * i + j

    @kernel
    def run(self):
        self.core.reset()
        volts = self.matrix @ self.setpoints() + self.offsets
        self.check("volts", volts)
        self.fill(self.counts, 5)
        self.counts[1] = self.counts[0] * 2
        self.counts[0][-1] = 99
        self.check("times", self.times[1:4] * 2 - 1)
        self.times += 100
        total = 0.0
        for x in np.sin(self.wave) ** 2.0:
            total += x
        print("total", round(total * 1e6), self.polynomial(9.0))
        local = np.array([[i * j for j in range(3)] for i in range(2)])
        self.check("local", local)
        self.check("product", np.transpose(local) @ np.full((2, 2), 1))
        n = 0
        for flag in self.flags:
            if flag:
                n += 1
        print(n, local.shape, self.offsets / 0.1 == np.array([1.0, -2.0]), 3 in self.times, 103 in self.times)
        try:
            self.check("wrong", self.offsets + self.matrix[0])
        except ValueError:
            print("shapes differ")
        try:
            print(self.matrix[1, 3])
        except IndexError:
            print("out of bounds")

    def analyze(self):
        print(self.counts.tolist(), self.counts.dtype.name, self.times.tolist())
        print(self.polynomial(9.0))
