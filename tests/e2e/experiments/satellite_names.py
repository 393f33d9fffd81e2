"""A subkernel whose board has a collision, and one that drives a pin of another board."""

from artiq.experiment import *


class Names(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("sat_ttl0")

    @subkernel(destination=1)
    def collides(self):
        self.sat_ttl0.output()
        self.sat_ttl0.on()

    @subkernel(destination=1)
    def drives_the_masters(self):
        self.ttl4.on()

    @kernel
    def collision(self):
        self.core.reset()
        subkernel_preload(self.collides)
        self.core.break_realtime()
        delay(1 * ms)
        self.collides()
        subkernel_await(self.collides)
        # Until the core device has been informed
        at_mu(self.core.get_rtio_counter_mu() + 10_000_000)
        self.core.wait_until_mu(now_mu())

    @kernel
    def elsewhere(self):
        self.drives_the_masters()
        subkernel_await(self.drives_the_masters)

    def run(self):
        self.collision()
        self.elsewhere()
