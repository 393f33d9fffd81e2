"""Cables between three boards, forming a ring."""

from artiq.experiment import *


class Ring(EnvExperiment):
    """Delay after which each board's input sees the output of another board, in machine units."""

    def build(self):
        self.setattr_device("core")
        for name in ("ttl0", "ttl4", "relay_ttl0", "relay_ttl4", "sat_ttl0", "sat_ttl4"):
            self.setattr_device(name)

    @kernel
    def run(self):
        self.core.reset()
        self.ttl0.input()
        self.relay_ttl0.input()
        self.sat_ttl0.input()
        delay(200 * us)
        start = now_mu()
        with parallel:
            master = self.ttl0.gate_rising(20 * us)
            relay = self.relay_ttl0.gate_rising(20 * us)
            satellite = self.sat_ttl0.gate_rising(20 * us)
            with sequential:
                delay(2 * us)
                with parallel:
                    self.ttl4.pulse(1 * us)
                    self.relay_ttl4.pulse(1 * us)
                    self.sat_ttl4.pulse(1 * us)
        start += 2000
        print(
            self.sat_ttl0.timestamp_mu(satellite) - start,
            self.relay_ttl0.timestamp_mu(relay) - start,
            self.ttl0.timestamp_mu(master) - start,
        )
