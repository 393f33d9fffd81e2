"""For tests: random programs of words of every kind, including malformed ones, with triggers,
results and settings.

A program is a list of phrases on some of two channels: pulses streamed, tables written, gates run,
branches, broken words. Most are such that a channel plays them to the end; some starve it, or give
its engines different total durations.
"""

import random
from dataclasses import dataclass, field

from ..contracts import pulse as facts
from .pulse_blocks import Body, bypass, gates, glut, mlut, plut

__all__ = ["Program", "random_program"]

_ALL = (1 << facts.PARAMETERS) - 1
_WAIT = int(facts.ToneFlag.WAIT)
_VALUES = 1 << facts.VALUE_BITS - 1
_PLACES = 24
"""Addresses of tables that programs use most, so that they overwrite each other's entries."""
_GATES = 12
_BRANCHES = 6


@dataclass
class Program:
    """Arguments of `Engines.play`. gaps: before each word. triggers: None to trigger when the
    channels are armed."""

    words: list[int] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    triggers: list[int] | None = None
    results: list[tuple[int, int]] = field(default_factory=list)
    settings: dict[str, int] = field(default_factory=dict)
    cycles: int = 1200


class _Writer:
    """Writes a program's phrases. table_bits: address bits of memory map and pulse table. wide:
    format of the words."""

    def __init__(self, rng, mlut_bits, plut_bits, wide):
        self.rng, self.mlut_bits, self.plut_bits, self.wide = rng, mlut_bits, plut_bits, wide
        self.words = []
        self.free = _PLACES  # entries of the tables from here on have not been written

    def tau(self):
        rng = self.rng
        return rng.choice([rng.randrange(1, 5), rng.randrange(1, 21), rng.randrange(1, 201)])

    def coefficients(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.4:
            return rng.randrange(-_VALUES, _VALUES), 0, 0, 0
        return tuple(rng.choice([0, 1, -1, -_VALUES, _VALUES - 1, rng.randrange(-_VALUES, _VALUES)]) for _ in range(4))

    def flags(self, wait=0):
        """Any of a segment's flags except the wait flag."""
        rng = self.rng
        some = rng.getrandbits(facts.FLAGS_BITS) if rng.random() < 0.6 else 0
        return some & ~_WAIT & ~1 | wait

    def channels(self):
        return self.rng.choice([1, 2, 3, 3])

    def pulse(self, total, wait):
        """Segments that last `total` cycles, for each parameter; few parameters have many."""
        rng = self.rng
        parameters = []
        same = Body(self.coefficients(), total, rng.randrange(32), self.flags(wait))
        for _ in range(facts.PARAMETERS):
            if rng.random() < 0.4:
                parameters.append([same])
                continue
            bodies, left = [], total
            most = rng.choice([1, 2, 4, 40])
            while left:
                tau = left if len(bodies) + 1 == most else min(left, self.tau())
                first = wait if not bodies else 0
                bodies.append(Body(self.coefficients(), tau, rng.randrange(32), self.flags(first)))
                left -= tau
            if rng.random() < 0.03:
                where = rng.randrange(len(bodies) + 1)
                bodies.insert(where, Body(self.coefficients(), 0, 0, self.flags(rng.choice([0, _WAIT]))))
            if rng.random() < 0.02:
                bodies[-1].tau += 1
            parameters.append(bodies)
        return parameters

    def entries(self, parameters):
        """(mask, body) in the order in which segments start; equal ones that start together are
        merged."""
        starts = {}
        for p, bodies in enumerate(parameters):
            at = 0
            for n, body in enumerate(bodies):
                starts.setdefault((at, n), []).append((p, body))
                at += body.tau
        found = []
        for _, group in sorted(starts.items(), key=lambda item: item[0]):
            merged = {}
            for p, body in group:
                merged[body.bits] = (merged.get(body.bits, (0, body))[0] | 1 << p, body)
            found += merged.values()
        return found

    def stream(self):
        wait = _WAIT if self.rng.random() < 0.4 else 0
        channels = self.channels()
        parameters = self.pulse(self.rng.choice([self.tau() + 3, self.rng.randrange(8, 400)]), wait)
        self.words += [bypass(body, mask, channels) for mask, body in self.entries(parameters)]

    def close(self):
        self.words.append(bypass(Body(tau=self.tau(), flags=_WAIT), _ALL, self.channels()))

    def tables(self):
        """Gates of pulses, each at any address, and possibly also as a branch's."""
        rng, channels = self.rng, self.channels()
        for _ in range(rng.randrange(1, 4)):
            wait = _WAIT if rng.random() < 0.1 else 0
            entries = self.entries(self.pulse(self.tau() + 3, wait))
            room = (1 << min(self.mlut_bits, self.plut_bits)) - len(entries)
            if rng.random() < 0.8 and self.free <= room:
                first, places = self.free, list(range(self.free, self.free + len(entries)))
                self.free += len(entries)
            else:
                first, places = rng.randrange(_PLACES), [rng.randrange(_PLACES) for _ in entries]
            self.words += [plut(place, body, channels) for place, (_, body) in zip(places, entries, strict=True)]
            slots = [(first + n, mask, place) for n, ((mask, _), place) in enumerate(zip(entries, places, strict=True))]
            self.words += [mlut(slots[n : n + 6], channels) for n in range(0, len(slots), 6)]
            names = [rng.randrange(_GATES)]
            names += [1 << facts.BRANCH_AT | rng.randrange(16) << facts.BRANCH_STATE_AT | rng.randrange(_BRANCHES)]
            self.words.append(glut([(name, first, first + len(slots) - 1) for name in names], channels))

    def tweak(self):
        """One entry of one table, within or beyond it."""
        rng, channels = self.rng, self.channels()
        wait = _WAIT if rng.random() < 0.1 else 0
        body = Body(self.coefficients(), self.tau(), rng.randrange(32), self.flags(wait))
        count = rng.randrange(1, 7)
        place = rng.randrange(_PLACES)
        self.words.append(
            rng.choice(
                [
                    plut(rng.randrange(_PLACES), body, channels) | rng.randrange(256) << facts.PARAMETER_MASK_AT,
                    plut(rng.randrange(1 << facts.PLUT_ADDRESS_BITS), body, channels),
                    mlut([(place + n, rng.randrange(256), rng.randrange(_PLACES)) for n in range(count)], channels),
                    mlut([(rng.randrange(1 << facts.MLUT_ADDRESS_BITS), _ALL, place)] * count, channels),
                    glut(
                        [(rng.randrange(_GATES), place, max(place + rng.randrange(-2, 6), 0)) for _ in range(count)],
                        channels,
                    ),
                ]
            )
        )

    def run(self):
        rng = self.rng
        ids = [rng.randrange(_GATES) for _ in range(rng.choice([1, 3, rng.randrange(0, 21)]))]
        self.words.append(self.gates(ids, facts.Mode.RUN))

    def branch(self):
        rng = self.rng
        ids = [rng.randrange(_BRANCHES) for _ in range(rng.randrange(1, 5))]
        self.words.append(self.gates(ids, facts.Mode.BRANCH))
        if rng.random() < 0.5:
            self.words.append(self.gates(ids[::-1], facts.Mode.BRANCH_CONTINUE))

    def gates(self, ids, mode):
        word = gates(ids, mode, self.channels())
        if not self.wide:
            return word
        word &= ~(((1 << facts.RUN_COUNT_BITS) - 1) << facts.RUN_COUNT_AT)
        unused = range(len(ids), facts.RUN_SLOTS_WIDE)
        return word | sum(facts.RUN_NO_GATE << n * facts.GATE_ID_BITS for n in unused)

    def broken(self):
        """A word of no valid kind, with an excessive count, for no channel, or of random bits; no
        segment of it lasts long."""
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            word = rng.getrandbits(200) | self.channels() << facts.CHANNEL_MASK_AT
        elif kind == 1:
            body = Body(tau=3)
            word = rng.choice(
                [bypass(body, _ALL, 0), bypass(body, _ALL, 0xFC), bypass(body, 0, 3), plut(0, body, 0x80)]
            )
        elif kind == 2:
            slots = [(rng.randrange(_PLACES), rng.randrange(256), rng.randrange(_PLACES)) for _ in range(6)]
            word = mlut(slots, self.channels(), count=rng.choice([7, 25, 31]))
        elif kind == 3 and not self.wide:
            ids = [rng.randrange(_GATES) for _ in range(20)]
            word = gates(ids, channels=self.channels()) | rng.randrange(64) << facts.RUN_COUNT_AT
        else:
            word = rng.getrandbits(facts.WORD_BITS)
            if rng.random() < 0.9:
                word &= ~(((1 << facts.TAU_BITS) - 256) << facts.TAU_AT)
        self.words.append(word)


def random_program(seed, mlut_bits, plut_bits, wide=False, cycles=1200) -> Program:
    """The program of a seed, for two channels with tables of these address bits."""
    rng = random.Random(seed)
    writer = _Writer(rng, mlut_bits, plut_bits, wide)
    kind = rng.random()
    if kind < 0.3:  # pulses alone
        phrases, weights = [writer.stream, writer.close], [9, 1]
    else:
        writer.tables()
        phrases = [writer.stream, writer.close, writer.tables, writer.tweak, writer.run, writer.branch, writer.broken]
        weights = [2, 1, 3, 1, 6, 2 if kind < 0.7 else 0, 1 if kind < 0.8 else 0]
    for phrase in rng.choices(phrases, weights, k=rng.randrange(1, 14)):
        phrase()
    stalls = rng.choice([0, 0, 0.05, 0.2])
    gaps = [rng.randrange(1, 60) if rng.random() < stalls else 0 for _ in writer.words]
    triggers = None if rng.random() < 0.6 else sorted(rng.sample(range(cycles), rng.randrange(1, 12)))
    results = [(when, rng.randrange(16)) for when in sorted(rng.sample(range(cycles), rng.randrange(0, 12)))]
    settings = {
        "trigger_channels": rng.choice([1, 2, 3, 3]),
        "trigger_strict": rng.randrange(2),
        "hold": rng.randrange(2),
        "misalign_limit": rng.choice([0, 0, 1, 5, 50]),
        "branch_timeout": rng.choice([0, 0, 1, 20, 100]),
    }
    return Program(writer.words, gaps, triggers, results, settings, cycles)
