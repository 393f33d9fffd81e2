"""Tones of a Songbird: one that chirps, one whose amplitude is a ramp. ttl4 is high for 8 ns at the time of the
trigger of the amplitudes."""

from artiq.experiment import *
from numpy import int64


class Tones(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.mark, self.card = self.get_device("ttl4"), self.get_device("songbird0")
        self.chirping, self.ramp = self.get_device("songbird0_dds0"), self.get_device("songbird0_dds3")
        self.frequency = self.chirping.frequency_to_mu(200e6)

    @kernel
    def run(self):
        self.core.reset()
        self.card.init()
        self.core.break_realtime()
        # 0.25 V, of a range of 2 V in 16 bits; in every fourth cycle 2384 Hz more
        self.chirping.set_waveform(0x2000, 0, int64(0), int64(0), 0, self.frequency, 1 << 12, shift=1)
        # 1 V/ms from 0.125 V on, in steps of two cycles
        self.ramp.set_waveform(0x1000, 34360, int64(0), int64(0), 0, 0, 0)
        delay(10 * us)
        self.mark.pulse(8 * ns)
        delay(-8 * ns)
        self.card.trigger(9)
        delay(10 * us)
        self.core.wait_until_mu(now_mu())
