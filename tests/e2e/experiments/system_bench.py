"""Pins of a master and of a satellite that a bench connects: signals returned, and their times."""

from artiq.experiment import *


class Joined(EnvExperiment):
    """Cables in both directions, an ion lit by the master and observed by the satellite, and a
    subkernel's response."""

    def build(self):
        for name in (
            "core",
            "ttl0",
            "ttl1",
            "ttl4",
            "ttl5",
            "sat_ttl0",
            "sat_ttl1",
            "sat_ttl2",
            "sat_ttl4",
            "sat_ttl5",
        ):
            self.setattr_device(name)

    @subkernel(destination=1)
    def answer(self) -> TInt64:
        gate_end = self.sat_ttl0.gate_rising(20 * us)
        edge = self.sat_ttl0.timestamp_mu(gate_end)
        at_mu(edge + 2000)
        self.sat_ttl4.pulse(1 * us)
        return edge

    @kernel
    def cables(self):
        """From the master to the satellite and vice versa, both simultaneously."""
        delay(100 * us)
        start = now_mu()
        with parallel:
            down = self.sat_ttl0.gate_rising(20 * us)
            up = self.ttl0.gate_rising(20 * us)
            with sequential:
                delay(3 * us)
                self.ttl4.pulse(1 * us)
            with sequential:
                delay(3 * us + 5 * ns)
                self.sat_ttl4.pulse(1 * us)
        arrived = self.sat_ttl0.timestamp_mu(down)
        print("down", arrived - start - 3000, "up", self.ttl0.timestamp_mu(up) - start - 3005)

    @kernel
    def photons(self):
        """While the light is off, and while it is on."""
        self.core.break_realtime()
        dark = self.sat_ttl1.count(self.sat_ttl1.gate_rising(100 * us))
        self.core.break_realtime()
        self.ttl5.on()
        gate_end = self.sat_ttl1.gate_rising(100 * us)
        self.ttl5.off()
        print("photons", dark, self.sat_ttl1.count(gate_end))

    @kernel
    def round_trip(self):
        """The satellite responds to a pulse of the master autonomously, and the master's input sees
        the response."""
        self.core.break_realtime()
        # The satellite's kernel has to start, over up to 20 km of fibre
        delay(10 * ms)
        start = now_mu()
        self.answer()
        gate_end = self.ttl0.gate_rising(20 * us)
        at_mu(start + 5000)
        self.ttl4.pulse(1 * us)
        back = self.ttl0.timestamp_mu(gate_end)
        edge = subkernel_await(self.answer)
        print("there", edge - start - 5000, "and back", back - start - 5000)

    @kernel
    def run(self):
        self.core.reset()
        for pin in [self.ttl0, self.ttl1, self.sat_ttl0, self.sat_ttl1, self.sat_ttl2]:
            pin.input()
        self.cables()
        self.photons()
        self.round_trip()
        self.core.break_realtime()
        delay(1 * ms)
        print("mains", self.sat_ttl2.count(self.sat_ttl2.gate_rising(10 * ms)))


class Wired(EnvExperiment):
    """An input of the satellite, and its driver from the command line."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl0")
        self.setattr_device("sat_ttl1")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        self.sat_ttl0.input()
        self.sat_ttl1.input()
        delay(100 * us)
        edges = self.sat_ttl0.count(self.sat_ttl0.gate_rising(10 * ms))
        self.core.break_realtime()
        start = now_mu()
        with parallel:
            gate_end = self.sat_ttl1.gate_rising(5 * us)
            with sequential:
                delay(1 * us)
                self.ttl4.pulse(1 * us)
        print(edges, self.sat_ttl1.timestamp_mu(gate_end) - start - 1000)


class Driven(EnvExperiment):
    """An input of the satellite that a part drives is configured as an output."""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl2")

    @kernel
    def run(self):
        self.core.reset()
        self.sat_ttl2.output()
        delay(1 * us)
        self.sat_ttl2.on()
