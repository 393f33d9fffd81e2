"""Multi-tone DDS of a Phaser, verilated, against the equations in Python: samples of tones, test words, controls with
their answers and pins, and what is shown."""

import os
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.contracts import phaser_mtdds as facts
from kairos_gateware.verilated.lockstep import build_lockstep

from ..pad import SAMPLES, Pad
from ..rtio.timing import INPUT_LATENCY
from .mtdds import INPUTS, OUTPUTS, Mtdds, MtddsTone, Shown
from .mtdds_samples import LATENCY, Samples

BUILD = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build")) / "gateware"
TONES = 2
CARD, FIRST = range(2)
"""Channels: the controls; those of the tones follow, first all of RF channel 0."""
READ = 1 << 4
BOTH = 0b0101
"""Tones as the source of both RF channels."""
TOLERANCE = 2
CYCLES = 60


class Bench(Module):
    """Channels as above, with 4 samples in a cycle."""

    def __init__(self):
        pads = {name: Pad(name, "out", 0) for name in OUTPUTS} | {name: Pad(name, "in", 0) for name in INPUTS}
        self.submodules.card = card = Mtdds(0, pads, TONES, 4)
        self.submodules.shown = shown = Shown(card)
        self.submodules.samples = samples = Samples(card)
        tones = [MtddsTone(1, tone) for tones in card.tones for tone in tones]
        self.submodules += tones
        links = [phy.channel.output for phy in (card, *tones)]
        self.inputs = {name: [getattr(link, name) for link in links] for name in ("stb", "address", "data")}
        self.inputs["pins"] = [pads[name].i for name in INPUTS]
        fields = [Signal(64, name=f"field_{n}") for n in range(len(sum(shown.fields, [])))]
        self.comb += [field.eq(value) for field, value in zip(fields, sum(shown.fields, []), strict=True)]
        answers = card.channel.input
        self.outputs = {
            "samples": [part for of in samples.samples for pair in of for part in pair],
            "shown": fields,
            "pins": [pads[name].o for name in OUTPUTS],
            "answers": [answers.stb, answers.data],
        }


@pytest.fixture(scope="session")
def library():
    bench = Bench()
    return build_lockstep(BUILD / "mtdds_bench", bench, bench.inputs, bench.outputs)


class Play:
    """Events for the bench."""

    def __init__(self):
        self.events, self.pins = {}, {}

    def at(self, time, channel, address, data):
        self.events[time, channel] = address, data
        return self

    def tone(self, time, channel, n, ftw, pow_, asf):
        """Sets a tone in three cycles, of which the last is that of its frequency."""
        place = FIRST + channel * TONES + n
        for more, (address, data) in enumerate([(facts.PHASE, pow_), (facts.AMPLITUDE, asf), (facts.FREQUENCY, ftw)]):
            self.at(time + more - 2, place, address, data)
        return self

    def run(self, library, cycles=CYCLES):
        """The outputs of each cycle. The strobe is one cycle ahead of an event's time."""
        rows = np.zeros(cycles, library.inputs)
        for (time, channel), (address, data) in self.events.items():
            for name, value in [("stb", 1), ("address", address), ("data", data)]:
                rows[name][time - 1, channel] = value
        for time, levels in self.pins.items():
            rows["pins"][time] = [255 * level for level in levels]
        return library.play(rows)


def signed(value):
    return (int(value) + 2**15) % 2**16 - 2**15


def samples_of(run, channel, cycle):
    """Pairs of I and Q of an RF channel in a cycle."""
    values = [signed(value) for value in run["samples"][cycle + LATENCY]][8 * channel : 8 * channel + 8]
    return [*zip(values[::2], values[1::2], strict=True)]


def expected(amplitude, phase):
    turn = 2 * pi * (phase % 2**32) / 2**32
    return amplitude * cos(turn), amplitude * sin(turn)


words = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**16 - 1), st.integers(0, 2**15 - 1))


@settings(max_examples=40, deadline=None)
@given(words, st.integers(0, 1), st.integers(0, TONES - 1))
def test_samples_are_those_of_the_equations(library, tone, channel, n):
    ftw, pow_, asf = tone
    run = Play().at(3, CARD, facts.SOURCES, BOTH).tone(20, channel, n, ftw, pow_, asf).run(library)
    for cycle in range(0, CYCLES - 20 - LATENCY, 7):
        phases = [(4 * cycle + s) * ftw + (pow_ << 16) for s in range(4)]
        found = samples_of(run, channel, 20 + cycle)
        assert found == [pytest.approx(expected(asf, phase), abs=TOLERANCE) for phase in phases], cycle
        assert samples_of(run, 1 - channel, 20 + cycle) == [(0, 0)] * 4


def test_tones_add_up_to_the_limits_of_the_dac(library):
    play = Play().at(3, CARD, facts.SOURCES, BOTH)
    for n in range(TONES):
        play.tone(20, 0, n, 0, 0, 0x7FFF).tone(20, 1, n, 0, 0x8000, 0x3000 << n)
    run = play.run(library)
    assert samples_of(run, 0, 30) == [(32767, pytest.approx(0, abs=2 * TOLERANCE))] * 4
    assert samples_of(run, 1, 30) == [(-32768, pytest.approx(0, abs=2 * TOLERANCE))] * 4


def test_cleared_tone_rests_at_its_phase_and_begins_there(library):
    ftw, pow_ = 2**32 // 50, 0x2000
    play = Play().at(3, CARD, facts.SOURCES, BOTH).tone(10, 1, 1, ftw, pow_, 0x4000)
    place = FIRST + TONES + 1
    run = play.at(20, place, facts.CLEAR, 1).at(30, place, facts.CLEAR, 0).run(library)
    rest = pytest.approx(expected(0x4000, pow_ << 16), abs=TOLERANCE)
    assert samples_of(run, 1, 19)[0] == pytest.approx(expected(0x4000, 36 * ftw + (pow_ << 16)), abs=TOLERANCE)
    assert samples_of(run, 1, 20) == samples_of(run, 1, 29) == [rest] * 4
    for cycle in (30, 31, 40):
        phases = [(4 * (cycle - 30) + s) * ftw + (pow_ << 16) for s in range(4)]
        found = samples_of(run, 1, cycle)
        assert found == [pytest.approx(expected(0x4000, phase), abs=TOLERANCE) for phase in phases]


def test_test_words_take_the_place_of_the_tones_of_one_channel(library):
    play = Play().tone(10, 0, 0, 0, 0, 0x1000).tone(10, 1, 0, 0, 0, 0x2000)
    for n, word in enumerate((0xF05A, 0x05AF, 0x5AF0, 0xAF05)):
        play.at(20 + n, CARD, facts.TEST_WORDS + n, word)
    run = play.at(30, CARD, facts.SOURCES, 0b0100).at(40, CARD, facts.SOURCES, 0b0001).run(library)
    zero = pytest.approx(0, abs=TOLERANCE)
    assert samples_of(run, 0, 30) == [(signed(0xF05A), signed(0x05AF))] * 4
    assert samples_of(run, 1, 30) == [(pytest.approx(0x2000, abs=TOLERANCE), zero)] * 4
    assert samples_of(run, 0, 40) == [(pytest.approx(0x1000, abs=TOLERANCE), zero)] * 4
    assert samples_of(run, 1, 40) == [(signed(0x5AF0), signed(0xAF05))] * 4


def test_controls_set_pins_and_are_read_back(library):
    writes = {facts.DAC_PINS: 0b011, facts.SOURCES: 0b1001, facts.ATTENUATORS: 0b10, facts.SAVES: 0b01}
    writes |= {facts.TEST_WORDS + n: 0x8001 + n for n in range(4)}
    play, time = Play(), 5
    for address, data in writes.items():
        play.at(time, CARD, address, data)
        time += 1
    fixed = {
        facts.HARDWARE: 0,
        facts.VARIANT: 1,
        facts.SAMPLES: 4,
        facts.TONES: TONES,
        facts.ALARM: 1,
        facts.LOCKED: 0b10,
    }
    wanted = writes | fixed
    reads = {}
    for address in wanted:
        reads[time] = address
        play.at(time, CARD, READ | address, 0xFFFF)
        time += 1
    play.pins = {cycle: (1, 0, 1) for cycle in range(CYCLES)}
    run = play.run(library)
    found = {cycle: int(data) for cycle, (stb, data) in enumerate(run["answers"]) if stb}
    assert found == {cycle + INPUT_LATENCY: wanted[address] for cycle, address in reads.items()}
    levels = dict(zip(OUTPUTS, [int(pin) for pin in run["pins"][-1]], strict=True))
    high = {"txena", "resetb", "attrst1", "save0"}
    assert levels == {name: (2**SAMPLES - 1) * (name in high) for name in OUTPUTS}
    assert not run["pins"][4].any()


def test_shown_words_change_at_event_time(library):
    play = Play().at(10, CARD, facts.SOURCES, BOTH).at(11, CARD, facts.TEST_WORDS + 3, 0x1234)
    place = FIRST + TONES
    play.tone(20, 1, 0, 0x89ABCDEF, 0x4567, 0x7ABC).at(22, place, facts.CLEAR, 1)
    shown = [[int(word) for word in row] for row in play.run(library)["shown"]]
    assert shown[9] == [0] * 12
    assert [row[:2] for row in shown[10:12]] == [[BOTH, 0], [BOTH, 0x1234 << 48]]
    tone = 0x89ABCDEF | 0x4567 << 32 | 0x7ABC << 48
    common = [BOTH, 0x1234 << 48, 0, 0]
    assert shown[20] == [*common, tone, *[0] * 7] and shown[22] == [*common, tone | 1 << 63, *[0] * 7]
