"""Statements."""

import numpy as np

from kairos.language import TFloat, TInt64, TList, kernel, watchdog

from .marks import Marks


class SliceAsAugmentedTarget(Marks):
    def build(self):
        self.a = np.array([1, 2, 3, 4, 5, 6])
        self.m = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        self.b = np.array([10, 20, 30, 40])

    @kernel
    def run(self):
        self.a[0:4] += self.b
        self.a[2:] *= 2
        self.a[:-4] -= self.a[-2:]
        self.m[1:] /= 2.0
        self.m[:1] += self.m[2:]
        self.mark(self.a, self.m)


class SliceOfWrongLengthAsAugmentedTarget(Marks):
    EXPECTED = [("ValueError", "operands could not be broadcast together")]

    def build(self):
        self.a = np.array([1, 2, 3])
        self.b = np.array([1, 2, 3])

    @kernel
    def run(self):
        self.a[0:2] += self.b


class AnnotatedAssignment(Marks):
    @kernel
    def run(self):
        x: TInt64 = 1
        y: TFloat
        y = 2.0
        z: TList(TInt64) = []
        z = [x << 40]
        w: np.int64 = 5
        self.mark(x << 33, y, z, w << 33)


class Watchdog(Marks):
    @kernel
    def run(self):
        with watchdog(1.0):
            self.mark("inside")
        for i in range(3):
            with watchdog(0.5):
                if i == 1:
                    break
                self.mark(i)
