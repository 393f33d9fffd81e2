"""Kernels whose numbers change from call to call: the compiler makes them data, and results stay those of Python."""

from artiq.experiment import *


class Part:
    kernel_invariants = {"gain"}

    def __init__(self, gain, offset):
        self.gain, self.offset = gain, offset


class ScannedNumbers(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("start", NumberValue(1.5))
        self.setattr_argument("repeats", NumberValue(3, type="int", step=1, precision=0))
        self.parts = [Part(2, 0.5), Part(2, 0.25)]
        self.detuning, self.count, self.on, self.wide = 0.0, 0, False, 0
        self.calls = 0

    @kernel
    def point(self, x, y=2) -> TFloat:
        total = self.detuning * self.start
        for i in range(self.count % self.repeats):
            total += float(i)
        if self.on:
            total += float(self.wide)
        for part in self.parts:
            total += part.offset * float(part.gain)
        self.calls += 1
        return total + float(x * y)

    @kernel
    def interleaved(self) -> TInt64:
        """A delay that the compiler must know."""
        self.core.break_realtime()
        begun = now_mu()
        with interleave:
            with sequential:
                delay_mu(int64(self.count))
                delay_mu(8)
            delay_mu(3)
        return now_mu() - begun

    def expected(self, x, y):
        total = self.detuning * self.start
        for i in range(self.count % self.repeats):
            total += i
        total += self.wide if self.on else 0
        for part in self.parts:
            total += part.offset * part.gain
        return total + x * y

    def run(self):
        for number in range(6):
            self.detuning, self.count, self.on = number / 3, number * 7, number % 2 == 1
            self.wide = -(number << 35) if number > 2 else number
            self.start += 0.25
            self.repeats = number + 1
            self.parts[0].offset = number * 0.125
            self.parts[1].gain = 2 + number // 3
            x = number * 11 - 30 if number < 5 else 1 << 20
            assert self.point(x) == self.expected(x, 2), number
            assert self.point(x, y=number) == self.expected(x, number), number
            assert self.interleaved() == self.count + 8
        assert self.calls == 12
        print("as in Python")
