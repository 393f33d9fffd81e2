"""Conversion of host integers to words of the device."""

__all__ = ["to_int32"]


def to_int32(word):
    """Return the int32 with the lowest 32 bits of `word`."""
    return (word + (1 << 31)) % (1 << 32) - (1 << 31)
