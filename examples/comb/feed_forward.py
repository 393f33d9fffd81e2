"""A tone that follows a pulsed laser: the beat between two teeth of its comb and the tone, without and with
feed-forward of the repetition rate. No kernel takes part in it once it has begun."""

import numpy as np
from artiq.experiment import *
from numpy import int64

from kairos.pulse import Pulse

CARRIER = 200 * MHz
BEAT = 1 * MHz
HARMONIC = -3
"""The teeth that drive the ion are three times as far apart as those that the detector sees, and the tone fills what is
missing: it is to fall when they move apart."""
LENGTH = 4 * ms
AVERAGED = 1000
"""Samples to a point of the beat: whole periods of the tone."""
POINTS_PER_STEP = 100
"""Points over which a phase is averaged, for its change."""


class FeedForward(EnvExperiment):
    """A tone on both channels, on the second one with feed-forward, while the laser's repetition rate drifts and
    sways."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.setattr_device("ttl4")
        self.setattr_argument("bandwidth", NumberValue(20 * kHz, unit="kHz"))
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        tone = {"duration": LENGTH, "freq0": CARRIER, "amp0": 90.0, "sync": 1}
        self.gates = self.pulse0.define({"tone": [Pulse(channel=0, **tone), Pulse(channel=1, feed_forward=1, **tone)]})
        self.tone = self.gates["tone"]
        self.begin_mu = int64(0)
        self.error = 0.0
        self.flags = 0

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        self.pulse0.load(self.gates)
        self.core.break_realtime()
        self.ttl4.on()
        delay(8 * ns)
        self.pulse0.set_harmonic(1, 0, HARMONIC)
        delay(8 * ns)
        self.pulse0.track_beat(BEAT, self.bandwidth, 20 * kHz)
        delay(1 * ms)
        self.begin_mu = now_mu()
        self.pulse0.play(self.tone)
        self.core.break_realtime()
        error, flags = self.pulse0.beat_state()
        self.error = error
        self.flags = flags
        self.pulse0.wait_armed()
        self.pulse0.stop_tracking()
        delay(8 * ns)
        self.ttl4.off()
        self.pulse0.check()
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        if self.flags & 0b111 != 0b001:
            raise ValueError(f"the beat was not tracked: state {self.flags:#x}")
        recording = self.pulse0.recording()
        beats = [self.beat(recording, channel) for channel in range(2)]
        residuals = [deviation(beat) for beat in beats]
        self.set_dataset("residual_hz", residuals)
        print(f"the repetition rate's beat is off by {self.error:.1f} Hz")
        print(
            f"rms deviation of the light's beat: {residuals[0]:.1f} Hz without, {residuals[1]:.2f} Hz with feed-forward"
        )
        if self.figure:
            self.draw(beats)

    def beat(self, recording, channel):
        """Return the beat of tone and teeth as complex numbers, one for each microsecond: the tone against a perfect
        one, turned by what the teeth have moved, as their edges at the detector say."""
        begin, end = int(self.begin_mu), int(self.begin_mu) + round(LENGTH * 1e9)
        times = np.arange(begin, end)
        samples = recording.samples(channel, begin, end)
        mixed = samples * np.exp(-2j * np.pi * (times * (CARRIER * 1e-9) % 1.0))
        points = mixed.reshape(-1, AVERAGED).mean(axis=1)
        middles = begin + AVERAGED * (np.arange(len(points)) + 0.5)
        edges = np.array([time for time, level in recording.pins["ttl2"] if level], dtype=float)
        moved = np.arange(len(edges)) - (edges - edges[0]) * BEAT * 1e-9
        return points * np.exp(-2j * np.pi * HARMONIC * np.interp(middles, edges, moved))

    def draw(self, beats):
        """Draws spectra and phases of both beats."""
        from kairos.pictures import COLORS, drawing, save

        names = ("without feed-forward", "with feed-forward")
        with drawing() as pyplot:
            figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
            for beat, name, color in zip(beats, names, COLORS, strict=False):
                window = np.hanning(len(beat))
                power = (
                    np.abs(np.fft.fftshift(np.fft.fft(beat * window))) ** 2 / (np.abs(beat).mean() * window.sum()) ** 2
                )
                hertz = np.fft.fftshift(np.fft.fftfreq(len(beat), AVERAGED * 1e-9))
                left.plot(hertz / 1e3, 10 * np.log10(power + 1e-20), color=color, lw=0.9, label=name)
                phase = np.unwrap(np.angle(beat)) / (2 * np.pi)
                right.plot(np.arange(len(beat)) / 1e3, phase - phase[0], color=color, lw=1.1, label=name)
            left.set(xlim=(-12, 12), ylim=(-100, 8), xlabel="offset from the tone / kHz", ylabel="power / dB of all")
            right.set(xlabel="time / ms", ylabel="phase of the beat / turns")
            left.legend(loc="upper left", frameon=False)
            right.legend(loc="upper left", frameon=False)
            save(figure, self.figure, 160)
        print(f"wrote {self.figure}")


def deviation(beat):
    """Return the root mean square of the beat's frequency in Hz, from phases averaged over 0.1 ms."""
    steps = np.unwrap(np.angle(beat)).reshape(-1, POINTS_PER_STEP).mean(axis=1)
    hertz = np.diff(steps) / (2 * np.pi) / (POINTS_PER_STEP * AVERAGED * 1e-9)
    return float(np.sqrt(np.mean(hertz**2)))
