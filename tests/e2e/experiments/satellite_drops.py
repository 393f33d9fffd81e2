"""A subkernel resets the RTIO core of its board while outputs of the master's kernel, or of its
recording, are pending there.
"""

from artiq.experiment import *
from numpy import int64

PULSES = 20


class Drops(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("sat_ttl5")
        self.setattr_argument("recorded", BooleanValue(False))

    @subkernel(destination=1)
    def drops(self):
        self.core.reset()

    @kernel
    def pulses(self):
        for _ in range(PULSES):
            self.sat_ttl5.pulse_mu(int64(1000))
            delay_mu(int64(1000))

    @kernel
    def run(self):
        self.core.reset()
        while not self.core.get_rtio_destination_status(1):
            pass
        subkernel_preload(self.drops)
        if self.recorded:
            with self.core_dma.record("pulses", enable_ddma=True):
                self.pulses()
            handle = self.core_dma.get_handle("pulses")
            self.core.break_realtime()
            delay(200 * ms)
            self.core_dma.playback_handle(handle)
        else:
            self.core.break_realtime()
            delay(200 * ms)
            self.pulses()
        end = now_mu()
        self.drops()
        subkernel_await(self.drops)
        self.core.wait_until_mu(end + int64(1000000))
        print("done")
