"""Two tones of a Phaser as a satellite: one that begins as ttl4 rises, one that begins 0.8 us later and changes its
frequency after as much."""

from artiq.experiment import *


class Tones(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.mark, self.card = self.get_device("ttl4"), self.get_device("mtdds0")
        self.channel = self.get_device("mtdds0_ch0")
        self.first, self.second = self.channel.ddss[0], self.channel.ddss[3]

    @kernel
    def run(self):
        self.core.reset()
        self.core.break_realtime()
        self.card.init()
        self.core.break_realtime()
        self.channel.init()
        self.core.break_realtime()
        self.first.set_frequency(20 * MHz)
        delay(8 * ns)
        self.second.set_frequency(-5 * MHz)
        delay(10 * us)
        with parallel:
            self.mark.pulse(8 * ns)
            self.first.set_amplitude(0.5)
        delay(792 * ns)
        self.second.set_amplitude(0.25)
        delay(800 * ns)
        self.second.set_frequency(5 * MHz)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())
