"""A Mølmer-Sørensen gate whose two ions have their light from pulse cores on two boards: both begin in phase, at the
same sample, whatever the length of the fibre between the boards."""

from artiq.experiment import *
from numpy import int64

from kairos.pulse import Pulse

CARRIER = 200 * MHz
SIDEBAND = 3.1 * MHz
SHOTS = 4
APART = 17.39 * us
"""Between shots; no multiple of any period."""


def entangling():
    """The gate of one ion: both sidebands, at the global phase."""
    rise = (0, 12, 55, 88, 94, 94, 88, 55, 12, 0)
    sidebands = {"freq0": CARRIER - SIDEBAND, "freq1": CARRIER + SIDEBAND, "sync": 0b11, "enable": 0b11}
    return {"ms": [Pulse(channel=0, duration=4 * us, amp0=rise, amp1=rise, **sidebands)]}


class TwoBoardGate(EnvExperiment):
    """The gate, some times, on both boards at once. The phases follow from the time that the boards share, so they
    are the same on both, and those of each shot continue those of the shots before."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("pulse0")
        self.setattr_device("sat_pulse0")
        self.setattr_device("ttl4")
        self.setattr_device("sat_ttl4")
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        self.gates = self.pulse0.define(entangling(), "master")
        self.sat_gates = self.sat_pulse0.define(entangling(), "satellite")
        self.ms, self.sat_ms = self.gates["ms"], self.sat_gates["ms"]
        self.begins_mu = [int64(0)] * SHOTS

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        self.pulse0.load(self.gates)
        self.sat_pulse0.load(self.sat_gates)
        self.core.break_realtime()
        delay(200 * us)
        for shot in range(SHOTS):
            self.begins_mu[shot] = now_mu()
            with parallel:
                self.pulse0.play(self.ms)
                self.sat_pulse0.play(self.sat_ms)
                self.ttl4.pulse(4 * us)
                self.sat_ttl4.pulse(4 * us)
            delay(APART)
        self.pulse0.wait_armed()
        self.pulse0.check()
        self.sat_pulse0.wait_armed()
        self.sat_pulse0.check()
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        self.set_dataset("begins_mu", [int(begin) for begin in self.begins_mu])
        print(f"{SHOTS} gates across two boards")
        if self.figure:
            self.draw(self.pulse0.recording())

    def draw(self, recording):
        """Draws the signals of both boards over a gate, and the samples where it is strongest."""
        import numpy as np

        from kairos.pictures import COLORS, drawing, save

        begin = int(self.begins_mu[1])
        middle = begin + 1750
        names, colors = ("pulse0", "sat_pulse0"), COLORS[:2]
        with drawing() as pyplot:
            figure, axes = pyplot.subplots(3, 1, figsize=(9, 6.6), layout="constrained")
            for axis, name, color in zip(axes, names, colors, strict=False):
                samples = recording.samples(0, begin - 200, begin + 4200, name=name) / 327.68
                axis.plot((np.arange(len(samples)) - 200) / 1000, samples, color=color, lw=0.3)
                board = "master" if name == "pulse0" else "satellite"
                axis.set_ylabel(f"{board}\n% of full scale")
                axis.set_xlim(-0.2, 4.2)
                axis.set_ylim(-100, 100)
            axes[1].set_xlabel("time after the gate begins / µs")
            for name, color, marker, size in zip(names, colors, "o+", (7, 9), strict=True):
                samples = recording.samples(0, middle, middle + 40, name=name) / 327.68
                style = {"mfc": "none"} if marker == "o" else {}
                axes[2].plot(
                    np.arange(40), samples, marker, color=color, ms=size, label=f"channel 0 of {name}", **style
                )
            axes[2].set_xlabel(f"time after {(middle - begin) / 1000:g} µs / ns; every sample of both boards")
            axes[2].set_ylabel("% of full scale")
            axes[2].legend(loc="upper right", ncols=2, frameon=False)
            axes[2].set_ylim(-115, 130)
            save(figure, self.figure, 160)
        print(f"wrote {self.figure}")
