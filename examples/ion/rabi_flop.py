"""Rabi oscillation of an ion: the excitation after a pulse, as a function of its length.

Each point is the fraction of shots in which the ion stays dark. The plot shows them with their
standard errors, and the fit of a damped oscillation, whose frequency is the Rabi frequency: 50 kHz
on the bench in this folder. The fit needs SciPy: pip install 'kairos[analysis]'.
"""

import numpy as np
from artiq.experiment import *
from scipy.optimize import curve_fit
from trap import THRESHOLD, Trap, binomial_errors

from kairos.pictures import COLORS, FONT, drawing, save


def oscillation(time, frequency, decay, offset, cosine, sine):
    """A damped oscillation around `offset`; frequency in Hz, decay in 1/s, time in seconds."""
    angle = 2 * np.pi * frequency * time
    return offset + np.exp(-decay * time) * (cosine * np.cos(angle) + sine * np.sin(angle))


def fit(times, values, errors):
    """Fits a damped oscillation to values at equidistant times; returns its frequency in Hz, the
    standard error, and the fitted function of times. Of fewer than six points, all are NaN."""
    if len(times) < 6:
        return np.nan, np.nan, lambda at: np.full(len(at), np.nan)
    # The start is the strongest component of the spectrum, interpolated by zeros.
    spectrum = np.abs(np.fft.rfft(values - np.mean(values), 8 * len(times)))
    frequencies = np.fft.rfftfreq(8 * len(times), times[1] - times[0])
    frequency, fastest = frequencies[1 + np.argmax(spectrum[1:-1])], 10 / times[-1]
    start = [frequency, fastest / 100, np.mean(values), -0.5, 0.0]
    bounds = [0, 0, -1, -1, -1], [frequencies[-1], fastest, 2, 1, 1]
    found, covariance = curve_fit(oscillation, times, values, start, errors, absolute_sigma=True, bounds=bounds,
                                  x_scale=[frequency, fastest, 1, 1, 1], max_nfev=10_000)  # fmt: skip
    return found[0], np.sqrt(covariance[0, 0]), lambda at: oscillation(at, *found)


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
