"""Rabi oscillation with Gaussian pulses of the pulse core: the excitation after a pulse of 6 us, as
a function of its peak amplitude.

The picture has the points with their standard errors, and the curve that the bench beside this file
gives without a free parameter: the area of the pulse, where the modulator's light goes with the sine
of the amplitude.
"""

import math

import numpy as np
from artiq.experiment import *

from kairos.pictures import COLORS, FONT, drawing, save
from kairos.pulse import Adjustable, Follow, Pulse

LENGTH = 6 * us
WIDTH = 1.2 * us
"""Standard deviation of the envelope."""
PEAK = 190.0
"""Greatest amplitude; at 200, full scale, the modulator is saturated."""
RABI = 500 * kHz
"""Of the bench, at full power."""
HELD = math.sin(0.08 * math.pi) / (0.08 * math.pi)
"""What is left of a tone of 80 MHz when samples of 1 ns are held."""
THRESHOLD = 5
"""Counts from which on an ion is taken to be bright: 20 are expected if it is, 0.1 if it is not."""


def envelope(t):
    """Amplitude of the greatest pulse at the time t in s."""
    return PEAK * math.exp(-(((t - LENGTH / 2) / WIDTH) ** 2) / 2)


def expected(peak):
    """Excitation after a pulse of so much of the greatest amplitude."""
    times = np.linspace(0, LENGTH, 2001)
    amplitude = peak * HELD * np.array([envelope(t) for t in times]) / 200
    angle = 2 * np.pi * RABI * np.trapezoid(np.sin(np.pi / 2 * amplitude), times)
    return np.sin(angle / 2) ** 2


class ShapedRabi(EnvExperiment):
    """Rabi flop with shaped pulses: scans the amplitude"""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        for name in ("cooling", "repump", "photons"):
            self.setattr_device(name)
        self.setattr_argument("points", NumberValue(31, precision=0, step=1, type="int"))
        self.setattr_argument("shots", NumberValue(100, precision=0, step=1, type="int"))
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        shape = Adjustable(Follow(envelope, tolerance=0.05))
        tone = {"freq0": 80 * MHz, "amp0": shape, "sync": 0b01}
        self.gates = self.pulse0.define({"turn": [Pulse(channel=0, duration=LENGTH, enable=0b01, **tone)]})
        self.turn = self.gates["turn"]
        self.peaks = np.linspace(0.0, 1.0, self.points)
        self.set_dataset("excitation", np.full(self.points, np.nan), broadcast=True)

    @kernel
    def shot(self) -> TInt32:
        """Prepare, turn, detect: the photons counted."""
        with parallel:
            self.cooling.pulse(20 * us)
            self.repump.pulse(20 * us)
        delay(5 * us)
        self.pulse0.play(self.turn)
        delay(2 * us)
        with parallel:
            self.cooling.pulse(200 * us)
            gate_end = self.photons.gate_rising(200 * us)
        counted = self.photons.count(gate_end)
        delay(20 * us)
        return counted

    @rpc(flags={"async"})
    def record(self, point, dark):
        self.mutate_dataset("excitation", point, dark / self.shots)

    @kernel
    def run(self):
        self.core.reset()
        self.pulse0.load(self.gates)
        for point in range(len(self.peaks)):
            self.core.break_realtime()
            self.pulse0.update(self.turn, 1, self.peaks[point])
            delay(20 * us)
            dark = 0
            for _ in range(self.shots):
                if self.shot() < THRESHOLD:
                    dark += 1
            self.record(point, dark)
        self.pulse0.check()
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        excitation = self.get_dataset("excitation")
        curve = np.array([expected(peak) for peak in self.peaks])
        # As if one more shot of each kind had been seen: never zero.
        probability = (excitation * self.shots + 1) / (self.shots + 2)
        errors = np.sqrt(probability * (1 - probability) / self.shots)
        off = np.sqrt(np.mean(((excitation - curve) / errors) ** 2))
        print(f"{self.points} amplitudes, {off:.2f} standard errors from the expected curve (root mean square)")
        if self.figure:
            self.draw(excitation, errors)

    def draw(self, excitation, errors):
        fine = np.linspace(0, 1, 300)
        with drawing(**FONT) as pyplot:
            figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
            axes.plot(PEAK * fine, [expected(peak) for peak in fine], color=COLORS[0], label="from the bench's numbers")
            points = {"fmt": "o", "markersize": 4, "capsize": 2, "color": COLORS[1]}
            axes.errorbar(PEAK * self.peaks, excitation, errors, label=f"{self.shots} shots each", **points)
            title = f"Gaussian pulses of {LENGTH / us:.0f} µs from the pulse core"
            axes.set(xlabel="peak amplitude (200: full scale)", ylabel="excitation", ylim=(-0.05, 1.2), title=title)
            axes.legend(loc="upper right", ncols=2)
            axes.grid(alpha=0.3)
            save(figure, self.figure, dpi=120)
        print(f"wrote {self.figure}")
