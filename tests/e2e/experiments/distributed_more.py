"""Many distributed recordings; one made by a satellite's kernel; one with a long duration."""

from artiq.coredevice.exceptions import RTIODestinationUnreachable
from artiq.experiment import *
from numpy import int64


class More(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "ttl4", "sat_ttl4", "sat_ttl5"):
            self.setattr_device(name)
        self.setattr_argument("seconds", NumberValue(0, precision=0, step=1, type="int"))

    @kernel
    def many(self, count: TInt32):
        for number in range(count):
            with self.core_dma.record(str(number), enable_ddma=True):
                self.sat_ttl4.pulse_mu(int64(100 + number))
        for number in [0, count // 2, count - 1]:
            handle = self.core_dma.get_handle(str(number))
            self.core.break_realtime()
            delay(1 * ms)
            self.core_dma.playback_handle(handle)

    @subkernel(destination=1)
    def alone(self):
        with self.core_dma.record("alone", enable_ddma=True):
            self.sat_ttl5.pulse_mu(int64(70))
        handle = self.core_dma.get_handle("alone")
        self.core.break_realtime()
        self.core_dma.playback_handle(handle)
        self.core.wait_until_mu(now_mu())

    @subkernel(destination=1)
    def elsewhere(self):
        with self.core_dma.record("elsewhere", enable_ddma=True):
            self.ttl4.pulse_mu(int64(70))
        self.core.break_realtime()
        self.core_dma.playback("elsewhere")

    @kernel
    def of_a_satellite(self):
        self.alone()
        subkernel_await(self.alone)
        self.elsewhere()
        try:
            subkernel_await(self.elsewhere)
        except RTIODestinationUnreachable:
            print("out of reach")

    @kernel
    def takes_long(self, seconds: TInt32):
        with self.core_dma.record("long", enable_ddma=True):
            delay(float(seconds))
            # More than the lanes have room for
            for _ in range(1000):
                self.sat_ttl4.pulse_mu(int64(1000))
                delay_mu(1000)
        handle = self.core_dma.get_handle("long")
        self.core.break_realtime()
        delay(1 * ms)
        self.core_dma.playback_handle(handle)
        print("played")

    def run(self):
        self.core.reset()
        if self.seconds > 0:
            self.takes_long(self.seconds)
        else:
            self.many(100)
            self.of_a_satellite()
