"""A camera at the frame grabber: trigger, regions of interest, results with a timeout. No camera is
connected."""

from artiq.coredevice.grabber import GrabberTimeoutException, OutOfSyncException
from artiq.experiment import *


class Camera(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("grabber0")
        self.trigger = self.get_device("ttl4")
        self.rois = [(0, 0, 10, 10), (16, 8, 20, 12)]
        self.results = [-1, -1]
        self.missed = 0

    @kernel
    def setup(self):
        for i in range(len(self.rois)):
            x0, y0, x1, y1 = self.rois[i]
            self.grabber0.setup_roi(i, x0, y0, x1, y1)

    @kernel
    def expose(self):
        with parallel:
            self.trigger.pulse(10 * us)
            self.grabber0.gate_roi_pulse(0b11, 100 * us)
        self.grabber0.input_mu(self.results, now_mu() + 1000)

    @kernel
    def run(self):
        self.core.reset()
        self.setup()
        for _ in range(3):
            try:
                self.expose()
            except OutOfSyncException:
                print("out of sync")
            except GrabberTimeoutException:
                self.missed += 1
            finally:
                self.core.break_realtime()

    def analyze(self):
        print("missed", self.missed, self.results)
