"""A ramp of DAC voltages, as for moving an ion along a trap: within 1 ms a Fastino ramps one
electrode from -5 V to 5 V and another from 8 V to 2 V in 50 steps, smoothly at both ends. A Sampler
measures both 10 us after each step: its points lie on the steps that were set."""

import numpy as np
from artiq.experiment import *

from kairos.pictures import COLORS, FONT, drawing, save

ENDS = [(-5.0, 5.0), (8.0, 2.0)]
"""Volts of the electrodes before and after the ramp."""
STEP = 20 * us


class DacRamp(EnvExperiment):
    """Electrodes' voltages, ramped and measured"""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("fastino0")
        self.setattr_device("sampler0")
        self.setattr_argument("steps", NumberValue(50, precision=0, step=1, type="int", min=2, max=5000))
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        rise = (1 - np.cos(np.linspace(0, np.pi, self.steps))) / 2
        self.volts = np.array([begin + (end - begin) * rise for begin, end in ENDS])
        self.measured = np.zeros((2, self.steps))

    @kernel
    def run(self):
        self.core.reset()
        self.fastino0.init()
        self.sampler0.init()
        delay(1 * ms)
        found = [0.0, 0.0]
        start = now_mu()
        for n in range(self.steps):
            at_mu(start + self.core.seconds_to_mu(n * STEP))
            # Four channels are set at once. A sample waits for its result, past the cursor.
            self.fastino0.set_group(0, [self.volts[0, n], self.volts[1, n], 0.0, 0.0])
            delay(10 * us)
            self.sampler0.sample(found)
            for electrode in range(2):
                self.measured[electrode, n] = found[electrode]
        self.store(self.measured)

    def store(self, measured):
        self.set_dataset("ramp.set_volts", self.volts)
        self.set_dataset("ramp.measured_volts", measured)

    def analyze(self):
        measured = self.get_dataset("ramp.measured_volts")
        error = float(np.abs(measured - self.volts).max())
        self.set_dataset("ramp.error_volts", error)
        print(f"measured is what was set within {error * 1e3:.1f} mV")
        if self.figure:
            times = np.arange(self.steps) * STEP / ms
            with drawing(**FONT) as pyplot:
                figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
                for number, (volts, points) in enumerate(zip(self.volts, measured, strict=True)):
                    axes.step(times, volts, where="post", color=COLORS[number], label=f"electrode {number}, set")
                    axes.plot(times + 10 * us / ms, points, ".", color=COLORS[number], label="measured")
                axes.set(xlabel="time (ms)", ylabel="voltage (V)", title="A ramp of two electrodes")
                axes.legend()
                axes.grid(alpha=0.3)
                save(figure, self.figure, dpi=120)
            print(f"wrote {self.figure}")
