"""Edges that inputs record and counters count: bits of their words, the same for all cards."""

__all__ = ["BOTH", "FALLING", "RISING"]

RISING, FALLING = 0b01, 0b10
BOTH = RISING | FALLING
