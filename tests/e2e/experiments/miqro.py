"""A pulse of a Phaser with Miqro gateware: two oscillators in a window that rises and falls."""

from artiq.experiment import *


class Pulse(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.phaser = self.get_device("phaser1")
        self.mark = self.get_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.phaser.init()
        self.core.break_realtime()
        self.phaser.channel[0].set_att(0.0)
        pulses = self.phaser.channel[0].miqro
        pulses.set_profile(0, 1, 10 * MHz, 0.5, 0.125)
        delay(20 * us)
        pulses.set_profile(3, 2, -20 * MHz, 0.25)
        delay(20 * us)
        pulses.set_window(0x10, [(1.0, 0.0), (0.0, 1.0)], 400 * ns, 1)
        pulses.set_window(0x20, [(0.5, 0.0)], 1 * us, 0)
        delay(20 * us)
        at_mu(self.phaser.get_next_frame_mu())
        self.mark.pulse(8 * ns)
        pulses.pulse(0x10, [1, 0, 0, 2])
        delay(4 * us)
        delay_mu(4)
        pulses.pulse(0x20, [1])
        delay(4 * us)
        self.core.wait_until_mu(now_mu())
