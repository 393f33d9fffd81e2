"""Rabi oscillation with Gaussian pulses of the pulse core: the excitation after a pulse of 6 us, as
a function of its peak amplitude.

The plot shows the points with their standard errors, and the curve expected from the bench in this
folder, without a free parameter: the area of the pulse, where the light's amplitude goes with the
sine of the tone's amplitude.
"""

import math

import numpy as np
from artiq.experiment import *
from beams import Beams, binomial_errors, draw

from kairos.pulse import Adjustable, Follow, Pulse

LENGTH = 6 * us
WIDTH = 1.2 * us
"""Standard deviation of the envelope."""
PEAK = 190.0
"""Maximum amplitude; at 200, full scale, the modulator is saturated."""
RABI = 500 * kHz
"""Rabi frequency on the bench at full power."""
HELD = math.sin(0.08 * math.pi) / (0.08 * math.pi)
"""Amplitude of a tone of 80 MHz after the sample and hold of 1 ns."""
THRESHOLD = 5
"""Minimum counts for an ion to be considered bright: 20 are expected from a bright ion, 0.1 from a
dark one."""


def envelope(t):
    """Amplitude of the largest pulse at the time t in s."""
    return PEAK * math.exp(-(((t - LENGTH / 2) / WIDTH) ** 2) / 2)


def expected(peak):
    """Excitation after a pulse whose amplitude is the fraction `peak` of the maximum."""
    times = np.linspace(0, LENGTH, 2001)
    amplitude = peak * HELD * np.array([envelope(t) for t in times]) / 200
    angle = 2 * np.pi * RABI * np.trapezoid(np.sin(np.pi / 2 * amplitude), times)
    return np.sin(angle / 2) ** 2


class ShapedRabi(Beams, EnvExperiment):
    """Rabi flop with shaped pulses: scans the amplitude"""

    def build(self):
        self.build_beams(points=31, shots=100)

    def prepare(self):
        shape = Adjustable(Follow(envelope, tolerance=0.05))
        tone = {"freq0": 80 * MHz, "amp0": shape, "sync": 0b01}
        self.gates = self.pulse0.define({"turn": [Pulse(channel=0, duration=LENGTH, enable=0b01, **tone)]})
        self.turn = self.gates["turn"]
        self.peaks = np.linspace(0.0, 1.0, self.points)
        self.set_dataset("excitation", np.full(self.points, np.nan), broadcast=True)

    @kernel
    def shot(self) -> TInt32:
        """Prepares, drives the qubit, detects; returns the photons counted."""
        self.cool()
        delay(5 * us)
        self.pulse0.play(self.turn)
        return self.detect()

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
        errors = binomial_errors(excitation, self.shots)
        off = np.sqrt(np.mean(((excitation - curve) / errors) ** 2))
        print(f"{self.points} amplitudes, {off:.2f} standard errors from the expected curve (root mean square)")
        if self.figure:
            fine = np.linspace(0, 1, 300)
            draw(
                self.figure,
                ("from the bench's numbers", PEAK * fine, [expected(peak) for peak in fine]),
                (f"{self.shots} shots each", PEAK * self.peaks, excitation, errors),
                title=f"Gaussian pulses of {LENGTH / us:.0f} µs from the pulse core",
                xlabel="peak amplitude (200: full scale)",
                ylabel="excitation",
                ylim=(-0.05, 1.2),
            )
