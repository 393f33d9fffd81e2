"""State estimation with NumPy in a kernel: the detuning of the light from resonance, estimated from
single Ramsey shots. The kernel keeps an array with the probability of each of 64 detunings, and
multiplies it after each shot by the likelihood of the result. The plot shows the distribution after
several numbers of shots: it narrows around the true 3 kHz, marked by a line."""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, draw

GRID = 64
SPAN = 10 * kHz


class Estimation(Trap, EnvExperiment):
    """Bayes' rule in a kernel"""

    def build(self):
        self.build_trap()
        self.setattr_argument("detuning", NumberValue(3 * kHz, unit="kHz"))

    def prepare(self):
        self.detunings = np.linspace(0, SPAN, GRID)
        self.probability = np.full(GRID, 1.0 / GRID)
        self.history = [self.probability.copy()]

    @kernel
    def update(self, pause, dark):
        """Bayes' rule: multiplies the probability of each detuning by the likelihood of the
        result."""
        # The contrast lost during the pause and in detection; a quarter turn counts as 2/pi of its
        # length.
        contrast = 0.9 * np.exp(-pause / (300 * us))
        swing = 0.5 * contrast * np.cos(2.0 * np.pi * (pause + 4 / np.pi * 5 * us) * self.detunings)
        total = 0.0
        for i in range(GRID):
            likely = 0.5 + swing[i] if dark else 0.5 - swing[i]
            self.probability[i] *= likely
            total += self.probability[i]
        for i in range(GRID):
            self.probability[i] /= total

    @kernel
    def run(self):
        self.setup()
        self.qubit.set(80 * MHz + self.detuning)
        for shot in range(self.shots):
            pause = (20.0 + 20.0 * float(shot % 8)) * us
            self.core.break_realtime()
            self.cool()
            self.qubit.sw.pulse(5 * us)
            delay(pause)
            self.qubit.sw.pulse(5 * us)
            delay(2 * us)
            self.update(pause, self.detect() < THRESHOLD)
            if (shot & (shot + 1)) == 0:
                self.keep(self.probability)
        self.keep(self.probability)

    @rpc(flags={"async"})
    def keep(self, probability):
        self.history.append(np.array(probability))

    def analyze(self):
        mean = float(np.sum(self.detunings * self.history[-1]))
        width = float(np.sqrt(np.sum((self.detunings - mean) ** 2 * self.history[-1])))
        self.set_dataset("estimation.detuning_hz", mean)
        self.set_dataset("estimation.width_hz", width)
        print(f"detuning {mean / kHz:.2f} kHz, known to {width / kHz:.2f} kHz after {self.shots} shots")
        if self.figure:
            # Recorded after shots 1, 2, 4, 8, ...
            chosen = [(f"{2**n} shots", n + 1) for n in (2, 4, 6) if n + 2 < len(self.history)]
            chosen.append((f"{self.shots} shots", len(self.history) - 1))
            series = [(name, self.detunings / kHz, self.history[n], None) for name, n in chosen]
            series.append(("set", [self.detuning / kHz] * 2, [0, self.history[-1].max()], None))
            draw(self.figure, series, "detuning (kHz)", "probability", f"{mean / kHz:.2f} ± {width / kHz:.2f} kHz")
