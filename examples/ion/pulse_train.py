"""A train of pulses from memory (DMA): each point of the scan records a number of pulses of 1 us,
and every shot plays the recording. The excitation is that of a single pulse of the total length:
full after ten pulses, and zero after twenty."""

import numpy as np
from artiq.experiment import *
from trap import THRESHOLD, Trap, binomial_errors, draw


class PulseTrain(Trap, EnvExperiment):
    """Pulses played by DMA"""

    def build(self):
        self.build_trap()
        self.setattr_device("core_dma")
        self.setattr_argument("most", NumberValue(24, precision=0, step=1, type="int"))
        self.setattr_argument("step", NumberValue(2, precision=0, step=1, type="int"))

    def prepare(self):
        self.numbers = list(range(0, self.most + 1, self.step))
        self.set_dataset("train.excitation", np.full(len(self.numbers), np.nan))

    @kernel
    def record_train(self, number):
        with self.core_dma.record("train"):
            for _ in range(number):
                self.qubit.sw.pulse(1 * us)
                delay(500 * ns)

    @kernel
    def run(self):
        self.setup()
        for point in range(len(self.numbers)):
            self.record_train(self.numbers[point])
            train = self.core_dma.get_handle("train")
            dark = 0
            for _ in range(self.shots):
                self.core.break_realtime()
                self.cool()
                self.core_dma.playback_handle(train)
                delay(2 * us)
                if self.detect() < THRESHOLD:
                    dark += 1
            self.keep(point, dark)
        self.core.wait_until_mu(now_mu())

    @rpc(flags={"async"})
    def keep(self, point, dark):
        self.mutate_dataset("train.excitation", point, dark / self.shots)

    def analyze(self):
        excitation = self.get_dataset("train.excitation")
        fullest = self.numbers[int(np.argmax(excitation))]
        print(f"most excitation, {excitation.max():.0%}, behind {fullest} pulses")
        if self.figure:
            fine = np.linspace(0, self.most, 200)
            series = [
                ("one pulse as long", fine, np.sin(np.pi * 50 * kHz * fine * us) ** 2, None),
                ("measured", self.numbers, excitation, binomial_errors(excitation, self.shots)),
            ]
            draw(self.figure, series, "pulses of 1 µs", "excitation", "Pulses from memory")
