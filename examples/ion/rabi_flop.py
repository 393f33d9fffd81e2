"""Rabi oscillation of an ion: the excitation after a pulse, as a function of its length.

Each point is the fraction of shots in which the ion stays dark. The plot shows them with their
standard errors, and the fit of a damped oscillation, whose frequency is the Rabi frequency: 50 kHz
on the bench in this folder.
"""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors

from kairos.pictures import COLORS, FONT, drawing, save


def fit(times, values, errors):
    """Fits a damped oscillation; returns its frequency in Hz, the standard error, and the fitted
    function of times.

    For a given frequency and decay the fit is linear; these two are searched on a grid that is
    refined.
    """
    weights = 1 / errors

    def model(frequency, decay, at):
        envelope = np.exp(-decay * at)
        angle = 2 * np.pi * frequency * at
        return np.stack([np.ones_like(at), envelope * np.cos(angle), envelope * np.sin(angle)], axis=1)

    def solve(frequency, decay):
        matrix = model(frequency, decay, times) * weights[:, None]
        solution = np.linalg.lstsq(matrix, values * weights, rcond=None)[0]
        return np.sum((matrix @ solution - values * weights) ** 2), solution

    span = times[-1] - times[0]
    best = (0.0, 0.0)
    widths = (len(times) / (2 * span), 5 / span)
    centre = (widths[0] / 2, widths[1] / 2)
    for _ in range(6):
        grid = [np.linspace(max(0.0, c - w / 2), c + w / 2, 61) for c, w in zip(centre, widths, strict=True)]
        best = min(((f, d) for f in grid[0][1:] for d in grid[1]), key=lambda at: solve(*at)[0])
        centre, widths = best, tuple(w / 8 for w in widths)
    frequency, decay = best
    # The sum of squares is a parabola near its minimum; an increase by one is a standard error.
    step = 0.01 / span
    least, solution = solve(frequency, decay)
    curvature = solve(frequency + step, decay)[0] + solve(frequency - step, decay)[0] - 2 * least
    error = step * np.sqrt(2 / curvature) if curvature > 0 else np.inf
    return frequency, error, lambda at: model(frequency, decay, at) @ solution


class RabiFlop(Trap, EnvExperiment):
    """Rabi flop: scans the length of the pulse"""

    def build(self):
        self.build_trap()
        self.setattr_device("ccb")
        self.setattr_argument("points", NumberValue(50, precision=0, step=1, type="int"))
        self.setattr_argument("longest", NumberValue(60 * us, unit="us"))

    def prepare(self):
        self.lengths = np.linspace(0, self.longest, self.points)
        self.set_dataset("rabi.length_s", self.lengths, broadcast=True, unit="us", scale=us)
        for name in ("excitation", "error", "fit"):
            self.set_dataset(f"rabi.{name}", np.full(self.points, np.nan), broadcast=True)
        curve = "plot_xy rabi.excitation --x rabi.length_s --error rabi.error --fit rabi.fit --title 'Rabi flop'"
        self.ccb.issue("create_applet", "excitation", "${artiq_applet}" + curve)

    @kernel
    def shot(self, length) -> TInt32:
        """Prepares, drives the qubit, detects; returns the photons counted."""
        self.cool()
        self.qubit.sw.pulse(length)
        delay(2 * us)
        return self.detect()

    @rpc(flags={"async"})
    def record(self, point, dark):
        self.mutate_dataset("rabi.excitation", point, dark / self.shots)

    @kernel
    def run(self):
        self.setup()
        for point in range(len(self.lengths)):
            self.core.break_realtime()
            dark = 0
            for _ in range(self.shots):
                if self.shot(self.lengths[point]) < THRESHOLD:
                    dark += 1
            self.record(point, dark)
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        excitation = self.get_dataset("rabi.excitation")
        errors = binomial_errors(excitation, self.shots)
        frequency, error, curve = fit(self.lengths, excitation, errors)
        self.set_dataset("rabi.error", errors, broadcast=True)
        self.set_dataset("rabi.fit", curve(self.lengths), broadcast=True)
        self.set_dataset("rabi.frequency_hz", frequency)
        print(f"Rabi frequency {frequency / kHz:.2f} kHz, standard error {error / kHz:.2f} kHz")
        if self.figure:
            self.draw(excitation, errors, curve, f"Rabi frequency {frequency / kHz:.2f} ± {error / kHz:.2f} kHz")
            print(f"wrote {self.figure}")

    def draw(self, excitation, errors, curve, title):
        fine = np.linspace(0, self.longest, 500)
        with drawing(**FONT) as pyplot:
            figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
            axes.plot(fine / us, curve(fine), color=COLORS[0], label="fit")
            points = {"fmt": "o", "markersize": 4, "capsize": 2, "color": COLORS[1]}
            axes.errorbar(self.lengths / us, excitation, errors, label=f"{self.shots} shots each", **points)
            axes.set(xlabel="length of the pulse (µs)", ylabel="excitation", ylim=(-0.05, 1.2), title=title)
            axes.legend(loc="upper right", ncols=2)
            axes.grid(alpha=0.3)
            save(figure, self.figure, dpi=120)
