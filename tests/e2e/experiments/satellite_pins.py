from artiq.experiment import *


class SatellitePins(EnvExperiment):
    """Simultaneous outputs of two boards, and an edge timestamped by the other one."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("sat_ttl0")
        self.setattr_device("sat_ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.sat_ttl0.output()
        delay(10 * us)
        for i in range(5):
            with parallel:
                self.ttl4.pulse((i + 1) * 1 * us)
                self.sat_ttl4.pulse((i + 1) * 1 * us + 1 * ns)
            delay(3 * us)
        with parallel:
            gate_end = self.sat_ttl0.gate_rising(4 * us)
            with sequential:
                delay(1 * us)
                rising = now_mu()
                self.sat_ttl0.pulse(2 * us)
        print("the satellite's edge is stamped", self.sat_ttl0.timestamp_mu(gate_end) - rising, "ns after its event")
