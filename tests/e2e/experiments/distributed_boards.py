"""A recording of which every board plays its part."""

from artiq.coredevice.exceptions import DMAError, RTIOUnderflow
from artiq.experiment import *
from numpy import int64


class Distributed(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "ttl4", "ttl5", "sat_ttl4", "sat_ttl5"):
            self.setattr_device(name)

    @kernel
    def record(self):
        with self.core_dma.record("both", enable_ddma=True):
            for _ in range(20):
                with parallel:
                    self.ttl4.pulse_mu(int64(101))
                    self.sat_ttl4.pulse_mu(int64(101))
                delay_mu(101)
        with self.core_dma.record("far", enable_ddma=True):
            self.sat_ttl5.pulse_mu(int64(50))
        with self.core_dma.record("here", enable_ddma=True):
            self.ttl5.pulse_mu(int64(50))

    @kernel
    def play(self):
        self.core.break_realtime()
        handle = self.core_dma.get_handle("both")
        for _ in range(3):
            self.core.break_realtime()
            delay(1 * ms)
            start = now_mu()
            self.core_dma.playback_handle(handle)
            print("advanced", now_mu() - start)
        self.core.break_realtime()
        delay(1 * ms)
        self.core_dma.playback("here")
        self.core_dma.playback("far")
        self.core.wait_until_mu(now_mu())

    @kernel
    def errors(self):
        self.core.break_realtime()
        try:
            at_mu(self.core.get_rtio_counter_mu() - 1000)
            self.core_dma.playback("here")
        except RTIOUnderflow:
            print("late here")
        self.core_dma.erase("here")
        try:
            self.core_dma.playback("here")
        except DMAError:
            print("erased")
        # Replaces the preceding one
        with self.core_dma.record("far", enable_ddma=True):
            self.sat_ttl5.pulse_mu(int64(60))
        self.core.break_realtime()
        delay(1 * ms)
        self.core_dma.playback("far")
        self.core.wait_until_mu(now_mu())

    @kernel
    def late(self):
        handle = self.core_dma.get_handle("far")
        at_mu(self.core.get_rtio_counter_mu() + 3000)
        self.core_dma.playback_handle(handle)

    def run(self):
        self.core.reset()
        self.record()
        self.play()
        self.errors()
        self.late()
