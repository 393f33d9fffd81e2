"""Conversion of numbers to words of the device: integers on the host, and floats on the host and in kernels,
with the same result or the same exception on both.

Ties are rounded away from zero, as `round` does in kernels. A word of a frequency or a phase is the
nearest integer modulo its size, since frequencies that differ by the clock, and phases that differ by
turns, are the same to a chip. What is no number (NaN, the result of a failed fit) or infinite raises
`ValueError`, because a word made from it would be a valid setting.
"""

from ...language import TFloat, TInt32, TInt64, portable
from ...numeric import floor, int32, int64

__all__ = ["nearest", "rounded", "to_int32", "to_wide_word", "to_word"]

_WORD, _WIDE = float(1 << 32), float(1 << 62)
_LIMIT, _WIDE_LIMIT = float((1 << 31) - 1), _WIDE
"""Below these magnitudes the nearest integer fits in an int32 or int64."""


def to_int32(word):
    """Return the int32 with the lowest 32 bits of `word`."""
    return (word + (1 << 31)) % (1 << 32) - (1 << 31)


@portable(flags={"forceinline"})
def _carry(rest):
    """What the remainder of a truncated number adds to it when it is rounded."""
    if rest >= 0.5:
        return 1
    return -1 if rest <= -0.5 else 0


@portable(flags={"forceinline"})
def rounded(value) -> TInt32:
    """Return the integer nearest to `value` (float), whose magnitude must be less than 2**31 - 1."""
    whole = int32(value)
    return whole + _carry(value - whole)


@portable(flags={"forceinline"})
def _nearest_wide(value) -> TInt64:
    whole = int64(value)
    return whole + _carry(value - whole)


@portable
def _reduced(value: TFloat, modulus: TFloat) -> TFloat:
    """Return `value`, whose magnitude is large, modulo a power of two: 0 to `modulus`."""
    if value - value != 0.0:
        raise ValueError("a setting is not a finite number")
    return value - floor(value / modulus) * modulus


@portable
def _to_word_far(value: TFloat) -> TInt32:
    whole = _nearest_wide(_reduced(value, _WORD))
    if whole >= 1 << 31:
        whole -= 1 << 32
    return int32(whole)


@portable(flags={"forceinline"})
def to_word(value) -> TInt32:
    """Return the integer nearest to `value` (float) modulo 2**32. ValueError if it is not finite."""
    if -_LIMIT < value < _LIMIT:
        return rounded(value)
    return _to_word_far(value)


@portable(flags={"forceinline"})
def to_wide_word(value) -> TInt64:
    """Return the integer nearest to `value` (float) modulo 2**62. ValueError if it is not finite."""
    if -_WIDE_LIMIT < value < _WIDE_LIMIT:
        return _nearest_wide(value)
    return _nearest_wide(_reduced(value, _WIDE))


@portable(flags={"forceinline"})
def nearest(value) -> TInt32:
    """Return the integer nearest to `value` (float). ValueError if it is not finite or not an int32."""
    if not -_LIMIT < value < _LIMIT:
        raise ValueError("a setting is not a number, or too large")
    return rounded(value)
