"""Kernels for the figures of the virtual bench, based on `examples/ion/trap.py`, whose directory is
on the path."""

from artiq.experiment import *
from numpy import int64
from trap import THRESHOLD, Trap


class Shots(Trap, EnvExperiment):
    """Shots of the example's Rabi flop, and settings of its synthesiser."""

    def build(self):
        self.build_trap()
        self.led = self.get_device("ttl4")

    def run(self):
        self.setup()

    @kernel
    def turns(self, number: TInt32) -> TInt32:
        """Take shots in succession; returns in how many the ion was dark."""
        dark = 0
        self.core.break_realtime()
        for _ in range(number):
            self.cool()
            self.qubit.sw.pulse(10 * us)
            delay(2 * us)
            if self.detect() < THRESHOLD:
                dark += 1
        return dark

    @kernel
    def sets(self, number: TInt32, pause: TInt64) -> TInt64:
        """Make settings in succession; returns their duration on the device in machine units, -1
        after an underflow."""
        self.core.break_realtime()
        begin = now_mu()
        try:
            for i in range(number):
                self.qubit.set(80 * MHz + float(i), 0.25, 0.5)
                delay_mu(pause)
        except RTIOUnderflow:
            return int64(-1)
        return now_mu() - begin

    @kernel
    def blinks(self, number: TInt32):
        self.core.break_realtime()
        for _ in range(number):
            self.led.pulse(5 * us)
            delay(5 * us)
