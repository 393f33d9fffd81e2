"""The verilated core beside the model of src/pulse, on random programs (check 50): the segments
from the sequencers, the values of the engines in every cycle, the results of branches, and the
reports.

The model's sequencer has a pipeline of its own, so segments are compared in their order; its
engines get them in the same cycles as the logic's, and all their outputs are compared cycle by
cycle.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from kairos._native import pulse as model

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.testbenches.pulse import build_engines

from ..testbenches.pulse_programs import random_program
from .conftest import BUILD

SEEN = 2
"""Cycles from that in which a sequencer outputs a segment to that in which an engine finds it."""
SHOWS = 1
"""Cycles from that in which an engine has a value to that in which the channel outputs it."""
CHANNELS = 2
SHOWN = np.dtype([("values", "u8", 8), ("applied", "u8", 2), ("levels", "u8"), ("armed_running", "u8")])
OF_SEQUENCERS = facts.Error.MODE | facts.Error.COUNT | facts.Error.ADDRESS
UNUSED = np.uint64(1 << 8 | 7 << 21)
"""Unused bits of a segment's last number: 200 and 213 to 215 of the word."""


@dataclass
class Build:
    """A core as it is built, and the settings that the model needs."""

    engines: object
    mlut_bits: int
    plut_bits: int
    wide: bool = False
    segment_fifo: int = facts.SEGMENT_FIFO

    def model_settings(self):
        built = {"mlut_bits": self.mlut_bits, "plut_bits": self.plut_bits, "wide": self.wide}
        # The head has left its FIFO, but is still stored.
        return {"channels": CHANNELS, "segment_fifo": self.segment_fifo + 1} | built


@pytest.fixture(scope="module")
def usual(engines):
    return Build(engines, 11, 10)


@pytest.fixture(scope="module")
def small():
    """FIFOs half as deep, tables of 64 entries, words of 22 ids."""
    engines = build_engines(
        BUILD / "pulse_small", channels=2, segment_fifo=16, input_fifo=16, mlut_bits=6, plut_bits=6, wide=True
    )
    return Build(engines, 6, 6, True, 16)


def decisions(program, played, channel):
    """The result of each branch of a channel according to the rules: the newest result that arrived
    before its decision, or 0 when it is late; and whether one was late. The logic's `waiting` only
    determines when branches wait."""
    waiting = np.append(played.states["waiting"] >> channel & 1, 0)
    timeout = program.settings["branch_timeout"]
    strobes = dict(program.results)
    pending, begin, taken, late = None, None, [], False
    for cycle in range(program.cycles):
        if waiting[cycle] and begin is None:
            begin = cycle
        if begin is not None:
            too_long = timeout != 0 and cycle - begin >= timeout
            assert waiting[cycle], "a branch went on without a result"
            if pending is not None or too_long:
                assert not waiting[cycle + 1], "a branch waited for longer than it had to"
                taken.append(0 if pending is None else pending)
                late |= pending is None
                pending, begin = None, None
        pending = strobes.get(cycle, pending)
    return taken, late


def compare(build, program, seed):
    """Plays a program in both. Raises AssertionError where they differ. Returns whether everything
    was played."""
    played = build.engines.play(
        program.words,
        program.cycles,
        gaps=program.gaps,
        triggers=program.triggers,
        results=program.results,
        **program.settings,
    )
    shown, states = played.shown, played.states
    still = bool(states["settled"][-40:].all()) and (played.taken < program.cycles).all()
    data = b"".join(word.to_bytes(facts.WORD_BYTES, "little") for word in program.words)
    errors, missing = 0, {}
    for channel in range(CHANNELS):
        taken, late = decisions(program, played, channel)
        wanted, of_words = model.execute(data, channel, taken, build.model_settings())
        errors |= of_words | (facts.Error.BRANCH_TIMEOUT if late else 0)
        wanted = np.frombuffer(wanted, "u8").reshape(-1, 5)
        given = shown["given"][:, channel].reshape(-1, 5)
        given = given[given[:, 0] >> 8 != 0]
        given[:, 4] &= ~UNUSED
        assert len(given) <= len(wanted), f"seed {seed}: segments from nowhere on channel {channel}"
        same = (given == wanted[: len(given)]).all(axis=1)
        assert same.all(), f"seed {seed}: segment {np.flatnonzero(~same)[0]} of channel {channel} is another"
        blocked = states["waiting"][-1] >> channel & 1 or states["armed"][-1] >> channel & 1
        if still and not blocked and len(given) < len(wanted):
            missing[channel] = int(wanted[len(given), 0]) & 0xFF

    settings = {name: value for name, value in program.settings.items() if name != "branch_timeout"}
    rows, _, engine_errors, stops = model.replay(
        np.ascontiguousarray(shown["given"]).tobytes(),
        (states["trigger"] != 0).astype("u1").tobytes(),
        SEEN,
        False,
        build.model_settings() | settings,
    )
    rows = np.frombuffer(rows, SHOWN).reshape(-1, CHANNELS)
    for name in ["values", "applied", "levels"]:
        differ = np.argwhere(shown[name][SHOWS:] != rows[name][:-SHOWS])
        assert not len(differ), f"seed {seed}: {name} in cycle, channel, place {differ[0]}"
    for bit, name in enumerate(["armed", "running"]):
        for channel in range(CHANNELS):
            differ = np.flatnonzero(states[name] >> channel & 1 != rows["armed_running"][:, channel] >> bit & 1)
            assert not len(differ), f"seed {seed}: {name} of channel {channel} in cycle {differ[0]}"
    unmoved = states["settled"][:-2].astype(bool)
    for name in ["values", "applied", "levels"]:
        moved = np.argwhere(shown[name][2:] != shown[name][1:-1])
        assert not unmoved[moved[:, 0]].any() if len(moved) else True, f"seed {seed}: {name} moved while settled"
    if still:
        for channel, (parameters, cycle, full) in enumerate(stops):
            # A program can fill one parameter's FIFO while its channel waits for a segment of
            # another.
            whole = channel not in missing or missing[channel] & full
            assert whole, f"seed {seed}: channel {channel} lacks segments"
            assert shown["underrun"][-1, channel] == parameters, f"seed {seed}: underruns of channel {channel}"
            assert cycle < 0 or shown["first_cycle"][-1, channel] == cycle, f"seed {seed}: first underrun {channel}"
        engine_errors |= errors
        blocked = missing or (states["waiting"][-1] | states["armed"][-1]) != 0
        known = ~OF_SEQUENCERS if blocked else ~0
        assert played.errors & known == engine_errors & known, (
            f"seed {seed}: errors {played.errors:#x}, {engine_errors:#x}"
        )
    return still


def check(build, seeds):
    """The number of programs of these seeds that were played to the end."""
    made = {"mlut_bits": build.mlut_bits, "plut_bits": build.plut_bits, "wide": build.wide}
    return sum(compare(build, random_program(seed, **made), seed) for seed in seeds)


def test_check_50_random_programs_are_played_as_by_the_model(usual):
    assert check(usual, range(200)) > 100


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_check_50_many_random_programs_are_played_as_by_the_model(usual, small, part):
    build = [usual, small][part % 2]
    assert check(build, range(1000 * (part + 1), 1000 * (part + 2))) > 300
