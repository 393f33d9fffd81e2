"""Ramsey fringes: two quarter turns with a pause; the excitation oscillates with the phase of the
second one, with a contrast that decays with the pause as exp(-t/T), where T is the coherence time
of bench.toml, 300 us. Lines are the fits of a cosine.

The fit needs SciPy: pip install 'kairos[analysis]'.
"""

import numpy as np
from artiq.experiment import *
from scipy.linalg import lstsq
from trap import THRESHOLD, Trap, binomial_errors, draw

from kairos.pictures import COLORS


def terms(phase):
    """Terms of a fringe at phases in turns, whose sum is the excitation: offset, cosine and sine."""
    turns = 2 * np.pi * np.asarray(phase)
    return np.stack([np.ones_like(turns), np.cos(turns), np.sin(turns)], axis=-1)


class Ramsey(Trap, EnvExperiment):
    """Ramsey fringes after a short and a long pause"""

    def build(self):
        self.build_trap()
        self.setattr_argument("points", NumberValue(13, precision=0, step=1, type="int"))
        self.setattr_argument("pauses", PYONValue([10e-6, 200e-6]))

    def prepare(self):
        self.phases = [float(phase) for phase in np.linspace(0, 1, self.points)]
        self.set_dataset("ramsey.excitation", np.full(len(self.pauses) * self.points, np.nan))

    @kernel
    def shot(self, pause, phase) -> TInt32:
        self.qubit.set(80 * MHz, phase=0.0)
        self.cool()
        self.qubit.sw.pulse(5 * us)
        delay(pause / 2)
        self.qubit.set(80 * MHz, phase=phase)
        delay(pause / 2)
        self.qubit.sw.pulse(5 * us)
        delay(2 * us)
        return self.detect()

    @kernel
    def run(self):
        self.setup()
        self.qubit.set_phase_mode(2)  # tracking: phases refer to one clock, regardless of when they are set
        for i in range(len(self.pauses)):
            for j in range(len(self.phases)):
                dark = 0
                for _ in range(self.shots):
                    self.core.break_realtime()
                    if self.shot(self.pauses[i], self.phases[j]) < THRESHOLD:
                        dark += 1
                self.record(i * len(self.phases) + j, dark)
        self.core.wait_until_mu(now_mu())

    @rpc(flags={"async"})
    def record(self, point, dark):
        self.mutate_dataset("ramsey.excitation", point, dark / self.shots)

    def analyze(self):
        excitation = self.get_dataset("ramsey.excitation").reshape(len(self.pauses), -1)
        fits = [lstsq(terms(self.phases), row)[0] for row in excitation]
        swings = [2 * np.hypot(*fit[1:]) for fit in fits]
        self.set_dataset("ramsey.contrast", np.array(swings))
        for pause, swing in zip(self.pauses, swings, strict=True):
            print(f"contrast after {pause / us:.0f} us: {swing:.2f}")
        if self.figure:
            series = [
                (f"pause of {pause / us:.0f} µs", self.phases, row, binomial_errors(row, self.shots))
                for pause, row in zip(self.pauses, excitation, strict=True)
            ]
            fine = np.linspace(0, 1, 200)
            series += [
                (f"contrast {swing:.2f}", fine, terms(fine) @ fit, None)
                for swing, fit in zip(swings, fits, strict=True)
            ]
            draw(self.figure, series, "phase of the second pulse (turns)", "excitation", "Ramsey fringes",
                 colors=COLORS[: len(self.pauses)] * 2)  # fmt: skip
