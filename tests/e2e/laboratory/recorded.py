"""Sequences recorded in memory and played, and values stored there."""

from artiq.coredevice.exceptions import DMAError
from artiq.experiment import *

from tests.e2e.laboratory import Laboratory, expect


class _Recorded(Laboratory):
    devices = "core_dma core_cache ttl4 ttl5"


@expect(pins={"ttl4": [(t + 200 * n, t + 200 * n + 100) for t in (0, 5000, 10_000) for n in range(4)]})
class PlayedThreeTimes(_Recorded):
    @kernel
    def record(self):
        with self.core_dma.record("pulses"):
            for _ in range(4):
                self.ttl4.pulse(100 * ns)
                delay(100 * ns)

    @kernel
    def run(self):
        self.core.reset()
        self.record()
        handle = self.core_dma.get_handle("pulses")
        self.core.break_realtime()
        start = now_mu()
        for n in range(3):
            at_mu(start + n * 5000)
            self.core_dma.playback_handle(handle)


@expect(pins={"ttl4": [(0, 300), (600, 900)], "ttl5": [(300, 600), (900, 1200)]})
class TwoRecordingsInTurn(_Recorded):
    @kernel
    def run(self):
        self.core.reset()
        with self.core_dma.record("first"):
            self.ttl4.pulse(300 * ns)
        with self.core_dma.record("second"):
            self.ttl5.pulse(300 * ns)
        first = self.core_dma.get_handle("first")
        second = self.core_dma.get_handle("second")
        self.core.break_realtime()
        for _ in range(2):
            self.core_dma.playback_handle(first)
            self.core_dma.playback_handle(second)


@expect(pins={"ttl4": [(0, 1000), (2000, 3000)], "ttl5": [(0, 500), (2000, 2500)]})
class RecordedInParallel(_Recorded):
    @kernel
    def run(self):
        self.core.reset()
        with self.core_dma.record("both"):
            with parallel:
                self.ttl4.pulse(1 * us)
                self.ttl5.pulse(500 * ns)
            delay(1 * us)
        self.core.break_realtime()
        handle = self.core_dma.get_handle("both")
        delay(1 * ms)
        self.core_dma.playback_handle(handle)
        self.core_dma.playback_handle(handle)


@expect(pins={"ttl4": [(0, 100)]}, printed=["no such recording"])
class ErasedRecording(_Recorded):
    @kernel
    def run(self):
        self.core.reset()
        with self.core_dma.record("once"):
            self.ttl4.pulse(100 * ns)
        self.core.break_realtime()
        self.core_dma.playback("once")
        self.core_dma.erase("once")
        try:
            self.core_dma.playback("once")
        except DMAError:
            print("no such recording")


@expect(pins={"ttl5": [(0, 700), (1400, 2100)]})
class PlayedByAnotherKernel(_Recorded):
    @kernel
    def record(self):
        self.core.reset()
        with self.core_dma.record("kept"):
            self.ttl5.pulse(700 * ns)
            delay(700 * ns)

    @kernel
    def play(self):
        self.core.break_realtime()
        handle = self.core_dma.get_handle("kept")
        delay(1 * ms)
        self.core_dma.playback_handle(handle)
        self.core_dma.playback_handle(handle)

    def run(self):
        self.record()
        self.play()


@expect(printed=["empty", "kept [4, 5, 6]"])
class KeptBetweenKernels(_Recorded):
    @kernel
    def put(self):
        if len(self.core_cache.get("calibration")) == 0:
            print("empty")
        self.core_cache.put("calibration", [4, 5, 6])

    @kernel
    def get(self):
        print("kept", self.core_cache.get("calibration"))

    def run(self):
        self.put()
        self.get()
