"""Tracking of a beat by the pulse core: the frequency error of a laser's repetition rate goes to the feed-forward in
the logic, without a kernel."""

from numpy import int32, int64

from ...language import delay_mu, kernel
from ..rtio import rtio_input_data, rtio_output, rtio_output_wide
from .channel import Address
from .numbers import to_wide_word
from .pulse_samples import TURN, SampleSettings

__all__ = ["BeatTracker"]

CYCLE_HZ = 125e6
PERIODS = 4.0
"""Periods of the beat without an edge until it counts as lost."""
LONGEST = 0xFFFFFF
"""Cycles of that time at most."""
SHIFTS = 63
SLOWEST = 20.0
"""Least ratio of the beat's frequency to the bandwidth of the loop."""
INTEGRAL_AT, TIMEOUT_AT = 6, 12
HIGH_BITS, FLAGS_AT = 0xFF, 8


class BeatTracker(SampleSettings):
    """The tracker of a core whose gateware has one (parameter `beat`)."""

    beat = Address(24)
    beat_loop = Address(25)
    beat_limit = Address(26)
    beat_request = Address(27)

    @kernel
    def track_beat(self, frequency, bandwidth=10e3, limit=100e3):
        """Track a beat, expected at `frequency` (Hz) at the core's input for it: rising edges move the phase and the
        frequency of the feed-forward, each at most `limit` Hz from the nominal one, through a PI controller with about
        this `bandwidth` (Hz). 24 ns of the timeline.

        Segments with `feed_forward` follow, times the harmonic of their tone (`set_harmonic`), in addition to
        `set_frequency_error`. Four periods without an edge count as a loss: the frequency is held. ValueError if the
        beat is not at least 20 times as fast as the loop, or slower than 30 Hz, or if the limit is not between 0 and a
        tenth of the sample rate.
        """
        if not (frequency >= 30.0 and frequency <= CYCLE_HZ / 2.0 and bandwidth > 0.0):
            raise ValueError("a beat has 30 Hz to 62.5 MHz, and the bandwidth of its loop is positive")
        if bandwidth * SLOWEST > frequency:
            raise ValueError("the bandwidth of the loop is at most a twentieth of the beat's frequency")
        if not (limit > 0.0 and limit <= self.sample_rate / 10.0):
            raise ValueError("the limit of the frequency error is not between 0 and a tenth of the sample rate")
        # The proportional part moves the phase by this rate, per second, times what it lacks
        proportional, rate = 0, self.sample_rate
        while rate > 8.88 * bandwidth and proportional < SHIFTS:
            rate /= 2.0
            proportional += 1
        # Critical damping: the integral part is a quarter of the square of that rate
        integral, square = 0, self.sample_rate * frequency
        while square > 0.354 * rate * rate and integral < SHIFTS:
            square /= 2.0
            integral += 1
        timeout = LONGEST
        if PERIODS * CYCLE_HZ / frequency < float(LONGEST):
            timeout = int32(PERIODS * CYCLE_HZ / frequency) + 1
        loop = int64(timeout) << TIMEOUT_AT | int64(integral << INTEGRAL_AT | proportional)
        rtio_output_wide(self.beat_loop, [int32(loop), int32(loop >> 32)])
        delay_mu(int64(8))
        word = to_wide_word(limit / self.sample_rate * TURN)
        rtio_output_wide(self.beat_limit, [int32(word), int32(word >> 32)])
        delay_mu(int64(8))
        word = to_wide_word(frequency / self.sample_rate * TURN)
        rtio_output_wide(self.beat, [int32(word), int32(word >> 32)])
        delay_mu(int64(8))

    @kernel
    def stop_tracking(self):
        """Let the feed-forward no longer follow a beat; the phase it has accumulated remains."""
        rtio_output(self.beat, 0)

    @kernel
    def beat_state(self):
        """Return the tracked frequency error in Hz (TFloat) and a mask (TInt32): bit 0 edges arrive, 1 the error was
        limited, 2 the beat was lost (both since the last call), bits 23..8 number of edges, modulo 2^16. The cursor
        must be ahead of the counter."""
        rtio_output(self.beat_request, 0)
        low = rtio_input_data(self.channel)
        high = rtio_input_data(self.channel)
        word = int64(high & HIGH_BITS) << 32 | int64(low) & 0xFFFFFFFF
        if word >> 39 != 0:
            word -= int64(1) << 40
        return float(word) / TURN * self.sample_rate, high >> FLAGS_AT
