"""Two recordings with one name, the second in the memory of the first, played by one line."""

from artiq.experiment import *


class SamePlace(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")

    @kernel
    def play(self):
        self.core.break_realtime()
        self.core_dma.playback("train")
        delay(10 * us)

    @kernel
    def run(self):
        self.core.reset()
        with self.core_dma.record("train"):
            self.ttl4.pulse(1 * us)
        self.play()  # the first
        with self.core_dma.record("train"):
            self.ttl4.pulse(2 * us)
            self.ttl5.on()
            # A delay that takes separate words
            delay(3 * s)
            self.ttl5.off()
        self.play()  # the second
        self.core.wait_until_mu(now_mu())
