"""Simulations are built by one process at a time, and what that costs is known: the tests, whose budgets it is no part
of, import this module alone."""

import fcntl
import resource
from contextlib import contextmanager
from pathlib import Path

__all__ = ["building_alone", "processor_seconds", "seconds_spent"]

_spent: list[float] = []


@contextmanager
def building_alone(output: Path):
    """Locks the folder `output`, created if necessary, so that only one of several processes builds
    in it at a time: tests run in two processes, which would otherwise both write the same Verilog
    and objects on a fresh machine."""
    output.mkdir(parents=True, exist_ok=True)
    begun = processor_seconds()
    try:
        with open(output / "build.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield output
    finally:
        _spent.append(processor_seconds() - begun)


def processor_seconds() -> float:
    """Processor time of this process and of those it has started and waited for."""
    usages = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def seconds_spent() -> float:
    """What of it was spent within `building_alone`."""
    return sum(_spent)
