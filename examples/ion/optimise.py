"""Optimisation driven by the host: a kernel asks by RPC for the next pulse length to try, measures,
and reports the result; the host searches for the maximum excitation by golden sections. The points
converge to half a turn, 10 us."""

import math

from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors, draw

GOLDEN = (math.sqrt(5) - 1) / 2


class Optimise(Trap, EnvExperiment):
    """The length of a pulse, found by the host"""

    def build(self):
        self.build_trap()
        self.setattr_argument("rounds", NumberValue(10, precision=0, step=1, type="int"))

    def prepare(self):
        self.low, self.high = 2 * us, 18 * us
        self.tried: list[tuple[float, float]] = []
        self.measured: dict[float, float] = {}

    def inner(self):
        """Both interior points that the golden section search compares."""
        width = GOLDEN * (self.high - self.low)
        return self.high - width, self.low + width

    def ask(self) -> TFloat:
        return next((length for length in self.inner() if length not in self.measured), self.inner()[0])

    def report(self, length, dark):
        self.tried.append((length, dark / self.shots))
        self.measured[length] = dark / self.shots
        left, right = self.inner()
        if left in self.measured and right in self.measured:
            if self.measured[left] > self.measured[right]:
                self.high = right
            else:
                self.low = left
            # Points that are compared again keep their exact value, regardless of rounding.
            nearest = {old: min(self.inner(), key=lambda at: abs(at - old)) for old in self.measured}
            self.measured = {at: self.measured[old] for old, at in nearest.items() if abs(at - old) < 1e-9 * us}

    @kernel
    def run(self):
        self.setup()
        for _ in range(self.rounds):
            length = self.ask()
            dark = 0
            for _ in range(self.shots):
                self.core.break_realtime()
                self.cool()
                self.qubit.sw.pulse(length)
                delay(2 * us)
                if self.detect() < THRESHOLD:
                    dark += 1
            self.report(length, dark)

    def analyze(self):
        best = (self.low + self.high) / 2
        self.set_dataset("optimise.length_s", best)
        self.set_dataset("optimise.tried", self.tried)
        print(f"half a turn takes {best / us:.2f} us, after {len(self.tried)} lengths")
        if self.figure:
            lengths, found = zip(*self.tried, strict=True)
            points = ("tried", [length / us for length in lengths], found, binomial_errors(found, self.shots))
            draw(self.figure, [points], "length of the pulse (µs)", "excitation", f"best {best / us:.2f} µs")
