"""A chain of calibrations: the frequency of the line, then, at that frequency, the length of a pulse of half a turn.

Each experiment keeps its result as a dataset with `persist=True`, from which the next one begins:

    kairos run calibrations.py -c Line
    kairos run calibrations.py -c HalfTurn
    kairos datasets list
"""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors, draw

from kairos.fits import fitted


class Calibration(Trap):
    """A scan of pulses of (frequency, length), with the fraction of dark shots of each."""

    @kernel
    def scan(self, frequencies: TList(TFloat), lengths: TList(TFloat)):
        self.setup()
        for point in range(len(frequencies)):
            self.core.break_realtime()
            self.qubit.set(frequencies[point])
            dark = 0
            for _ in range(self.shots):
                self.core.break_realtime()
                self.cool()
                self.qubit.sw.pulse(lengths[point])
                delay(2 * us)
                if self.detect() < THRESHOLD:
                    dark += 1
            self.record(dark)
        self.core.wait_until_mu(now_mu())

    @rpc(flags={"async"})
    def record(self, dark):
        self.append_to_dataset("excitation", dark / self.shots)

    def measure(self, frequencies, lengths):
        """Returns the excitation at each point."""
        self.set_dataset("excitation", [])
        self.scan([float(each) for each in frequencies], [float(each) for each in lengths])
        return np.array(self.get_dataset("excitation"))

    def keep(self, name, value, unit, scale, points, excitation):
        """Keeps a result for the experiments that follow."""
        self.set_dataset(f"calibration.{name}", float(value), persist=True, unit=unit, scale=scale)
        print(f"{name} {value / scale:.4f} {unit}")
        if self.figure:
            series = [("measured", np.array(points) / scale, excitation, binomial_errors(excitation, self.shots))]
            draw(self.figure, series, f"{name} ({unit})", "excitation", f"{name} {value / scale:.4f} {unit}")


class Line(Calibration, EnvExperiment):
    """Frequency of the line: the centre of the excitation by pulses of 10 us"""

    def build(self):
        self.build_trap()
        self.setattr_argument("span", NumberValue(300 * kHz, unit="kHz"))

    def run(self):
        before = self.get_dataset("calibration.line", 80 * MHz)
        points = before + np.linspace(-self.span / 2, self.span / 2, 13)
        excitation = self.measure(points, [10 * us] * len(points))
        weight = np.clip(excitation - 0.3, 0, None)
        if not weight.any():
            raise ValueError(f"there is no line within {self.span / kHz:.0f} kHz around {before / MHz:.3f} MHz")
        self.keep("line", np.sum(weight * points) / np.sum(weight), "MHz", MHz, points, excitation)


class HalfTurn(Calibration, EnvExperiment):
    """Length of half a turn: the first maximum of the excitation on the line"""

    def build(self):
        self.build_trap()

    def run(self):
        frequency = self.get_dataset("calibration.line")
        points = np.linspace(4 * us, 16 * us, 13)
        excitation = self.measure([frequency] * len(points), points)
        self.keep("half_turn", fitted("parabola", excitation, points).x0, "us", us, points, excitation)
