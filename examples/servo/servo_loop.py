"""A laser beam whose power an SU-Servo stabilises: the voltage of its photodiode against time. It
settles at 2 V with the time constant of the integrator, 50 us. After 1 ms the attenuator of the
modulator's tone is increased by 3 dB; after several time constants the light is back within 1 %, at
1.4 times the amplitude."""

import numpy as np
from artiq.experiment import *

from kairos.pictures import COLORS, FONT, drawing, save

FULL_SCALE = 10.24
"""Full scale of the Sampler in volts."""
PROFILE = 5
ADC = 0
FREQUENCY = 80 * MHz
DURATION = 2 * ms


class ServoLoop(EnvExperiment):
    """Laser power held by an SU-Servo"""

    def build(self):
        self.setattr_device("core")
        self.servo = self.get_device("suservo0")
        self.channel = self.get_device("suservo0_ch0")
        self.setattr_argument("setpoint", NumberValue(2.0, unit="V", min=0.1, max=3.9))
        self.setattr_argument("time_constant", NumberValue(50e-6, unit="us", min=10e-6, max=1e-3))
        self.setattr_argument("points", NumberValue(100, precision=0, step=1, type="int", min=20))
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        # Slope of the photodiode's voltage over the amplitude at the setpoint: 4 V sin^2(pi/2 a) of
        # `bench.toml`
        steepness = np.pi * np.sqrt(self.setpoint * (4.0 - self.setpoint)) / FULL_SCALE
        self.gain = -1 / (steepness * self.time_constant)
        self.times = [0.0] * self.points
        self.volts = [0.0] * self.points
        self.amplitudes = [0.0] * self.points

    @kernel
    def run(self):
        self.core.reset()
        self.servo.init()
        self.servo.cplds[0].set_att(0, 0.0)
        self.servo.set_pgia_mu(ADC, 0)
        self.channel.set_dds(PROFILE, FREQUENCY, -self.setpoint / FULL_SCALE)
        self.channel.set_iir(PROFILE, ADC, 0.0, self.gain)
        self.channel.set_y(PROFILE, 0.0)
        self.core.break_realtime()
        delay(500 * us)
        self.servo.set_config(1)
        start = now_mu()
        self.channel.set(1, 1, profile=PROFILE)
        for n in range(self.points):
            at_mu(start + self.core.seconds_to_mu((n + 1) * DURATION / self.points))
            # Each reading waits for its result, past the cursor.
            if 2 * n == self.points:
                self.servo.cplds[0].set_att(0, 3.0)
            self.times[n] = self.core.mu_to_seconds(now_mu() - start)
            self.volts[n] = self.servo.get_adc(ADC)
            delay(5 * us)
            self.amplitudes[n] = self.channel.get_y(PROFILE)
        self.core.break_realtime()
        # The profile must be kept: profile 0, the default, has no frequency
        self.channel.set(0, profile=PROFILE)
        self.servo.set_config(0)
        self.store(self.times, self.volts, self.amplitudes, self.servo.get_status())
        self.core.wait_until_mu(now_mu())

    def store(self, times, volts, amplitudes, status):
        self.set_dataset("servo.time_s", times)
        self.set_dataset("servo.volts", volts)
        self.set_dataset("servo.amplitude", amplitudes)
        self.set_dataset("servo.status", status)

    def analyze(self):
        times, volts, amplitudes = (
            np.array(self.get_dataset(f"servo.{name}")) for name in ("time_s", "volts", "amplitude")
        )
        half = len(times) // 2
        error = np.abs(volts / self.setpoint - 1)
        before, after = error[half - half // 5 : half].max(), error[-(half // 5) :].max()
        disturbed = error[half:].max()
        self.set_dataset("servo.errors", [before, disturbed, after])
        ratio = amplitudes[-1] / amplitudes[half - 1]
        self.set_dataset("servo.ratio", ratio)
        print(f"error {before:.2%}, {disturbed:.0%} behind 3 dB, then {after:.2%} with {ratio:.2f} times the amplitude")
        if self.figure:
            with drawing(**FONT) as pyplot:
                figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
                axes.plot(times * 1e6, volts, "o-", markersize=3, color=COLORS[0], label="photodiode")
                axes.axhline(self.setpoint, color=COLORS[1], linewidth=1, label="setpoint")
                axes.set(xlabel="time (µs)", ylabel="voltage (V)", title="Laser power held by an SU-Servo")
                right = axes.twinx()
                right.plot(times * 1e6, amplitudes, color=COLORS[2], label="amplitude")
                right.set_ylabel("amplitude of the tone (of full scale)")
                handles = [*axes.get_lines(), *right.get_lines()]
                axes.legend(handles=handles, loc="lower right")
                axes.grid(alpha=0.3)
                save(figure, self.figure, dpi=120)
            print(f"wrote {self.figure}")
