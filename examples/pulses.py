"""Gates on two ions: a gate set, 10,000 of its gates in random order alongside TTL pulses, an
amplitude that follows a count, and a branch that depends on a measurement."""

import math
import random

import numpy as np
from artiq.experiment import *

from kairos.pulse import Adjustable, Branch, Follow, Pulse
from kairos.pulse.figure import Window, write_figure

CARRIER = 200 * MHz
SIDEBAND = 3.1 * MHz
AMP0 = 1
"""Number of the parameter `amp0`."""
GATES = 10_000
SHOTS = 4


def gaussian(t):
    """Amplitude of a rotation of 1 us at the time t in s."""
    return 80 * math.exp(-(((t - 0.5 * us) / (0.19 * us)) ** 2))


def rotation(ion, phase, amplitude):
    """A rotation about an equatorial axis at `phase` degrees, in the frame of the ion's virtual Z
    gates."""
    tone = {"freq0": CARRIER, "amp0": amplitude, "phase0": phase, "sync": 0b01, "forward": (0b01, 0)}
    return Pulse(channel=ion, duration=1 * us, enable=0b01, **tone)


def virtual_z(ion, angle):
    """A rotation about z: no light, only the frame rotates."""
    return Pulse(channel=ion, cycles=8, framerot0=angle, at_end=0b01)


def gate_set():
    """Gates by name."""
    shape = Follow(gaussian, tolerance=0.05)
    gates = {"x0": [rotation(0, 0, Adjustable(shape))], "x1": [rotation(1, 0, shape)]}
    for ion in (0, 1):
        gates[f"y{ion}"] = [rotation(ion, 90, shape)]
        gates[f"z{ion}"] = [virtual_z(ion, 45)]
    # A Mølmer-Sørensen gate: both sidebands simultaneously on both ions.
    sidebands = {"freq0": CARRIER - SIDEBAND, "freq1": CARRIER + SIDEBAND, "sync": 0b11, "forward": (0b11, 0)}
    rise = (0, 12, 55, 88, 94, 94, 88, 55, 12, 0)
    gates["ms"] = [Pulse(channel=i, duration=4 * us, amp0=rise, amp1=rise, enable=0b11, **sidebands) for i in (0, 1)]
    gates["detect"] = [Pulse(channel=ion, duration=30 * us) for ion in (0, 1)]
    return gates


def random_gates(count, seed):
    """`count` gates in random order; some run on both ions at once."""
    source = random.Random(seed)
    choices = [("x0", "y1"), ("y0", "x1"), ("x0", "x1"), "z0", "z1", "ms"]
    weights = [3, 3, 3, 3, 3, 1]
    steps = []
    while count > 0:
        step = source.choices(choices, weights)[0]
        step = step[:count] if isinstance(step, tuple) else step
        steps.append(step)
        count -= len(step) if isinstance(step, tuple) else 1
    return steps


class Pulses(EnvExperiment):
    """Rotations calibrated by a count, then a long random sequence with a decision in it."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        for name in ("ttl0", "ttl4", "ttl5"):
            self.setattr_device(name)
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        self.gates = self.pulse0.define(gate_set())
        self.x0 = self.gates["x0"]
        many = random_gates(GATES, seed=1)
        decision = Branch((("z0",), ("x0", "x0")))
        self.sequence = self.gates.sequence([*many, "detect", decision, ("x0", "y1"), "ms", "z0", ("y0", "x1")])
        self.detect_mu = self.sequence.find("detect")
        self.shots_mu = [np.int64(0)] * SHOTS
        self.begin_mu = np.int64(0)
        self.counted = 0

    @kernel
    def count_photons(self, bright) -> TInt32:
        """Counts photons for 10 us. Pulses simulate ion and detector: the input `ttl0` drives its
        own pin."""
        begin = now_mu()
        delay(50 * ns)
        for _ in range(bright):
            self.ttl0.pulse(100 * ns)
            delay(400 * ns)
        at_mu(begin)
        return self.ttl0.count(self.ttl0.gate_rising(10 * us))

    @kernel
    def calibrate(self):
        """Shots of a single gate, each with an amplitude that depends on the previous shot's
        count."""
        factor = 0.6
        for shot in range(SHOTS):
            self.core.break_realtime()
            self.pulse0.update(self.x0, AMP0, factor)
            delay(5 * us)
            self.shots_mu[shot] = now_mu()
            with parallel:
                self.pulse0.play(self.x0)
                self.ttl4.pulse(1 * us)
            factor *= 1.0 + 0.03 * (12 - self.count_photons(4 + 2 * shot))

    @kernel
    def run(self):
        self.core.reset()
        self.ttl0.output()
        delay(100 * us)
        self.pulse0.load(self.gates)
        self.calibrate()
        self.core.break_realtime()
        delay(1 * ms)
        self.begin_mu = now_mu()
        with parallel:
            self.ttl4.pulse(2 * us)
            with sequential:
                delay(3 * us)
                self.ttl5.pulse(1 * us)
            self.pulse0.play_sequence(self.sequence)
        end = now_mu()
        # While the ions are detected, the core waits for the result.
        at_mu(self.begin_mu + self.detect_mu)
        self.counted = self.count_photons(9)
        delay(10 * us)
        self.pulse0.result(1 if self.counted > 5 else 0)
        at_mu(end)
        self.pulse0.wait_armed()
        self.pulse0.check()
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        milliseconds = self.sequence.duration_mu / 1e6
        print(f"{GATES} gates in {milliseconds:.3f} ms; {self.counted} photons decided the branch")
        if self.figure:
            self.draw(self.pulse0.recording())

    def draw(self, recording):
        """Draws a section of the random sequence with the signal of two of its gates, and the
        calibration."""
        marks = self.sequence.marks(self.begin_mu)
        entangling = next(mark for mark in marks if mark.name == "ms" and mark.begin_mu > self.begin_mu + 4500)
        rotation = next(mark for mark in marks if mark.name in ("x0", "y0") and mark.begin_mu > self.begin_mu)
        middle = (rotation.begin_mu + rotation.end_mu) // 2
        windows = [
            Window(f"the middle of {rotation.name}, samples of 1 ns", 0, middle - 20, middle + 20),
            Window("the beginning of ms: both sidebands beat", 1, entangling.begin_mu, entangling.begin_mu + 1500),
        ]
        shots = [(f"shot {number + 1}", begin) for number, begin in enumerate(self.shots_mu)]
        pins = {name: recording.pins[name] for name in ("ttl4", "ttl5")}
        span = (self.begin_mu - 1000, entangling.end_mu + 1500)
        write_figure(self.figure, recording, marks, *span, windows, shots, pins)
        print(f"wrote {self.figure}")
