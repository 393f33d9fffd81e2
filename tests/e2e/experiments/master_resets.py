"""The master's kernel resets RTIO while outputs of all kinds are pending: its own, here and on the satellite,
those of a subkernel that has ended, and of one that continues.
"""

from artiq.experiment import *
from numpy import int64

PULSES = 20


class Resets(EnvExperiment):
    def build(self):
        for name in ("core", "ttl4", "sat_ttl4", "sat_ttl5", "sat_ttl6", "sat_ttl0"):
            self.setattr_device(name)

    @kernel
    def pulses(self, ttl):
        for _ in range(PULSES):
            ttl.pulse_mu(int64(1000))
            delay_mu(int64(1000))

    @subkernel(destination=1)
    def ends(self):
        self.pulses(self.sat_ttl5)

    @subkernel(destination=1)
    def goes_on(self):
        self.pulses(self.sat_ttl6)
        subkernel_send(0, "there", 1)
        subkernel_recv("reset", TInt32)
        # Its subsequent requests are executed
        self.core.break_realtime()
        self.sat_ttl6.pulse_mu(int64(333))
        self.core.wait_until_mu(now_mu())

    @subkernel(destination=1)
    def waits(self):
        self.core.break_realtime()
        self.sat_ttl0.gate_rising(1 * us)
        subkernel_send(0, "waiting", 1)
        self.sat_ttl0.count(now_mu() + int64(1000000000))

    @kernel
    def run(self):
        self.core.reset()
        while not self.core.get_rtio_destination_status(1):
            pass
        self.core.break_realtime()
        delay(200 * ms)
        start = now_mu()
        self.ends()
        subkernel_await(self.ends)
        self.goes_on()
        subkernel_recv("there", TInt32)
        at_mu(start)
        self.pulses(self.ttl4)
        at_mu(start)
        self.pulses(self.sat_ttl4)
        self.core.reset()
        subkernel_send(1, "reset", 1)
        subkernel_await(self.goes_on)
        self.core.wait_until_mu(start + int64(10000000))
        self.core.break_realtime()
        for ttl in (self.ttl4, self.sat_ttl4, self.sat_ttl5):
            ttl.pulse_mu(int64(444))
        self.core.wait_until_mu(now_mu() + int64(1000))
        self.waits()
        subkernel_recv("waiting", TInt32)
        self.core.break_realtime()
        delay(1 * ms)
        self.core.wait_until_mu(now_mu())
        self.core.reset()
        try:
            subkernel_await(self.waits)
        except RTIOOverflow:
            print("reported")
