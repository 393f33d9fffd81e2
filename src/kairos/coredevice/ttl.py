"""Digital channels: outputs, outputs that can also be inputs, and clock generators.

RTIO addresses of a channel: 0 level, 1 output enable, 2 sensitivity (bit 0 rising, bit 1 falling edges),
3 sensitivity and a sample of the level. Commands take no time: the cursor moves only where the text says so.
"""

from numpy import int64

from ..language import TBool, TFloat, TInt32, TInt64, delay, delay_mu, kernel, now_mu, portable
from .exceptions import RTIOOverflow
from .rtio import rtio_input_data, rtio_input_timestamp, rtio_output

__all__ = ["TTLClockGen", "TTLInOut", "TTLOut"]


class TTLOut:
    """A digital output on RTIO channel `channel`."""

    kernel_invariants = {"core", "channel", "target_o"}

    def __init__(self, dmgr, channel, core_device="core"):
        self.core = dmgr.get(core_device)
        self.channel = channel
        self.target_o = channel << 8

    @staticmethod
    def get_rtio_channels(channel, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel, None)]

    @kernel
    def output(self):
        """Does nothing: for code that also takes a `TTLInOut`."""

    @kernel
    def set_o(self, o):
        """Set the level to `o` (bool)."""
        rtio_output(self.target_o, 1 if o else 0)

    @kernel
    def on(self):
        """Set the level to 1."""
        self.set_o(True)

    @kernel
    def off(self):
        """Set the level to 0."""
        self.set_o(False)

    @kernel
    def pulse_mu(self, duration):
        """High for `duration` machine units (int64); the cursor ends at the falling edge."""
        self.on()
        delay_mu(duration)
        self.off()

    @kernel
    def pulse(self, duration):
        """High for `duration` seconds (float); the cursor ends at the falling edge."""
        self.on()
        delay(duration)
        self.off()


class TTLInOut:
    """A digital channel that is an input after a reset and an output after :meth:`output`.

    `gate_latency_mu` is the time by which an input event can reach the kernel later than its timestamp; 13 coarse
    cycles unless given.
    """

    kernel_invariants = {"core", "channel", "gate_latency_mu", "target_o", "target_oe", "target_sens", "target_sample"}

    def __init__(self, dmgr, channel, gate_latency_mu=None, core_device="core"):
        self.core = dmgr.get(core_device)
        self.channel = channel
        # Kept as a 64-bit number, because kernels add it to timestamps.
        self.gate_latency_mu = int64(13 * self.core.ref_multiplier if gate_latency_mu is None else gate_latency_mu)
        self.target_o = (channel << 8) + 0
        self.target_oe = (channel << 8) + 1
        self.target_sens = (channel << 8) + 2
        self.target_sample = (channel << 8) + 3

    @staticmethod
    def get_rtio_channels(channel, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel, None)]

    @kernel
    def set_oe(self, oe):
        """Drive the pin (`oe` True) or not. Leave one coarse cycle before the next command."""
        rtio_output(self.target_oe, 1 if oe else 0)

    @kernel
    def output(self):
        """Make the channel an output. Leave one coarse cycle before the next command."""
        self.set_oe(True)

    @kernel
    def input(self):
        """Make the channel an input. Leave one coarse cycle before the next command."""
        self.set_oe(False)

    @kernel
    def set_o(self, o):
        """Set the level to `o` (bool); the channel must be an output."""
        rtio_output(self.target_o, 1 if o else 0)

    @kernel
    def on(self):
        """Set the level to 1; the channel must be an output."""
        self.set_o(True)

    @kernel
    def off(self):
        """Set the level to 0; the channel must be an output."""
        self.set_o(False)

    @kernel
    def pulse_mu(self, duration):
        """High for `duration` machine units (int64); the cursor ends at the falling edge."""
        self.on()
        delay_mu(duration)
        self.off()

    @kernel
    def pulse(self, duration):
        """High for `duration` seconds (float); the cursor ends at the falling edge."""
        self.on()
        delay(duration)
        self.off()

    # Input: gates open the recording of edges; the recorded events are read with count() or timestamp_mu().

    @kernel
    def _set_sensitivity(self, value):
        rtio_output(self.target_sens, value)

    @kernel
    def gate_rising_mu(self, duration) -> TInt64:
        """Record rising edges for `duration` machine units (int64); returns the cursor, at the end of the gate."""
        self._set_sensitivity(1)
        delay_mu(duration)
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def gate_falling_mu(self, duration) -> TInt64:
        """Record falling edges for `duration` machine units (int64); returns the cursor, at the end of the gate."""
        self._set_sensitivity(2)
        delay_mu(duration)
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def gate_both_mu(self, duration) -> TInt64:
        """Record both edges for `duration` machine units (int64); returns the cursor, at the end of the gate."""
        self._set_sensitivity(3)
        delay_mu(duration)
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def gate_rising(self, duration) -> TInt64:
        """Record rising edges for `duration` seconds (float); returns the cursor, at the end of the gate."""
        self._set_sensitivity(1)
        delay(duration)
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def gate_falling(self, duration) -> TInt64:
        """Record falling edges for `duration` seconds (float); returns the cursor, at the end of the gate."""
        self._set_sensitivity(2)
        delay(duration)
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def gate_both(self, duration) -> TInt64:
        """Record both edges for `duration` seconds (float); returns the cursor, at the end of the gate."""
        self._set_sensitivity(3)
        delay(duration)
        self._set_sensitivity(0)
        return now_mu()

    @kernel
    def count(self, up_to_timestamp_mu) -> TInt32:
        """Number of recorded events up to `up_to_timestamp_mu` (int64), usually what a gate returned; reads them."""
        count = 0
        while rtio_input_timestamp(up_to_timestamp_mu + self.gate_latency_mu, self.channel) >= 0:
            count += 1
        return count

    @kernel
    def timestamp_mu(self, up_to_timestamp_mu) -> TInt64:
        """Time of the next recorded event, or -1 if there is none up to `up_to_timestamp_mu` (int64)."""
        return rtio_input_timestamp(up_to_timestamp_mu + self.gate_latency_mu, self.channel)

    # Input: samples of the level.

    @kernel
    def sample_input(self):
        """Sample the level at the cursor; read it with :meth:`sample_get`."""
        rtio_output(self.target_sample, 0)

    @kernel
    def sample_get(self) -> TInt32:
        """Level of the oldest sample that was not read yet, 0 or 1; waits for it."""
        return rtio_input_data(self.channel)

    @kernel
    def sample_get_nonrt(self) -> TInt32:
        """Sample the level now, without regard to timing."""
        self.sample_input()
        value = self.sample_get()
        self.core.break_realtime()
        return value

    # Input: does the level stay as it is?

    @kernel
    def watch_stay_on(self) -> TBool:
        """Start to watch that the level stays 1; False if it is 0 already. End with :meth:`watch_done`."""
        rtio_output(self.target_sample, 2)
        return rtio_input_data(self.channel) == 1

    @kernel
    def watch_stay_off(self) -> TBool:
        """Start to watch that the level stays 0; False if it is 1 already. End with :meth:`watch_done`."""
        rtio_output(self.target_sample, 1)
        return rtio_input_data(self.channel) == 0

    @kernel
    def watch_done(self) -> TBool:
        """End the watch at the cursor: True if the level never changed."""
        rtio_output(self.target_sens, 0)
        unchanged = True
        try:
            while rtio_input_timestamp(now_mu() + self.gate_latency_mu, self.channel) != -1:
                unchanged = False
        except RTIOOverflow:
            unchanged = False
        return unchanged


class TTLClockGen:
    """A clock on a digital output: the highest bit of an accumulator of `acc_width` bits that adds a word every coarse
    cycle. Up to half the coarse frequency.
    """

    kernel_invariants = {"core", "channel", "target", "acc_width"}

    def __init__(self, dmgr, channel, acc_width=24, core_device="core"):
        self.core = dmgr.get(core_device)
        self.channel = channel
        self.target = channel << 8
        # 64 bits, so that kernels can shift by it without loss.
        self.acc_width = int64(acc_width)

    @staticmethod
    def get_rtio_channels(channel, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel, None)]

    @portable
    def frequency_to_ftw(self, frequency) -> TInt32:
        """The word for a frequency in Hz."""
        return round(2.0**self.acc_width * frequency * self.core.coarse_ref_period)

    @portable
    def ftw_to_frequency(self, ftw) -> TFloat:
        """The frequency in Hz of a word."""
        return ftw / self.core.coarse_ref_period / 2.0**self.acc_width

    @kernel
    def set_mu(self, frequency):
        """Start the clock with a word (int32), its first rising edge at the cursor; the word 0 stops it."""
        rtio_output(self.target, frequency)

    @kernel
    def set(self, frequency):
        """Start the clock with a frequency in Hz (float), its first rising edge at the cursor."""
        self.set_mu(self.frequency_to_ftw(frequency))

    @kernel
    def stop(self):
        """Stop the clock, at level 0."""
        self.set_mu(0)
