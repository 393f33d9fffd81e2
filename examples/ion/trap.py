"""Common parts of the experiments in this folder: beams, a shot, and a plot of points with error
bars."""

import numpy as np
from artiq.experiment import *

from kairos.pictures import COLORS, FONT, drawing, save

THRESHOLD = 5
"""Minimum counts for an ion to be considered bright: 20 are expected from a bright ion, 0.1 from a
dark one."""


def binomial_errors(excitation, shots):
    """Standard errors, as if one more shot of each outcome had been observed: never zero."""
    probability = (np.asarray(excitation) * shots + 1) / (shots + 2)
    return np.sqrt(probability * (1 - probability) / shots)


def draw(path, series, xlabel, ylabel, title, colors=COLORS):
    """Writes a plot of `series`: (label, x, y, errors or None for a line)."""
    with drawing(**FONT) as pyplot:
        figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
        for color, (label, x, y, errors) in zip(colors, series, strict=False):
            if errors is None:
                axes.plot(x, y, color=color, label=label)
            else:
                axes.errorbar(x, y, errors, fmt="o", markersize=4, capsize=2, color=color, label=label)
        axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
        if len(series) > 1:
            axes.legend()
        axes.grid(alpha=0.3)
        save(figure, path, dpi=120)
    print(f"wrote {path}")


class Trap(HasEnvironment):
    """Devices and kernels of an experiment with an ion; the first device is the core."""

    def build_trap(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.qubit = self.get_device("urukul0_ch0")
        self.cooling = self.get_device("urukul0_ch1")
        self.repump = self.get_device("urukul0_ch2")
        self.photons = self.get_device("ttl0_counter")
        self.setattr_argument("shots", NumberValue(100, precision=0, step=1, type="int"))
        self.setattr_argument("figure", StringValue(""))

    @kernel
    def setup(self):
        """Sets the beams to their frequencies, all switched off."""
        self.core.reset()
        self.cpld.init()
        for beam in (self.qubit, self.cooling, self.repump):
            beam.init()
            beam.sw.off()
            beam.set_att(0.0)
        self.qubit.set(80 * MHz)
        self.cooling.set(110 * MHz)
        self.repump.set(80 * MHz)

    @kernel
    def cool(self):
        """Prepares the lower state."""
        with parallel:
            self.cooling.sw.pulse(20 * us)
            self.repump.sw.pulse(20 * us)
        delay(2 * us)

    @kernel
    def detect(self) -> TInt32:
        """Returns the photons counted in 200 us."""
        with parallel:
            self.cooling.sw.pulse(200 * us)
            self.photons.gate_rising(200 * us)
        counted = self.photons.fetch_count()
        delay(10 * us)
        return counted
