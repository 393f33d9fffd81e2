"""Values of a card available through the monitor of a core device (TCP 1383), for display tools rather than
kernels.

A driver whose card has probes lists them in a host-only method ``monitored()``.
"""

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Monitored"]


class Monitored(NamedTuple):
    """A probe of a card: its location and the meaning of its value."""

    place: int | None
    """the number by which users know the probe; None for a single one"""
    channel: int
    """RTIO channel"""
    probe: int
    quantity: Callable[[int], float]
    """converts the value to the quantity, in `unit`"""
    unit: str
    is_input: bool = False
    """whether the card has measured it, and not output it; then `quantity` is NaN until it has"""
