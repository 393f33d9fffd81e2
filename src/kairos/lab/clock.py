"""The clock of the wall. Everything that a laboratory compares with it, or notes, is read here, so that a test can set
it; what is to take a while is measured with `time.monotonic`, which nobody can set."""

import time

__all__ = ["now"]


def now() -> float:
    """Return the time in seconds of Unix time. It may jump in either direction."""
    return time.time()
