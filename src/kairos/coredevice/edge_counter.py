"""Edge counters in the gateware next to a TTL input: a gate's count is one event, for any number of
edges."""

from ..language import TBool, TInt32, TInt64, TTuple, delay_mu, kernel, now_mu
from ..numeric import Wide, int64
from .parts.channel import RTIODevice
from .parts.edges import BOTH, FALLING, RISING
from .rtio import rtio_input_data, rtio_input_timestamped_data, rtio_output

__all__ = ["CounterOverflow", "EdgeCounter"]

FOREVER = Wide(-1)

# Configuration bits above the edge selection: send the count, reset the counter.
SEND, RESET = 0b0100, 0b1000


class CounterOverflow(Exception):
    """An edge counter has reached its maximum: the true count is at least that."""


class EdgeCounter(RTIODevice):
    """The counter on RTIO channel `channel`, `gateware_width` bits wide.

    A gate method counts edges for a duration and sends the count at its end, to which the cursor
    advances and which the method returns. `fetch_count` reads the counts in order.
    """

    kernel_invariants = {"counter_max"}

    def __init__(self, dmgr, channel, gateware_width=31, core_device="core"):
        super().__init__(dmgr, channel, core_device)
        self.counter_max = 2 ** (gateware_width - 1) - 1

    @kernel
    def set_config(self, count_rising: TBool, count_falling: TBool, send_count_event: TBool, reset_to_zero: TBool):
        """Configure the edges counted from the cursor on; `send_count_event` sends the preceding
        count."""
        edges = (RISING if count_rising else 0) + (FALLING if count_falling else 0)
        events = (SEND if send_count_event else 0) + (RESET if reset_to_zero else 0)
        rtio_output(self.target, edges + events)

    # Gates

    @kernel
    def _count_during(self, edges, duration_mu) -> TInt64:
        rtio_output(self.target, edges | RESET)
        delay_mu(duration_mu)
        rtio_output(self.target, SEND)
        return now_mu()

    @kernel
    def gate_rising_mu(self, duration_mu) -> TInt64:
        """Count rising edges for `duration_mu` machine units (int64); returns the cursor, at the end
        of the gate."""
        return self._count_during(RISING, duration_mu)

    @kernel
    def gate_rising(self, duration) -> TInt64:
        """Count rising edges for `duration` seconds (float), rounded down; returns the cursor, at the
        end of the gate."""
        return self._count_during(RISING, self.core.seconds_to_mu(duration))

    @kernel
    def gate_falling_mu(self, duration_mu) -> TInt64:
        """Count falling edges for `duration_mu` machine units (int64); returns the cursor, at the end
        of the gate."""
        return self._count_during(FALLING, duration_mu)

    @kernel
    def gate_falling(self, duration) -> TInt64:
        """Count falling edges for `duration` seconds (float), rounded down; returns the cursor, at the
        end of the gate."""
        return self._count_during(FALLING, self.core.seconds_to_mu(duration))

    @kernel
    def gate_both_mu(self, duration_mu) -> TInt64:
        """Count both edges for `duration_mu` machine units (int64); returns the cursor, at the end
        of the gate."""
        return self._count_during(BOTH, duration_mu)

    @kernel
    def gate_both(self, duration) -> TInt64:
        """Count both edges for `duration` seconds (float), rounded down; returns the cursor, at the
        end of the gate."""
        return self._count_during(BOTH, self.core.seconds_to_mu(duration))

    # Counts

    @kernel
    def _exact(self, count) -> TInt32:
        if count == self.counter_max:
            raise CounterOverflow("the edge counter on RTIO channel {0} is full", int64(self.channel))
        return count

    @kernel
    def fetch_count(self) -> TInt32:
        """Wait for the next count and return it. CounterOverflow if the counter was full."""
        return self._exact(rtio_input_data(self.channel))

    @kernel
    def fetch_timestamped_count(self, timeout_mu=FOREVER) -> TTuple([TInt64, TInt32]):
        """Return time and value of the next count, or (-1, 0) if none is sent up to `timeout_mu`
        (int64).

        CounterOverflow if the counter was full.
        """
        time_mu, count = rtio_input_timestamped_data(timeout_mu, self.channel)
        return time_mu, self._exact(count)
