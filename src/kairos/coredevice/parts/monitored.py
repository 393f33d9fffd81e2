"""Values of a card available through the monitor of a core device (TCP 1383), for display tools rather than
kernels.

A driver whose card has probes has a host-only method ``monitored()``, which lists them.
"""

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Monitored"]


class Monitored(NamedTuple):
    """A probe of a card: where it is, and what its value means."""

    place: int | None
    """of several the number that users know it by; None of a single one"""
    channel: int
    """RTIO channel"""
    probe: int
    quantity: Callable[[int], float]
    """from the value to the quantity, in `unit`"""
    unit: str
