"""Digital channels: outputs, outputs that can also be inputs, and clock generators.

Commands take no time: the cursor moves only where stated.
"""

from ..language import TBool, TFloat, TInt32, TInt64, delay, delay_mu, kernel, now_mu, portable
from ..numeric import Wide
from .exceptions import RTIOOverflow
from .parts.channel import Address, RTIODevice
from .parts.edges import BOTH, FALLING, RISING
from .parts.numbers import to_word
from .rtio import rtio_input_data, rtio_input_timestamp, rtio_output

__all__ = ["DigitalOutput", "TTLClockGen", "TTLInOut", "TTLOut"]

# Addresses of a channel. The last one sets the edges recorded, like the one before, and samples the
# level.
LEVEL, DRIVEN, EDGES, EDGES_AND_SAMPLE = range(4)


class DigitalOutput:
    """Base of devices with a level. The device supplies the kernel method ``set_o(o)``, which sets
    it."""

    @kernel
    def on(self):
        """Set the level to 1."""
        self.set_o(True)

    @kernel
    def off(self):
        """Set the level to 0."""
        self.set_o(False)

    @kernel
    def pulse(self, duration):
        """High for `duration` seconds (float), then low; the cursor ends at the falling edge."""
        self.on()
        delay(duration)
        self.off()

    @kernel
    def pulse_mu(self, duration):
        """High for `duration` machine units (int64), then low; the cursor ends at the falling edge."""
        self.on()
        delay_mu(duration)
        self.off()


class TTLOut(DigitalOutput, RTIODevice):
    """A digital output on RTIO channel `channel`."""

    target_o = Address(LEVEL)

    @kernel
    def output(self):
        """Do nothing: for code that also takes a `TTLInOut`."""

    @kernel
    def set_o(self, o):
        """Set the level to `o` (bool)."""
        rtio_output(self.target_o, 1 if o else 0)


class TTLInOut(DigitalOutput, RTIODevice):
    """A digital channel that is an input after a reset and an output after :meth:`output`.

    Direction, level and gate are commands of one channel, which executes one per coarse cycle: of
    ``output()`` and ``on()`` without a delay between them the first is lost (a collision), and the
    pin remains an input. Of two commands of the same kind the last takes effect.

    `gate_latency_mu` is the maximum delay between an input event's timestamp and its arrival at the
    kernel; 13 coarse cycles by default. As an input the channel records edges while a gate is open
    (`gate_rising` etc.), which `count` and `timestamp_mu` read, samples the level, and watches for
    level changes.
    """

    kernel_invariants = {"gate_latency_mu"}
    target_o = Address(LEVEL)
    target_oe = Address(DRIVEN)
    target_sens = Address(EDGES)
    target_sample = Address(EDGES_AND_SAMPLE)

    def __init__(self, dmgr, channel, gate_latency_mu=None, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        latency = 13 * self.core.ref_multiplier if gate_latency_mu is None else gate_latency_mu
        # 64 bits wide, because kernels add it to times.
        self.gate_latency_mu = Wide(latency)

    # Output

    @kernel
    def output(self):
        """Make the channel an output. Leave one coarse cycle before the next command."""
        self.set_oe(True)

    @kernel
    def input(self):
        """Make the channel an input. Leave one coarse cycle before the next command."""
        self.set_oe(False)

    @kernel
    def set_oe(self, oe):
        """Make the channel an output (`oe` true) or an input. Leave one coarse cycle before the
        next command."""
        rtio_output(self.target_oe, 1 if oe else 0)

    @kernel
    def set_o(self, o):
        """Set the level to `o` (bool); the channel must be an output."""
        rtio_output(self.target_o, 1 if o else 0)

    # Recording edges

    @kernel
    def _set_sensitivity(self, value):
        """Record the edges in `value` from the cursor on: 1 rising, 2 falling, 3 both, 0 none."""
        rtio_output(self.target_sens, value)

    @kernel
    def _close_gate(self) -> TInt64:
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def gate_rising_mu(self, duration) -> TInt64:
        """Record rising edges for `duration` machine units (int64); returns the cursor, at the end of the
        gate."""
        self._set_sensitivity(RISING)
        delay_mu(duration)
        return self._close_gate()

    @kernel
    def gate_rising(self, duration) -> TInt64:
        """Record rising edges for `duration` seconds (float); returns the cursor, at the end of the
        gate."""
        self._set_sensitivity(RISING)
        delay(duration)
        return self._close_gate()

    @kernel
    def gate_falling_mu(self, duration) -> TInt64:
        """Record falling edges for `duration` machine units (int64); returns the cursor, at the end of the
        gate."""
        self._set_sensitivity(FALLING)
        delay_mu(duration)
        return self._close_gate()

    @kernel
    def gate_falling(self, duration) -> TInt64:
        """Record falling edges for `duration` seconds (float); returns the cursor, at the end of the
        gate."""
        self._set_sensitivity(FALLING)
        delay(duration)
        return self._close_gate()

    @kernel
    def gate_both_mu(self, duration) -> TInt64:
        """Record both edges for `duration` machine units (int64); returns the cursor, at the end of the
        gate."""
        self._set_sensitivity(BOTH)
        delay_mu(duration)
        return self._close_gate()

    @kernel
    def gate_both(self, duration) -> TInt64:
        """Record both edges for `duration` seconds (float); returns the cursor, at the end of the
        gate."""
        self._set_sensitivity(BOTH)
        delay(duration)
        return self._close_gate()

    @kernel
    def timestamp_mu(self, up_to_timestamp_mu) -> TInt64:
        """Return the time of the next recorded event, or -1 if there is none up to
        `up_to_timestamp_mu` (int64)."""
        return rtio_input_timestamp(self.gate_latency_mu + up_to_timestamp_mu, self.channel)

    @kernel
    def count(self, up_to_timestamp_mu) -> TInt32:
        """Count and consume the recorded events up to `up_to_timestamp_mu` (int64), usually the
        value a gate returned."""
        found = 0
        while self.timestamp_mu(up_to_timestamp_mu) >= 0:
            found += 1
        return found

    # Sampling and watching the level

    @kernel
    def _sample(self, edges):
        """Sample the level at the cursor, and record `edges` from there on."""
        rtio_output(self.target_sample, edges)

    @kernel
    def sample_get(self) -> TInt32:
        """Level of the oldest sample that was not read yet, 0 or 1; waits for it."""
        return rtio_input_data(self.channel)

    @kernel
    def sample_input(self):
        """Sample the level at the cursor; read it with :meth:`sample_get`."""
        self._sample(0)

    @kernel
    def sample_get_nonrt(self) -> TInt32:
        """Sample the level immediately, without regard to timing."""
        self.sample_input()
        level = self.sample_get()
        self.core.break_realtime()
        return level

    @kernel
    def watch_stay_on(self) -> TBool:
        """Watch until `watch_done` that the level stays 1; False if it is 0 already."""
        self._sample(FALLING)
        return self.sample_get() == 1

    @kernel
    def watch_stay_off(self) -> TBool:
        """Watch until `watch_done` that the level stays 0; False if it is 1 already."""
        self._sample(RISING)
        return self.sample_get() == 0

    @kernel
    def watch_done(self) -> TBool:
        """End the watch at the cursor; returns True if the level never changed."""
        rtio_output(self.target_sens, 0)
        try:
            return self.count(now_mu()) == 0
        except RTIOOverflow:
            return False


class TTLClockGen(RTIODevice):
    """A clock on a digital output: the highest bit of an accumulator of `acc_width` bits that adds
    a word every coarse cycle. Up to half the coarse frequency."""

    kernel_invariants = {"acc_width", "ftw_per_hz"}

    def __init__(self, dmgr, channel, acc_width=24, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.acc_width = Wide(acc_width)
        self.ftw_per_hz = self.core.coarse_ref_period * (1 << acc_width)

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """Convert a frequency in Hz to a word, modulo the coarse frequency. ValueError if it is not a finite number."""
        return int(to_word(frequency * self.ftw_per_hz))

    @portable
    def ftw_to_frequency(self, ftw) -> TFloat:
        """Convert a word to a frequency in Hz."""
        return ftw / self.ftw_per_hz

    @kernel
    def stop(self):
        """Stop the clock, at level 0."""
        self.set_mu(0)

    @kernel
    def set_mu(self, frequency):
        """Start the clock with a word (int32), its first rising edge at the cursor; the word 0 stops it."""
        rtio_output(self.target, frequency)

    @kernel
    def set(self, frequency):
        """Start the clock with a frequency in Hz (float), its first rising edge at the cursor."""
        self.set_mu(self.frequency_to_ftw(frequency))
