"""Waiting for a chip: the lock of its PLL, the end of a calibration."""

from ...language import TBool, delay, kernel

__all__ = ["Readiness"]


class Readiness:
    """Base of a chip that must be waited for. The chip supplies the kernel method
    ``is_ready(which)``, which polls it; the meaning of the number `which` is up to the chip."""

    @kernel
    def becomes_ready(self, which, attempts, interval) -> TBool:
        """Poll up to `attempts` times, with `interval` seconds (float) on the timeline after each,
        until the chip is ready. Returns whether it is ready."""
        ready = False
        while attempts > 0 and not ready:
            ready = self.is_ready(which)
            attempts -= 1
            delay(interval)
        return ready
