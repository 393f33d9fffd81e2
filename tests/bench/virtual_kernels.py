"""Kernels for the figures of the virtual bench."""

from artiq.experiment import *
from numpy import int64


class Shots(EnvExperiment):
    """Shots of the example's Rabi flop, and settings of its synthesiser."""

    def build(self):
        self.setattr_device("core")
        self.cpld = self.get_device("urukul0_cpld")
        self.qubit = self.get_device("urukul0_ch0")
        self.cooling = self.get_device("urukul0_ch1")
        self.repump = self.get_device("urukul0_ch2")
        self.photons = self.get_device("ttl0_counter")
        self.led = self.get_device("ttl4")

    def run(self):
        self.setup()

    @kernel
    def setup(self):
        self.core.reset()
        self.cpld.init()
        for beam in (self.qubit, self.cooling, self.repump):
            beam.init()
            beam.sw.off()
            beam.set_att(0.0)
        self.qubit.set(80 * MHz)
        self.cooling.set(110 * MHz)
        self.repump.set(80 * MHz)

    @kernel
    def shots(self, number: TInt32) -> TInt32:
        dark = 0
        self.core.break_realtime()
        for _ in range(number):
            with parallel:
                self.cooling.sw.pulse(20 * us)
                self.repump.sw.pulse(20 * us)
            delay(2 * us)
            self.qubit.sw.pulse(10 * us)
            delay(2 * us)
            with parallel:
                self.cooling.sw.pulse(200 * us)
                self.photons.gate_rising(200 * us)
            if self.photons.fetch_count() < 5:
                dark += 1
            delay(10 * us)
        return dark

    @kernel
    def sets(self, number: TInt32, pause: TInt64) -> TInt64:
        """Settings one behind the other; the time they take on the device in machine units, -1 at an underflow."""
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
