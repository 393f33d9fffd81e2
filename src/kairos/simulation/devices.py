"""Devices that record the calls of kernels on the timeline of :mod:`kairos.simulation.timeline`.

They stand in a device database in the place of the real ones: module ``artiq.sim.devices``, and a class of this one.
"""

import random

from ..language import delay, host_only, now_mu, portable, sequential
from .timeline import manager

__all__ = ["Core", "Input", "Output", "VoltageOutput", "WaveOutput"]


class Core:
    """Runs kernels as Python functions, on the timeline."""

    kernel_invariants = {"core", "ref_period"}

    def __init__(self, dmgr, ref_period=1e-9):
        self.core = self
        self.ref_period = manager.ref_period = ref_period

    @host_only
    def run(self, function, args, kwargs):
        """Call the function that a kernel's decorator has wrapped."""
        with manager.running():
            return function.artiq_embedded.function(*args, **kwargs)

    def close(self):
        """Print the timeline, and begin a new one."""
        if manager.events:
            print(manager.format_timeline())
        manager.__init__(manager.ref_period)

    @portable
    def seconds_to_mu(self, seconds):
        return int(seconds // self.ref_period)

    @portable
    def mu_to_seconds(self, mu):
        return mu * self.ref_period

    def get_rtio_counter_mu(self):
        """A simulation has no counter of its own: the cursor."""
        return now_mu()

    def reset(self):
        """There is nothing to reset."""
        manager.event("core", "reset")

    def break_realtime(self):
        """There is always slack."""


class _Device:
    """A device that knows its name on the timeline."""

    kernel_invariants = {"core", "name"}

    def __init__(self, dmgr, name="", core_device="core"):
        self.core = dmgr.get(core_device)
        self.name = name or type(self).__name__

    def _event(self, what, *arguments):
        manager.event(self.name, what, *arguments)


class Output(_Device):
    """A digital output."""

    def on(self):
        """High from the cursor on."""
        self._event("on")

    def off(self):
        """Low from the cursor on."""
        self._event("off")

    def pulse(self, duration):
        """High for `duration` seconds."""
        with sequential:
            self.on()
            delay(duration)
            self.off()


class Input(_Device):
    """A digital input; what it counts and when is random, of the generator `random`."""

    random = random.Random(0)
    """Replace it for other numbers."""

    def gate_rising(self, duration):
        """Open the gate for `duration` seconds; returns the time of its end in machine units."""
        self._event("gate_rising", duration)
        delay(duration)
        return now_mu()

    gate_both = gate_falling = gate_rising

    def count(self, up_to_timestamp_mu=None):
        """A number of edges between 0 and 100."""
        result = self.random.randint(0, 100)
        self._event("count", result)
        return result

    def timestamp_mu(self, up_to_timestamp_mu):
        """A time up to 100 us before the end of the gate."""
        result = up_to_timestamp_mu - self.random.randint(0, round(100e-6 / manager.ref_period))
        self._event("timestamp_mu", result)
        return result


class WaveOutput(_Device):
    """An oscillator with a switch."""

    def set(self, frequency):
        """Set the frequency in Hz."""
        self._event("set", frequency)

    def pulse(self, frequency, duration):
        """Hz, for `duration` seconds."""
        self._event("pulse", frequency, duration)
        delay(duration)


class VoltageOutput(_Device):
    """A voltage source, in V."""

    def set(self, value):
        """Set the voltage in V."""
        self._event("set", value)
