"""Counters of edges in the gateware, beside a TTL input: a gate's count is one event, however many edges there are."""

from numpy import int64

from ..language import TBool, TInt32, TInt64, TTuple, delay_mu, kernel, now_mu
from .rtio import rtio_input_data, rtio_input_timestamped_data, rtio_output

__all__ = ["CounterOverflow", "EdgeCounter"]

NO_TIMEOUT = int64(-1)

CONFIG_COUNT_RISING = 0b0001
CONFIG_COUNT_FALLING = 0b0010
CONFIG_SEND_COUNT_EVENT = 0b0100
CONFIG_RESET_TO_ZERO = 0b1000


class CounterOverflow(Exception):
    """An edge counter has reached its largest value: the true count is at least that."""


class EdgeCounter:
    """The counter on RTIO channel `channel`, `gateware_width` bits wide.

    A gate method counts edges for a time and sends the count at its end, where it leaves the cursor and which it
    returns. `fetch_count` reads the counts in order.
    """

    kernel_invariants = {"core", "channel", "counter_max"}

    def __init__(self, dmgr, channel, gateware_width=31, core_device="core"):
        self.core = dmgr.get(core_device)
        self.channel = channel
        self.counter_max = (1 << (gateware_width - 1)) - 1

    @staticmethod
    def get_rtio_channels(channel, **kwargs):
        """RTIO channels of a device with these arguments: pairs of number and suffix of its name."""
        return [(channel, None)]

    @kernel
    def gate_rising(self, duration) -> TInt64:
        """Count rising edges for `duration` seconds (float)."""
        return self.gate_rising_mu(self.core.seconds_to_mu(duration))

    @kernel
    def gate_falling(self, duration) -> TInt64:
        """Count falling edges for `duration` seconds (float)."""
        return self.gate_falling_mu(self.core.seconds_to_mu(duration))

    @kernel
    def gate_both(self, duration) -> TInt64:
        """Count both edges for `duration` seconds (float)."""
        return self.gate_both_mu(self.core.seconds_to_mu(duration))

    @kernel
    def gate_rising_mu(self, duration_mu) -> TInt64:
        """Count rising edges for `duration_mu` machine units (int64)."""
        return self._gate_mu(duration_mu, True, False)

    @kernel
    def gate_falling_mu(self, duration_mu) -> TInt64:
        """Count falling edges for `duration_mu` machine units (int64)."""
        return self._gate_mu(duration_mu, False, True)

    @kernel
    def gate_both_mu(self, duration_mu) -> TInt64:
        """Count both edges for `duration_mu` machine units (int64)."""
        return self._gate_mu(duration_mu, True, True)

    @kernel
    def _gate_mu(self, duration_mu, count_rising, count_falling) -> TInt64:
        self.set_config(count_rising, count_falling, False, True)
        delay_mu(duration_mu)
        self.set_config(False, False, True, False)
        return now_mu()

    @kernel
    def set_config(self, count_rising: TBool, count_falling: TBool, send_count_event: TBool, reset_to_zero: TBool):
        """What is counted from the cursor on; `send_count_event` sends the count of what was before."""
        config = 0
        if count_rising:
            config |= CONFIG_COUNT_RISING
        if count_falling:
            config |= CONFIG_COUNT_FALLING
        if send_count_event:
            config |= CONFIG_SEND_COUNT_EVENT
        if reset_to_zero:
            config |= CONFIG_RESET_TO_ZERO
        rtio_output(self.channel << 8, config)

    @kernel
    def fetch_count(self) -> TInt32:
        """The next count; waits for it. CounterOverflow if the counter was full."""
        count = rtio_input_data(self.channel)
        if count == self.counter_max:
            raise CounterOverflow("the edge counter on RTIO channel {0} is full", int64(self.channel))
        return count

    @kernel
    def fetch_timestamped_count(self, timeout_mu=NO_TIMEOUT) -> TTuple([TInt64, TInt32]):
        """Time and value of the next count, or (-1, 0) if none is sent up to `timeout_mu` (int64).

        CounterOverflow if the counter was full.
        """
        timestamp, count = rtio_input_timestamped_data(timeout_mu, self.channel)
        if count == self.counter_max:
            raise CounterOverflow("the edge counter on RTIO channel {0} is full", int64(self.channel))
        return timestamp, count
