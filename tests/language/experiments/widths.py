"""Integers of undetermined width, in every place where the language allows them, on the device."""

import numpy as np
from artiq.experiment import *

N = 5
NUMBERS = [1, 2, 3]


class Bus:
    kernel_invariants = {"core"}

    def __init__(self, core):
        self.core = core
        self.value = 7

    @kernel
    def read(self):
        return self.value

    @kernel
    def write(self, data: TList(TInt32)) -> TInt32:
        return data[0] ^ data[1]


class Widths(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.bus = Bus(self.core)
        self.mixed = [1, 2**40]
        self.floats = [1, 2.5]
        self.empty = []

    @kernel
    def wide(self, x: TInt64 = 1) -> TInt64:
        return x

    @kernel
    def narrow(self, x: TInt32) -> TInt32:
        return x

    @kernel
    def total(self, x: TList(TInt64)) -> TInt64:
        return x[0] + x[1]

    @kernel
    def pair(self, x: TTuple([TInt64, TFloat])) -> TInt64:
        a, b = x
        return a + np.int64(b)

    @kernel
    def deadline(self, timeout_mu=-1):
        return timeout_mu

    @kernel
    def first(self, a: TInt32, t: TInt64):
        print(self.wide(), self.wide(N), self.total(NUMBERS), self.deadline(), self.deadline(t + 1))
        later = -1
        if t > 0:
            later = now_mu() - now_mu() + t
        print(later, self.total(self.mixed), self.floats[0], len(self.empty))
        value = 0
        value |= self.bus.read()
        value ^= 2
        value <<= 4
        value >>= 1
        value &= 0xFF
        print(value)
        print(self.narrow(0x80000008 | (a & 7) << 28), self.bus.write([0x80000000 | a, 0xFFFFFFFE]))
        print(self.narrow(t & 0xFF), self.narrow(t << 8), self.narrow(t + 1), self.narrow(t // 7))

    def run(self):
        self.first(5, 2**40 + 1000)
        print(self.wide(5), self.total([1, 2]), self.pair((1, 2.0)), self.narrow(0xFFFFFFFF))
