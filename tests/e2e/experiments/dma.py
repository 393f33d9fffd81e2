"""DMA on the device: recording, playing, errors."""

from artiq.coredevice.exceptions import DMAError
from artiq.experiment import *
from numpy import int64


class Dma(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_dma")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")

    @kernel
    def record(self):
        with self.core_dma.record("pulses"):
            for _ in range(50):
                self.ttl4.pulse_mu(int64(100))
                delay_mu(100)
        with self.core_dma.record("far"):
            delay(10 * s)
            self.ttl5.on()
            delay_mu(-5 * 10**9)
            self.ttl5.off()
        print("recorded")

    @kernel
    def play(self):
        self.core.break_realtime()
        start = now_mu()
        self.core_dma.playback("pulses")
        print("advanced", now_mu() - start)
        handle = self.core_dma.get_handle("pulses")
        self.core.break_realtime()
        for _ in range(3):
            self.core_dma.playback_handle(handle)
            self.ttl5.pulse_mu(int64(40))
        self.core_dma.erase("none")
        try:
            self.core_dma.playback_handle(handle)
        except DMAError:
            print("invalid handle")
        self.core.wait_until_mu(now_mu())

    @kernel
    def errors(self):
        try:
            self.core_dma.playback("none")
        except DMAError:
            print("not found")
        try:
            with self.core_dma.record("one"):
                self.ttl5.on()
                with self.core_dma.record("two"):
                    print("never")
        except DMAError:
            print("already recording")
        try:
            with self.core_dma.record("left"):
                raise ValueError("out of the block")
        except ValueError:
            print("left")
        self.core_dma.playback("left")
        self.core_dma.erase("left")
        try:
            self.core_dma.playback("left")
        except DMAError:
            print("erased")
        # Outputs are live again.
        self.core.break_realtime()
        self.ttl4.pulse_mu(int64(8))

    @kernel
    def stale(self):
        handle = self.core_dma.get_handle("pulses")
        self.core_dma.erase("none")
        self.core_dma.playback_handle(handle)

    @kernel
    def underflow(self):
        self.core.break_realtime()
        delay(-1 * ms)
        self.core_dma.playback("pulses")

    def run(self):
        self.record()
        self.play()
        self.errors()
        try:
            self.stale()
        except DMAError as error:
            print(error)
        self.underflow()
