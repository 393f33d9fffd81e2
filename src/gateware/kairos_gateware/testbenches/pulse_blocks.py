"""For tests: words from their fields, and the values of engines for given segments, computed
without pipelines."""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from ..contracts import pulse as facts

__all__ = ["Body", "bypass", "expected", "gates", "glut", "mlut", "onto", "plut", "segments", "trajectory", "vectors"]

_MASK = (1 << facts.VALUE_BITS) - 1
_MODE = facts.Mode


@dataclass
class Body:
    """A segment. u: coefficients, signed. tau: cycles. shift, flags: as in words."""

    u: tuple = (0, 0, 0, 0)
    tau: int = 8
    shift: int = 0
    flags: int = 0

    @property
    def bits(self):
        places = zip(self.u, [facts.U0_AT, facts.U1_AT, facts.U2_AT, facts.U3_AT], strict=True)
        coefficients = sum((u & _MASK) << at for u, at in places)
        return coefficients | self.tau << facts.TAU_AT | self.flags << facts.FLAGS_AT | self.shift << facts.SHIFT_AT


def _word(mode, channels, bits):
    return bits | mode << facts.MODE_AT | channels << facts.CHANNEL_MASK_AT


def bypass(body, parameters, channels=1):
    """A segment that goes directly to the parameters of the mask."""
    return _word(_MODE.BYPASS, channels, body.bits | parameters << facts.PARAMETER_MASK_AT)


def plut(address, body, channels=1):
    """Writes an entry of the pulse table."""
    return _word(_MODE.PROGRAM_PLUT, channels, body.bits | address << facts.PLUT_ADDRESS_AT)


def _slots(entries, bits):
    return sum(entry << n * bits for n, entry in enumerate(entries))


def mlut(entries, channels=1, count=None):
    """Writes entries (address, mask of parameters, address in the pulse table) of the memory map,
    at most 6."""
    slots = [a << facts.MLUT_SLOT_ADDRESS_AT | m << facts.MLUT_SLOT_MASK_AT | p for a, m, p in entries]
    bits = _slots(slots, facts.MLUT_SLOT_BITS)
    return _word(_MODE.PROGRAM_MLUT, channels, bits | (count or len(slots)) << facts.PROGRAM_COUNT_AT)


def glut(entries, channels=1):
    """Writes entries (address, first, last) of the gate table, at most 6."""
    slots = [a << facts.GLUT_SLOT_ADDRESS_AT | last << facts.GLUT_SLOT_LAST_AT | first for a, first, last in entries]
    bits = _slots(slots, facts.GLUT_SLOT_BITS)
    return _word(_MODE.PROGRAM_GLUT, channels, bits | len(slots) << facts.PROGRAM_COUNT_AT)


def gates(ids, mode=_MODE.RUN, channels=1):
    """Runs gates, at most 20."""
    return _word(mode, channels, _slots(ids, facts.GATE_ID_BITS) | len(ids) << facts.RUN_COUNT_AT)


@dataclass
class _Differences:
    """Forward differences, each with its width."""

    values: list
    shift: int
    widths: tuple = field(default=(facts.VALUE_BITS, facts.V1_BITS, facts.V2_BITS, facts.VALUE_BITS))

    def step(self):
        for n in range(3):
            total = self.values[n] + (self.values[n + 1] >> self.shift)
            half = 1 << self.widths[n] - 1
            self.values[n] = (total + half) % (2 * half) - half


def trajectory(bodies, frame=False):
    """The value of each cycle of a parameter's segments, 40 bits; of a frame's including its
    accumulator."""
    shown, total = [], 0
    for body in bodies:
        base = 0 if frame and body.flags & facts.FrameFlag.CLEAR else total
        late = body.flags & facts.FrameFlag.AT_END
        differences = _Differences(list(body.u), body.shift)
        for _ in range(body.tau):
            value = 0 if frame and late else differences.values[0]
            shown.append((base * frame + value) & _MASK)
            differences.step()
        total = base + differences.values[0]
    return shown


def segments(played, channel):
    """Outputs of a channel while its engines run, a row for each cycle."""
    running = np.flatnonzero(played.states["running"] >> channel & 1)
    return played.shown[running + 1, channel]


def onto(words, channels):
    """The words for some of `channels`, as integers; their masks name channels by index in that
    list."""
    moved = []
    for word in (int(word, 16) for word in words):
        body, mask = word % (1 << facts.CHANNEL_MASK_AT), word >> facts.CHANNEL_MASK_AT
        if mask := sum((mask >> c & 1) << n for n, c in enumerate(channels)):
            moved.append(body | mask << facts.CHANNEL_MASK_AT)
    return moved


@cache
def vectors():
    """The specification's example vectors, by number."""
    text = (Path(__file__).parents[3] / "pulse/tests/vectors.json").read_text()
    return {vector["name"].split("_")[0]: vector for vector in json.loads(text)["vectors"]}


def expected(trajectory, cycles):
    """A list of changes as a value for each cycle, modulo 2^40."""
    changes, now, values = dict(map(tuple, trajectory)), 0, []
    for cycle in range(cycles):
        now = changes.get(cycle, now)
        values.append(now % (1 << facts.VALUE_BITS))
    return values
