"""Photon counting: a histogram of the photons that a bright and a dark ion send in 200 us, with two
peaks that hardly overlap: one at 20 counts with the width of Poisson's law, and one at 0."""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, draw


class PhotonCounting(Trap, EnvExperiment):
    """Histograms of photon counts"""

    def build(self):
        self.build_trap()

    @kernel
    def run(self):
        self.setup()
        for flips in range(2):
            for _ in range(self.shots):
                self.core.break_realtime()
                self.cool()
                if flips == 1:
                    self.qubit.sw.pulse(10 * us)
                delay(2 * us)
                self.record(flips, self.detect())
        self.core.wait_until_mu(now_mu())

    def prepare(self):
        self.set_dataset("counts.bright", [])
        self.set_dataset("counts.dark", [])

    @rpc(flags={"async"})
    def record(self, flips, counted):
        self.append_to_dataset("counts.dark" if flips else "counts.bright", counted)

    def analyze(self):
        bright, dark = (np.array(self.get_dataset(f"counts.{state}")) for state in ("bright", "dark"))
        wrong = (np.mean(bright < THRESHOLD) + np.mean(dark >= THRESHOLD)) / 2
        self.set_dataset("counts.error", wrong)
        print(
            f"bright {bright.mean():.1f} counts, dark {dark.mean():.2f}; {wrong:.1%} on the wrong side of {THRESHOLD}"
        )
        if self.figure:
            # Bins of width 1, centred on integers
            bins = np.arange(max(bright.max(), dark.max()) + 2) - 0.5
            series = [
                (name, np.repeat(bins, 2)[1:-1], np.repeat(np.histogram(counts, bins)[0], 2), None)
                for name, counts in (("bright", bright), ("after half a turn", dark))
            ]
            draw(self.figure, series, "counts in 200 µs", "shots", "Photons of an ion")
