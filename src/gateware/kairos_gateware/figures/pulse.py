"""The paper's performance figures of the pulse core (rows 1 to 18 of the specification's section
5), measured on the verilated reference core: words are streamed back to back, and cycles counted
until they are accepted and played.

Cycles are those of one clock for stream and core. Figures limited by the paper's stream are given
at its clock, 333 MHz; those limited by the sequencer at 409.6 MHz.
"""

from functools import partial
from itertools import cycle, islice

import numpy as np
from migen import Memory

from ..contracts import pulse as facts
from ..pulse.sequencing import Sequencing
from ..testbenches.pulse import Engines
from ..testbenches.pulse_blocks import Body, bypass, gates, glut, mlut, plut

__all__ = ["ROWS", "gate_min", "rows"]

_NS = 1e9 / facts.STREAM_HZ
_GATE = round(facts.STREAM_HZ * 1e-6)
"""Stream cycles of a gate of 1 us."""
_PARAMETERS = facts.PARAMETERS
_ALL = (1 << _PARAMETERS) - 1


def _segment(value, cycles):
    return Body((value + 1, 0, 0, 0), cycles)


def _programming(channels, tau):
    """Words that define gate 0 of each channel as eight different segments of `tau` cycles."""
    entries = [(p, 1 << p, p) for p in range(_PARAMETERS)]
    words = []
    for c in range(channels):
        words += [plut(p, _segment(p, tau), 1 << c) for p in range(_PARAMETERS)]
        words += [mlut(entries[:6], 1 << c), mlut(entries[6:], 1 << c), glut([(0, 0, _PARAMETERS - 1)], 1 << c)]
    return words


def _run(channels, count=1):
    return [gates([0] * count, channels=1 << c) for c in range(channels)]


def _updates(channels, count, tau):
    """Words that rewrite segments of the gates, one after another, with the same contents."""
    places = cycle((c, p) for p in range(_PARAMETERS) for c in range(channels))
    return [plut(p, _segment(p, tau), 1 << c) for c, p in islice(places, count)]


def _cycles(engines, words, cycles=None):
    """Cycles that the stream takes for words."""
    taken = engines.play(words, cycles or 3 * len(words) + 500).taken
    return int(taken[-1] - taken[0]) + 1


def _gap_free(engines, words, tau, count):
    """Whether every channel plays `count` gates of `tau` cycles without a gap."""
    played = engines.play(words, len(words) + tau * (count + 2) + 500)
    for c in range(engines.channels):
        running = np.flatnonzero(played.states["running"] >> c & 1)
        if len(running) != count * tau or running[-1] - running[0] + 1 != count * tau:
            return False
    return played.errors == facts.Error.UNDERRUN  # the end


def gate_min(engines: Engines, repeat=1000) -> int:
    """Cycles of the shortest gate of eight different segments that all channels play `repeat` times
    without a gap."""
    for tau in range(1, 20):
        words = _programming(engines.channels, tau)
        words += _run(engines.channels, facts.RUN_SLOTS) * (repeat // facts.RUN_SLOTS)
        if _gap_free(engines, words, tau, repeat):
            return tau
    raise ValueError("no gate plays without a gap")


def _word(engines):
    """Stream cycles of a word that writes a segment."""
    return _cycles(engines, _updates(engines.channels, 4000, 8)) / 4000


def _raw_gate(engines):
    """Cycles of the shortest gate whose segments are all streamed, of 20 without a gap."""
    names = [(c, p) for p in range(_PARAMETERS) for c in range(engines.channels)]
    for tau in range(len(names) - 2, 2 * len(names)):
        words = [bypass(_segment(n, tau), 1 << p, 1 << c) for n in range(20) for c, p in names]
        if _gap_free(engines, words, tau, 20):
            return tau
    raise ValueError("no gate can be streamed without a gap")


def _segments_of_a_word(engines):
    """Segments that a word of gate ids passes to the engines."""
    played = engines.play([*_programming(1, 4), *_run(1, facts.RUN_SLOTS)], 1000)
    masks = played.shown["given"][:, 0, :, 0].reshape(-1).tolist()
    return sum((mask & _ALL).bit_count() for mask in masks if mask > _ALL)


def _of_gate(engines, updates, count=1):
    """Stream cycles of a gate on all channels, with so many updates of segments before it; of
    `count` whose ids are packed."""
    words = _programming(engines.channels, 40)
    before = _cycles(engines, words)
    words += _updates(engines.channels, updates * count, 40) + _run(engines.channels, count)
    return (_cycles(engines, words) - before) / count


def _updates_of_a_gate(engines):
    """Segments written for each gate of 1 us, while ten play without a gap."""
    channels, count = engines.channels, 10
    updates = _GATE - channels
    words = _programming(channels, _GATE) + _run(channels)
    words += (_updates(channels, updates, _GATE) + _run(channels)) * (count - 1)
    if not _gap_free(engines, words, _GATE, count):
        raise ValueError(f"{updates} updates do not fit into a gate of 1 us")
    return updates


def _gates_to_rewrite(engines):
    """Gates of 1 us that pass while all pulse tables are written."""
    entries = 1 << facts.PLUT_ADDRESS_BITS
    words = [plut(n, _segment(n, 8), 1 << c) for n in range(entries) for c in range(engines.channels)]
    return -(-_cycles(engines, words, 2 * len(words)) // _GATE)


def _storage(engines):
    """MiB of the tables of a core of so many channels."""
    core = Sequencing(engines.channels)
    tables = [table for sequencer in core.sequencers for table in (sequencer.glut, sequencer.mlut, sequencer.plut)]
    memories = [memory for table in tables for memory in vars(table).values() if isinstance(memory, Memory)]
    return sum(memory.width * memory.depth for memory in memories) / 8 / 2**20


def _gates_of_a_word(engines):
    """Gates that one word of ids runs."""
    played = engines.play([*_programming(1, 10), *_run(1, facts.RUN_SLOTS)], 1000)
    return int((played.states["running"] & 1).sum()) / 10


_BYTES = facts.WORD_BYTES * facts.STREAM_HZ
# name: (measurement, unit, the paper's figure, description)
ROWS = {
    "01_raw_stream": (lambda e: _BYTES / _word(e) / 1e9, "GB/s", 10.656, "4,000 words that write segments"),
    "02_raw_gates": (lambda e: facts.STREAM_HZ / _raw_gate(e) / 1e6, "M/s", 5.203, "20 streamed gates without a gap"),
    "03_raw_gate": (lambda e: _raw_gate(e) * _NS, "ns", 192.2, "20 streamed gates without a gap"),
    "04_compressed_stream": (
        lambda e: _BYTES / _segments_of_a_word(e) / 1e6,
        "MB/s",
        66.6,
        "segments that a word of ids gives",
    ),
    "05_program_and_run": (
        lambda e: _cycles(e, _programming(e.channels, 40) + _run(e.channels)) * _NS,
        "ns",
        264.3,
        "words taken, 12 a channel; 11 in the older layout",
    ),
    "06_update_gate": (lambda e: _of_gate(e, _PARAMETERS) * _NS, "ns", 48, "8 segments and a run word a channel"),
    "07_update_parameter": (lambda e: _of_gate(e, 1) * _NS, "ns", 27, "a segment and a run word a channel"),
    "08_update_gate_packed": (lambda e: _of_gate(e, _PARAMETERS, 20) * _NS, "ns", 28.1, "the same, 20 ids a word"),
    "09_update_parameter_packed": (lambda e: _of_gate(e, 1, 20) * _NS, "ns", 7.1, "the same, 20 ids a word"),
    "10_run_packed": (lambda e: _of_gate(e, 0, 20) * _NS, "ns", 1.2, "20 ids a word"),
    "11_sequencer_limit": (
        lambda e: gate_min(e) * 1e9 / facts.CLOCK_HZ,
        "ns",
        19.5,
        "1,000 gates of eight segments without a gap, two reads of the tables a cycle",
    ),
    "12_updates_per_us_gate": (_updates_of_a_gate, "", 325, "10 gates of 333 cycles without a gap"),
    "13_gates_to_rewrite": (_gates_to_rewrite, "", 99, "words for all pulse tables"),
    "16_id_packing": (_gates_of_a_word, "", 20, "gates that a word runs"),
    "17_segment": (lambda e: facts.BODY_BITS, "bit", 216, "width of the pulse table"),
    "18_table_storage": (
        _storage,
        "MiB",
        2.8125,
        "tables of the core as it is made; baseline: all blocks of the device",
    ),
}
"""Rows 14 and 15, an update by DMA, are of the device that the core is built into:
`pulse_updates.py`."""


def rows(engines):
    """Figures by name: (function, unit, baseline, source). engines: returns the verilated reference
    core."""
    found = {}
    for name, (measure, unit, paper, how) in ROWS.items():
        found[f"pulse.sim_{name}"] = (partial(_measured, measure, engines), unit, paper, f"{how}; baseline: the paper")
    found["pulse.gates_per_s_at_409_6MHz"] = (
        lambda: facts.CLOCK_HZ / gate_min(engines()),
        "gates/s",
        facts.CLOCK_HZ / _PARAMETERS,
        "1,000 gates of eight different segments without a gap; baseline: one read of the tables a cycle",
    )
    return found


def _measured(measure, engines: Engines):
    return measure(engines())
