"""Fields of the words, entries and segments that the pulse core processes (positions in
`contracts/pulse.py`)."""

from migen import *

from ..contracts import pulse as facts

__all__ = ["Segment", "channels_of", "fields", "mode_of", "parameters_of", "slots"]


def fields(value, **places):
    """Parts of a signal: name to (lowest bit, width)."""
    return {name: value[at : at + width] for name, (at, width) in places.items()}


def mode_of(word):
    """One of `facts.Mode`."""
    return word[facts.MODE_AT : facts.MODE_AT + facts.MODE_BITS]


def channels_of(word):
    """One bit for each channel that takes the word."""
    return word[facts.CHANNEL_MASK_AT : facts.CHANNEL_MASK_AT + facts.CHANNEL_MASK_BITS]


def parameters_of(word):
    """One bit for each parameter that takes the segment of a bypass word."""
    return word[facts.PARAMETER_MASK_AT : facts.PARAMETER_MASK_AT + facts.PARAMETER_MASK_BITS]


def slots(word, bits):
    """The contents of the first slot of a word, and the word shifted by a slot."""
    return word[:bits], word[bits:]


class Segment:
    """A segment's body, as parts of a signal of `facts.BODY_BITS` bits."""

    def __init__(self, body):
        value = {name: (at, facts.VALUE_BITS) for name, at in zip(_COEFFICIENTS, _PLACES, strict=True)}
        parts = fields(body, **value)
        self.u = [parts[name] for name in _COEFFICIENTS]
        self.tau = body[facts.TAU_AT : facts.TAU_AT + facts.TAU_BITS]
        self.flags = body[facts.FLAGS_AT : facts.FLAGS_AT + facts.FLAGS_BITS]
        self.shift = body[facts.SHIFT_AT : facts.SHIFT_AT + facts.SHIFT_BITS]


_COEFFICIENTS = ["u0", "u1", "u2", "u3"]
_PLACES = [facts.U0_AT, facts.U1_AT, facts.U2_AT, facts.U3_AT]
