"""What the experiments of this folder have in common: beams, preparation and detection, and a picture
of points with their errors beside a curve."""

import numpy as np
from artiq.experiment import *

from kairos.pictures import COLORS, FONT, drawing, save


def binomial_errors(excitation, shots):
    """Standard errors, as if one more shot of each kind had been seen: never zero."""
    probability = (np.asarray(excitation) * shots + 1) / (shots + 2)
    return np.sqrt(probability * (1 - probability) / shots)


def draw(path, curve, points, **axis):
    """Write a picture of a curve, (label, x, y), and of points, (label, x, y, errors)."""
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
        """`points`, `shots`: unless the user says others."""
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
        """The photons counted in 200 us, from 2 us behind the last pulse on."""
        delay(2 * us)
        with parallel:
            self.cooling.pulse(200 * us)
            gate_end = self.photons.gate_rising(200 * us)
        counted = self.photons.count(gate_end)
        delay(20 * us)
        return counted
