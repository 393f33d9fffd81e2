"""Songbird, verilated, against the equations in Python: words and triggers, clears and reset, samples, and what is
shown."""

import os
from math import cos, pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.contracts import songbird as facts
from kairos_gateware.contracts.shuttler import LEVEL_WORDS
from kairos_gateware.verilated.lockstep import build_lockstep

from .shuttler import FIELDS
from .songbird import Shown, Songbird, SongbirdLevel, SongbirdTone, SongbirdTrigger
from .songbird_samples import LATENCY, Samples

BUILD = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build")) / "gateware"
TONES = 2
CLEAR, RESET, TRIGGER, FIRST = range(4)
"""Channels; those of the tones follow, amplitude and phase of each."""
HALF = 1 << facts.LEVEL_BITS - 1
TOLERANCE = 3
"""Of a tone, in steps of the 16 bits."""
CYCLES = 120


def signed(value, bits):
    return (int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def phase_words(offset, frequency, chirp, shift):
    return [
        offset >> 2,
        frequency & 0xFFFF,
        frequency >> 16,
        chirp & 0xFFFF,
        chirp >> 16 & 0xFFFF,
        shift | (offset & 3) << 4,
    ]


class Bench(Module):
    """Channels as above."""

    def __init__(self):
        self.submodules.songbird = songbird = Songbird(0, TONES)
        self.submodules.shown = shown = Shown(songbird)
        self.submodules.samples = samples = Samples(songbird)
        others = [SongbirdLevel(1, songbird.reset_tones), SongbirdTrigger(2, songbird.triggers)]
        others += [SongbirdTone(3, words) for tone in songbird.tones for words in tone.words]
        self.submodules += others
        links = [phy.channel.output for phy in (songbird, *others)]
        self.inputs = {name: [getattr(link, name) for link in links] for name in ("stb", "address", "data")}
        fields = [Signal(64, name=f"field_{n}") for n in range(FIELDS * TONES)]
        self.comb += [field.eq(value) for field, value in zip(fields, sum(shown.fields, []), strict=True)]
        self.outputs = {"samples": samples.samples, "shown": fields}


@pytest.fixture(scope="session")
def library():
    bench = Bench()
    return build_lockstep(BUILD / "songbird_bench", bench, bench.inputs, bench.outputs)


class Play:
    """Events for the bench: {(time, channel): (address, data)}."""

    def __init__(self):
        self.events = {}

    def at(self, time, channel, data, address=0):
        assert (time, channel) not in self.events
        self.events[time, channel] = address, data
        return self

    def amplitude(self, time, tone, coefficients):
        rows = zip(coefficients, LEVEL_WORDS, strict=True)
        words = [value >> 16 * n & 0xFFFF for value, (count, *_) in rows for n in range(count)]
        return self._write(time, FIRST + 2 * tone, words)

    def phase(self, time, tone, *given):
        return self._write(time, FIRST + 2 * tone + 1, phase_words(*given))

    def _write(self, time, channel, words):
        for address, word in enumerate(words):
            self.at(time + address, channel, word, address)
        return self

    def run(self, library, cycles=CYCLES):
        """The outputs of each cycle. The strobe is one cycle ahead of an event's time."""
        rows = np.zeros(cycles, library.inputs)
        for (time, channel), (address, data) in self.events.items():
            for name, value in [("stb", 1), ("address", address), ("data", data & 0xFFFF)]:
                rows[name][time - 1, channel] = value
        return library.play(rows)


def tone(n, begin, coefficients, offset, frequency, chirp, shift):
    """Amplitude in steps and phases of the samples, n cycles after both triggers, without clears, step by step."""
    period = 2 ** (shift + 1)
    sums = [value << 32 - fraction for value, (_, _, fraction) in zip(coefficients, LEVEL_WORDS, strict=True)]
    phase = begin
    for cycle in range(n):
        phase += 20 * frequency
        if cycle % period == 0:
            sums = [signed(value + more, 48) for value, more in zip(sums, [*sums[1:], 0], strict=True)]
            frequency += chirp
    phases = [phase + s * frequency + (offset << 14) for s in range(facts.SAMPLES)]
    return signed(sums[0], 48) / 2**32, phases


def of_bits(bits):
    return st.integers(-(2 ** (bits // 2)), 2 ** (bits // 2)) | st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def expected(amplitude, phases):
    return [amplitude * cos(2 * pi * (phase % 2**32) / 2**32) for phase in phases]


amplitudes = st.tuples(*[of_bits(bits) for _, bits, _ in LEVEL_WORDS])
phases = st.tuples(
    st.integers(0, 2**18 - 1), st.integers(0, 2**32 - 1), of_bits(32), st.integers(0, 3) | st.integers(0, 15)
)


@settings(max_examples=40, deadline=None)
@given(amplitudes, phases, st.sampled_from(range(TONES)))
def test_samples_are_those_of_the_equations(library, amplitude, phase, number):
    start = 20
    play = Play().amplitude(5, number, amplitude).phase(5, number, *phase)
    play.at(start, TRIGGER, 1 << number, facts.TRIGGER_PHASE)
    # The phase one cycle earlier, so that its shift holds from the amplitude's trigger on
    samples = play.at(start + 1, TRIGGER, 1 << number, facts.TRIGGER_AMPLITUDE).run(library)["samples"]
    assert not samples[: start + 1 + LATENCY].any()
    for n in range(0, CYCLES - start - LATENCY - 1, 7):
        level, _ = tone(n, 0, amplitude, *phase)
        _, angles = tone(n + 1, 0, amplitude, *phase)
        for found, wanted in zip(samples[start + 1 + n + LATENCY], expected(level, angles), strict=True):
            assert abs(signed(found, 64) - max(-HALF, min(HALF - 1, wanted))) <= TOLERANCE, n


def test_the_sum_of_tones_is_limited(library):
    play = Play()
    for number in range(TONES):
        play.amplitude(5, number, [0x7000, 0, 0, 0]).phase(5, number, 0, 0, 0, 0)
    samples = play.at(20, TRIGGER, 0b11, facts.TRIGGER_AMPLITUDE).at(21, TRIGGER, 0b01, facts.TRIGGER_PHASE)
    assert {signed(code, 64) for code in samples.run(library)["samples"][-1]} == {HALF - 1}


def test_ports_of_the_dac_have_every_second_sample():
    samples = Samples(Songbird(0, 1))
    assert samples.ports == [samples.samples[0::2], samples.samples[1::2]]
    assert [len(port) for port in samples.ports] == [10, 10]


@pytest.mark.parametrize("offset", [0, 0x10001])
def test_cleared_tone_rests_at_its_offset_until_released(library, offset):
    frequency = 2**32 // 100
    play = Play().amplitude(5, 0, [0x4000, 0, 0, 0]).phase(5, 0, offset, frequency, 0, 0)
    play.at(20, TRIGGER, 1, facts.TRIGGER_AMPLITUDE).at(21, TRIGGER, 1, facts.TRIGGER_PHASE)
    samples = play.at(40, CLEAR, 1).at(60, CLEAR, 0).run(library)["samples"]
    for time, begin in [(30, 20 * frequency * 9), (40, None), (59, None), (60, 0), (61, 20 * frequency)]:
        moves = begin is not None
        angles = [(begin or 0) + moves * s * frequency + (offset << 14) for s in range(facts.SAMPLES)]
        found = [signed(code, 64) for code in samples[time + LATENCY]]
        assert found == pytest.approx(expected(0x4000, angles), abs=TOLERANCE), time


def test_reset_silences_all_tones_until_they_are_triggered_again(library):
    play = Play()
    for number in range(TONES):
        play.amplitude(5, number, [0x1000 << number, 0, 0, 0]).phase(5, number, 0, 0, 0, 0)
    play.at(20, TRIGGER, 0b11, facts.TRIGGER_AMPLITUDE).at(30, RESET, 1).at(40, TRIGGER, 1).at(50, RESET, 0)
    samples = play.at(60, TRIGGER, 0b10).run(library)["samples"][:, 0]
    found = [signed(samples[time + LATENCY], 64) for time in (19, 20, 29, 31, 45, 59, 60)]
    assert found == [0, 0x3000, 0x3000, 0, 0, 0, 0x2000]


def test_shown_fields_change_at_event_time(library):
    amplitude, phase = [-5, 3, 2**40, -(2**47)], (0x2FFFE, 0x89ABCDEF, -2, 7)
    play = Play().amplitude(5, 1, amplitude).phase(5, 1, *phase)
    play.at(20, TRIGGER, 2, facts.TRIGGER_AMPLITUDE).at(24, TRIGGER, 2, facts.TRIGGER_PHASE)
    play.at(26, CLEAR, 2).at(28, RESET, 1).at(30, CLEAR, 0)
    shown = play.run(library, 40)["shown"]
    assert not shown[:, :FIELDS].any(axis=1)[:28].any(), "the other tone"
    fields = [[int(value) for value in row[FIELDS:]] for row in shown]
    loaded = [-5 % 2**32 << 32, 3 << 16, 2**40, 2**64 - 2**47]
    assert fields[19] == [0] * 12 and fields[20] == [*loaded, 0, 0, 0, 0, 1, 0, 0, 0]
    assert fields[24] == [*loaded, phase[0], phase[1], 2**32 - 2, 7, 1 | 1 << 32, 0, 0, 0]
    assert [fields[time][7] for time in (25, 26, 28, 30)] == [7, 7 | 16, 7 | 48, 7 | 32]
