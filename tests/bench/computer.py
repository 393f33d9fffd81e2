"""The computer that measures: how fast it computes now, alone and with both processors. Seconds of other figures
can be compared between computers, or days, only beside these."""

import subprocess
import sys
import time

__all__ = ["PREFIXES", "computer_figures", "count_ms"]

PREFIXES = ("computer.",)
_COUNTING = f"import sys; sys.path[:0] = {sys.path!r}; from tests.bench.computer import count_ms; print(count_ms(30))"


def count_ms(repeat: int = 5) -> float:
    """Return the least milliseconds, of some repetitions, in which Python counts to a million."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        for _ in range(1_000_000):
            pass
        times.append(time.perf_counter() - begun)
    return 1e3 * min(times)


def computer_figures(figures):
    """Speed of one process, and what a second one leaves of it."""
    alone = _together(1)
    figures.add("computer.count_1e6_ms", alone, "ms", source="Python counts to a million; the least of 30 repetitions")
    source = "rate of two such processes over twice that of one: the most that work in two processes can reach"
    figures.add("computer.two_processes", alone / _together(2), "", source=source)


def _together(count: int) -> float:
    """Return the mean of the milliseconds that `count` processes need at once."""
    started = [subprocess.Popen([sys.executable, "-c", _COUNTING], stdout=subprocess.PIPE) for _ in range(count)]
    return sum(float(process.communicate()[0]) for process in started) / count
