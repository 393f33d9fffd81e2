"""Devices that record the calls of kernels on the timeline of :mod:`kairos.dry_run.timeline`.

They replace the real ones in a device database: module ``artiq.sim.devices``, and a class of this
module.
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
        """Call the function wrapped by a kernel's decorator."""
        with manager.running():
            return function.artiq_embedded.function(*args, **kwargs)

    def close(self):
        """Print the timeline, and start a new one."""
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
        """Return the cursor; a dry run has no counter."""
        return now_mu()

    def reset(self):
        """Record the reset; there is nothing to reset."""
        manager.event("core", "reset")

    def break_realtime(self):
        """Do nothing: there is always slack."""


class _Device:
    """A device with a name on the timeline."""

    kernel_invariants = {"core", "name"}

    def __init__(self, dmgr, name="", core_device="core"):
        self.core = dmgr.get(core_device)
        self.name = name or type(self).__name__

    def _event(self, method, *arguments):
        manager.event(self.name, method, *arguments)


class Output(_Device):
    """A digital output."""

    def on(self):
        """Switch on at the cursor."""
        self._event("on")

    def off(self):
        """Switch off at the cursor."""
        self._event("off")

    def pulse(self, duration):
        """Switch on for `duration` seconds."""
        with sequential:
            self.on()
            delay(duration)
            self.off()


class Input(_Device):
    """A digital input; its counts and times are random numbers of the generator `random`."""

    random = random.Random(0)
    """Replace it to obtain other numbers."""

    def gate_rising(self, duration):
        """Open the gate for `duration` seconds; returns the time of its end in machine units."""
        self._event("gate_rising", duration)
        delay(duration)
        return now_mu()

    gate_both = gate_falling = gate_rising

    def count(self, up_to_timestamp_mu=None):
        """Return a number of edges between 0 and 100."""
        result = self.random.randint(0, 100)
        self._event("count", result)
        return result

    def timestamp_mu(self, up_to_timestamp_mu):
        """Return a time up to 100 us before the end of the gate."""
        result = up_to_timestamp_mu - self.random.randint(0, round(100e-6 / manager.ref_period))
        self._event("timestamp_mu", result)
        return result


class WaveOutput(_Device):
    """An oscillator with a switch."""

    def set(self, frequency):
        """Set the frequency in Hz."""
        self._event("set", frequency)

    def pulse(self, frequency, duration):
        """Output a frequency in Hz for `duration` seconds."""
        self._event("pulse", frequency, duration)
        delay(duration)


class VoltageOutput(_Device):
    """A voltage source, in V."""

    def set(self, value):
        """Set the voltage in V."""
        self._event("set", value)
