"""Common parts of the experiments in this folder: beams, preparation and detection, and a plot of
points with error bars and a curve."""

import numpy as np
from artiq.experiment import *

from kairos.pictures import COLORS, FONT, drawing, save


def binomial_errors(excitation, shots):
    """Standard errors, as if one more shot of each outcome had been observed: never zero."""
    probability = (np.asarray(excitation) * shots + 1) / (shots + 2)
    return np.sqrt(probability * (1 - probability) / shots)


def draw(path, curve, points, **axis):
    """Writes a plot of a curve, (label, x, y), and of points, (label, x, y, errors)."""
    with drawing(**FONT) as pyplot:
        figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
        label, x, y = curve
        axes.plot(x, y, color=COLORS[0], label=label)
        label, x, y, errors = points
        axes.errorbar(x, y, errors, fmt="o", markersize=4, capsize=2, color=COLORS[1], label=label)
        axes.set(**axis)
        axes.legend(loc="upper right", ncols=2)
        axes.grid(alpha=0.3)
        save(figure, path, dpi=120)
    print(f"wrote {path}")


class Beams(HasEnvironment):
    """Devices and kernels of an experiment with ions and a pulse core."""

    def build_beams(self, points, shots):
        """Sets up devices and arguments; `points` and `shots` are defaults."""
        for name in ("core", "pulse0", "cooling", "repump", "photons"):
            self.setattr_device(name)
        self.setattr_argument("points", NumberValue(points, precision=0, step=1, type="int"))
        self.setattr_argument("shots", NumberValue(shots, precision=0, step=1, type="int"))
        self.setattr_argument("figure", StringValue(""))

    @kernel
    def cool(self):
        with parallel:
            self.cooling.pulse(20 * us)
            self.repump.pulse(20 * us)

    @kernel
    def detect(self) -> TInt32:
        """Returns the photons counted in 200 us, beginning 2 us after the last pulse."""
        delay(2 * us)
        with parallel:
            self.cooling.pulse(200 * us)
            gate_end = self.photons.gate_rising(200 * us)
        counted = self.photons.count(gate_end)
        delay(20 * us)
        return counted
