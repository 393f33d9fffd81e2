"""Spectroscopy: the excitation by a pulse of half a turn against the frequency of the light, which
is a `Scannable`: a line at 80 MHz with the side lobes of a square pulse."""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors, draw


class Spectroscopy(Trap, EnvExperiment):
    """Line of the qubit"""

    def build(self):
        self.build_trap()
        scan = CenterScan(80 * MHz, 400 * kHz, 16 * kHz, randomize=True, seed=1)
        self.setattr_argument("frequencies", Scannable(scan, unit="MHz", global_min=70 * MHz, global_max=90 * MHz))

    def prepare(self):
        self.points = [float(frequency) for frequency in self.frequencies]
        self.set_dataset("line.frequency_hz", [])
        self.set_dataset("line.excitation", [])

    @kernel
    def run(self):
        self.setup()
        for frequency in self.points:
            self.core.break_realtime()
            self.qubit.set(frequency)
            dark = 0
            for _ in range(self.shots):
                self.core.break_realtime()
                self.cool()
                self.qubit.sw.pulse(10 * us)
                delay(2 * us)
                if self.detect() < THRESHOLD:
                    dark += 1
            self.record(frequency, dark)
        self.core.wait_until_mu(now_mu())

    @rpc(flags={"async"})
    def record(self, frequency, dark):
        self.append_to_dataset("line.frequency_hz", frequency)
        self.append_to_dataset("line.excitation", dark / self.shots)

    def analyze(self):
        frequency, excitation = (np.array(self.get_dataset(f"line.{key}")) for key in ("frequency_hz", "excitation"))
        order = np.argsort(frequency)  # the points are in random order
        frequency, excitation = frequency[order], excitation[order]
        weight = np.clip(excitation - 0.3, 0, None)
        centre = np.sum(weight * frequency) / np.sum(weight)
        self.set_dataset("line.centre_hz", centre)
        print(f"centre of the line {centre / MHz:.4f} MHz")
        if self.figure:
            fine = np.linspace(frequency[0], frequency[-1], 400)
            whole = np.hypot(50 * kHz, fine - centre)
            rabi = (50 * kHz / whole * np.sin(np.pi * whole * 10 * us)) ** 2
            series = [
                ("Rabi's formula", (fine - centre) / kHz, rabi, None),
                ("measured", (frequency - centre) / kHz, excitation, binomial_errors(excitation, self.shots)),
            ]
            draw(self.figure, series, "detuning (kHz)", "excitation", f"centre {centre / MHz:.4f} MHz")
