"""Waiting for a chip: the lock of its PLL, the end of a calibration."""

from ...language import TBool, delay, kernel

__all__ = ["Readiness"]


class Readiness:
    """What a chip inherits that has to be waited for. It has the kernel method ``is_ready(which)``,
    which asks it; `which` is a number that means something to the chip."""

    @kernel
    def becomes_ready(self, which, attempts, interval) -> TBool:
        """Ask up to `attempts` times, with `interval` seconds (float) on the timeline after each,
        and stop when it is ready. Whether it was."""
        ready = False
        while attempts > 0 and not ready:
            ready = self.is_ready(which)
            attempts -= 1
            delay(interval)
        return ready
