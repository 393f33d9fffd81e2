"""Photon counting with the counter in the gateware: a histogram of counts, several time bins, and an
overflow. The photons are pulses on the input's own pin.
"""

from artiq.coredevice.edge_counter import CounterOverflow
from artiq.experiment import *


class Photons(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.pmt = self.get_device("ttl0")
        self.counter = self.get_device("ttl0_counter")
        self.setattr_argument("repetitions", NumberValue(4, precision=0, step=1, type="int"))
        self.histogram = [0] * 8
        self.bins = [0, 0, 0]

    @kernel
    def photons(self, number):
        for _ in range(number):
            delay(400 * ns)
            self.pmt.pulse(100 * ns)

    @kernel
    def expose(self, number) -> TInt32:
        with parallel:
            self.counter.gate_rising(10 * us)
            self.photons(number)
        return self.counter.fetch_count()

    @kernel
    def binned(self):
        """Counts sent at the end of each bin, without a gap between bins."""
        with parallel:
            with sequential:
                self.counter.set_config(
                    count_rising=True, count_falling=False, send_count_event=False, reset_to_zero=True
                )
                for i in range(3):
                    delay(2 * us)
                    self.counter.set_config(i < 2, False, True, True)
            self.photons(12)
        for i in range(len(self.bins)):
            timestamp, self.bins[i] = self.counter.fetch_timestamped_count(now_mu() + 1000)
            print("bin", i, timestamp > 0)
        nothing, count = self.counter.fetch_timestamped_count(now_mu())
        print("no more", nothing, count)

    @kernel
    def run(self):
        self.core.reset()
        self.pmt.output()
        delay(1 * us)
        for i in range(self.repetitions):
            n = self.expose(i + 2)
            self.histogram[n] += 1
            self.append_to_dataset("counts", n)
            self.core.break_realtime()
        self.binned()
        self.core.break_realtime()
        self.counter.gate_both_mu(self.core.seconds_to_mu(1 * us) + 1)
        print("dark", self.counter.fetch_count())
        try:
            raise CounterOverflow
        except CounterOverflow:
            print("overflow")

    def prepare(self):
        self.set_dataset("counts", [], broadcast=True)

    def analyze(self):
        print(self.histogram, self.bins)
