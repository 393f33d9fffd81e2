"""For tests: a Phaser's payloads in plain Python, and what its oscillators compute."""

from math import cos, pi, sin

from ..contracts import phaser as facts

__all__ = ["PULSE", "fields", "header", "pulses", "samples", "sum_of"]

_BOTH = [*facts.SAMPLE, *((f"{name}1", width) for name, width in facts.SAMPLE)]
_SAMPLE_BITS = sum(width for _, width in _BOTH)
PULSE = [*facts.MIQRO, *((f"word{n}", facts.MIQRO_WORD_BITS) for n in range(facts.MIQRO_WORDS))]
"""Fields of a pulse."""


def _split(word, layout):
    found = {}
    for name, width in layout:
        found[name] = word & (1 << width) - 1
        word >>= width
    return found, word


def header(payload):
    """(fields of a payload's header, body)."""
    return _split(payload, facts.FRAME)


def samples(body):
    """[[I and Q of channel 0, of channel 1]] of a body, the latest one first."""
    found = []
    for n in range(facts.SAMPLES):
        values = _split(body >> _SAMPLE_BITS * n, _BOTH)[0].values()
        found.append([value - (value >> 13 << 14) for value in values])
    return found


def pulses(body):
    """[fields of `PULSE`] of both RF channels."""
    return [_split(body >> facts.MIQRO_BITS * n, PULSE)[0] for n in range(facts.CHANNELS)]


def fields(body):
    """An announcement: (RF channel, cycles since the first change, [fields of each oscillator])."""
    head, body = _split(body, [("channel", 1), ("cycles", facts.ANNOUNCED_CYCLES_BITS)])
    found = []
    for _ in range(facts.OSCILLATORS):
        values, body = _split(body, [("phase", facts.ANNOUNCED_PHASE_BITS), ("ftw", 32), *facts.TONE])
        found.append(values)
    return head["channel"], head["cycles"], found


def sum_of(oscillators):
    """I and Q (16 bits) of oscillators: (phase of 32 bits, `pow`, `asf`)."""
    values = []
    for function in (cos, sin):
        turns = [((phase + (pow_ << 16)) % 2**32 / 2**32, asf) for phase, pow_, asf in oscillators]
        total = sum(asf * function(2 * pi * turn) for turn, asf in turns) * (1 - 2**-14)
        values.append(max(-32768, min(32767, round(total))))
    return values
