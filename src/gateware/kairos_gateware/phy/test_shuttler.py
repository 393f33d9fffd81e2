"""Shuttler, verilated, against the equations in Python: words and triggers, settings, samples, what
is shown, and advancing by many cycles at once."""

import os
from dataclasses import dataclass, field
from math import comb, cos, pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.contracts import shuttler as facts
from kairos_gateware.rtio.timing import COARSE_BITS, INPUT_LATENCY
from kairos_gateware.verilated.lockstep import build_lockstep

from .shuttler import FIELDS, Shown, Shuttler, ShuttlerSpline, ShuttlerTrigger
from .shuttler_samples import LATENCY, Samples

BUILD = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build")) / "gateware"
OUTPUTS = [0, 5, 15]
"""Those with channels for their coefficients."""
SETTINGS, TRIGGER = 0, 1
GAIN, OFFSET, CLEAR = (getattr(facts, f"PORT_SETTING_{name}") << 4 for name in ("GAIN", "OFFSET", "CLEAR"))
READ = 1 << 6
LEVEL, TONE = 0, 1
ROWS = [facts.LEVEL_WORDS, facts.TONE_WORDS]
WIDTHS = [48] * 4 + [32] * 3
"""Of the sums of a level or amplitude, then of a phase."""
HALF = 1 << facts.LEVEL_BITS - 1
TOLERANCE = 3
"""Of a tone, in steps of the 16 bits."""


def signed(value, bits):
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def loaded(kind, coefficients):
    """In units of the last bit of fraction."""
    aligned = zip(coefficients, ROWS[kind], WIDTHS, strict=False)
    return [value % (1 << bits) << width - bits for value, (_, bits, _), width in aligned]


def following(sums, bits):
    return [(value + other) % (1 << bits) for value, other in zip(sums, [*sums[1:], 0], strict=True)]


def after(cycles, sums, bits):
    """The sums so many cycles later."""
    tails = [sums[n:] for n in range(len(sums))]
    return [sum(comb(cycles, k) * v for k, v in enumerate(tail)) % (1 << bits) for tail in tails]


class Bench(Module):
    """Channels: settings, trigger, then level and tone of each of OUTPUTS."""

    def __init__(self):
        self.submodules.shuttler = shuttler = Shuttler(0)
        self.submodules.shown = shown = Shown(shuttler)
        self.submodules.samples = samples = Samples(shuttler)
        splines = [ShuttlerSpline(2, words) for n in OUTPUTS for words in shuttler.waveforms[n].words]
        phys = [shuttler, ShuttlerTrigger(1, shuttler.triggers), *splines]
        self.submodules += phys[1:]
        links, inputs, skip = (
            [phy.channel.output for phy in phys],
            shuttler.channel.input,
            shuttler.channel.free_running,
        )
        self.inputs = {name: [getattr(link, name) for link in links] for name in ("stb", "address", "data")}
        self.inputs |= {"skip": skip.stb, "cycles": skip.cycles}
        fields = [Signal(64, name=f"field_{n}") for n in range(FIELDS * facts.OUTPUTS)]
        self.comb += [field.eq(value) for field, value in zip(fields, sum(shown.fields, []), strict=True)]
        self.outputs = {
            "codes": samples.codes,
            "level": [samples.outputs[n].level for n in OUTPUTS],
            "amplitude": [samples.outputs[n].amplitude for n in OUTPUTS],
            "phase": [shuttler.waveforms[n].running for n in OUTPUTS],
            "answered": inputs.stb,
            "answer": inputs.data,
            "settled": shuttler.channel.settled,
            "shown": fields,
        }


@pytest.fixture(scope="session")
def library():
    bench = Bench()
    return build_lockstep(BUILD / "shuttler_bench", bench, bench.inputs, bench.outputs)


@dataclass
class Play:
    """Events for the bench: {(time, channel): (address, data)}; skips: {cycle: cycles}."""

    events: dict = field(default_factory=dict)
    skips: dict = field(default_factory=dict)

    def at(self, time, channel, data, address=0):
        assert (time, channel) not in self.events
        self.events[time, channel] = address, data
        return self

    def write(self, time, output, kind, coefficients):
        """In consecutive cycles, as the driver does."""
        words = [
            value >> 16 * n & 0xFFFF
            for value, (count, *_) in zip(coefficients, ROWS[kind], strict=True)
            for n in range(count)
        ]
        for address, word in enumerate(words):
            self.at(time + address, 2 + 2 * OUTPUTS.index(output) + kind, word, address)
        return self

    def run(self, library, cycles):
        """The outputs of each cycle. The strobe is one cycle ahead of an event's time."""
        rows = np.zeros(cycles, library.inputs)
        for (time, channel), (address, data) in self.events.items():
            for name, value in [("stb", 1), ("address", address), ("data", data & 0xFFFF)]:
                rows[name][time - 1, channel] = value
        for time, count in self.skips.items():
            rows["skip"][time], rows["cycles"][time] = 1, count
        return library.play(rows)


def of_bits(bits):
    """Small and great ones of either sign."""
    small = st.integers(-3, 3) | st.integers(-(2 ** (bits // 2)), 2 ** (bits // 2))
    return small | st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def coefficients(kind):
    return st.tuples(*[of_bits(bits) for _, bits, _ in ROWS[kind]]).map(list)


def codes_of(rows, output):
    return [signed(int(code), 64) for code in rows["codes"][:, output]]


def exact(level, gain, offset):
    """The code without a tone."""
    fine = signed(level, 48) >> 25
    code = (fine * (65536 + gain) + (offset << 23)) >> 25
    return max(-(2**13), min(2**13 - 1, code))


def wave(level, amplitude, phase, gain, offset):
    """In steps of the 16 bits, without rounding."""
    tone = facts.TONE_GAIN * signed(amplitude, 48) * cos(2 * pi * phase / 2**32)
    value = (signed(level, 48) + tone) / 2**32 * (1 + gain / 65536) + offset
    return max(-HALF, min(HALF - 1, value))


@settings(max_examples=12, deadline=None)
@given(coefficients(LEVEL), coefficients(TONE), of_bits(16), of_bits(16), st.sampled_from(OUTPUTS))
def test_internal_sums_are_exact_and_samples_within_rounding(library, level, tone, gain, offset, output):
    place, start, cycles = OUTPUTS.index(output), 30, 200
    play = Play().write(5, output, LEVEL, level).write(5, output, TONE, tone).at(start, TRIGGER, 1 << output)
    rows = play.at(8, SETTINGS, gain, GAIN | output).at(9, SETTINGS, offset, OFFSET | output).run(library, cycles)
    codes = codes_of(rows, output)
    sums = {"level": loaded(LEVEL, level), "amplitude": loaded(TONE, tone)[:4], "phase": loaded(TONE, tone)[4:]}
    for time in range(start, cycles - LATENCY):
        now = [int(rows[name][time, place]) for name in sums]
        assert now == [of[0] for of in sums.values()]
        error = 4 * codes[time + LATENCY] - wave(*now, gain, offset)
        assert -TOLERANCE - 3 <= error <= TOLERANCE
        sums = {name: following(of, 32 if name == "phase" else 48) for name, of in sums.items()}
    others = [n for n in range(facts.OUTPUTS) if n != output]
    assert not rows["codes"][:, others].any()


@settings(max_examples=40, deadline=None)
@given(coefficients(LEVEL), of_bits(16), of_bits(16))
def test_level_with_gain_and_offset_is_exact(library, level, gain, offset):
    start, change = 20, 60
    play = Play().write(5, 5, LEVEL, level).at(start, TRIGGER, 1 << 5).at(change, SETTINGS, gain, GAIN | 5)
    codes = codes_of(play.at(change + 1, SETTINGS, offset, OFFSET | 5).run(library, 120), 5)
    sums, expected = loaded(LEVEL, level), [0] * (start + LATENCY)
    for time in range(start, 120 - LATENCY):
        expected.append(exact(sums[0], gain * (time >= change), offset * (time > change)))
        sums = following(sums, 48)
    assert codes == expected


def test_sum_beyond_full_scale_is_limited(library):
    for sign in [1, -1]:
        play = Play().write(5, 0, LEVEL, [sign * 0x7000, 0, 0, 0]).write(5, 0, TONE, [sign * 0x4000, *[0] * 6])
        assert codes_of(play.at(30, TRIGGER, 1).run(library, 60), 0)[-1] == (0x1FFF if sign > 0 else -0x2000)
        # The limit is behind gain and offset
        play.at(31, SETTINGS, -0x8000, GAIN).at(32, SETTINGS, -sign * 0x1000, OFFSET)
        found = codes_of(play.run(library, 60), 0)[-1]
        assert abs(4 * found - sign * ((0x7000 + facts.TONE_GAIN * 0x4000) / 2 - 0x1000)) < 4


def test_the_first_sample_follows_the_trigger_by_the_latency(library):
    rows = Play().write(5, 5, LEVEL, [0x1000, 0, 0, 0]).at(20, TRIGGER, 1 << 5).run(library, 60)
    assert codes_of(rows, 5) == [0] * (20 + LATENCY) + [0x400] * (40 - LATENCY)


def test_words_written_at_trigger_time_wait_for_the_next_trigger(library):
    play = Play().at(10, 2, 0x1111, 0).at(11, 2, 0x2222, 0).at(11, TRIGGER, 1).at(15, TRIGGER, 1)
    levels = play.run(library, 20)["level"][:, 0] >> 32
    assert list(levels[9:17]) == [0, 0, 0x1111, 0x1111, 0x1111, 0x1111, 0x2222, 0x2222]


def test_a_trigger_starts_the_outputs_of_its_mask_only(library):
    play = Play()
    for n, output in enumerate(OUTPUTS):
        play.write(5, output, LEVEL, [n + 1, 0, 0, 0])
    levels = play.at(20, TRIGGER, 0x8001).at(25, TRIGGER, 0x0020).run(library, 30)["level"] >> 32
    assert [list(levels[time]) for time in (19, 20, 24, 25)] == [[0, 0, 0], [1, 0, 3], [1, 0, 3], [1, 2, 3]]


@settings(max_examples=20, deadline=None)
@given(coefficients(TONE), coefficients(TONE), st.booleans())
def test_the_phase_continues_unless_it_is_cleared(library, first, second, clear):
    play = Play().write(5, 15, TONE, first).at(20, TRIGGER, 1 << 15).write(21, 15, TONE, second)
    rows = play.at(25, SETTINGS, 0x8001 if clear else 0x7FFE, CLEAR).at(50, TRIGGER, 1 << 15).run(library, 80)
    before = after(30, loaded(TONE, first)[4:], 32)[0]
    sums = loaded(TONE, second)[4:]
    # Without: what has been accumulated, with the second c0 in place of the first
    offset = loaded(TONE, first)[4]
    sums[0] = (sums[0] + (0 if clear else before - offset)) % 2**32
    assert int(rows["shown"][50, 15 * FIELDS + 8]) == sums[0] | (0xFFFF_FFFF << 32) * (sums[0] >> 31)
    for time in range(50, 80):
        assert int(rows["phase"][time, 2]) == sums[0]
        sums = following(sums, 32)


def test_settings_are_read_at_the_time_of_the_read(library):
    play = (
        Play().at(10, SETTINGS, 0x8123, GAIN | 7).at(11, SETTINGS, 0x4567, OFFSET | 7).at(12, SETTINGS, 0x9ABC, CLEAR)
    )
    for n, address in enumerate([GAIN | 7, OFFSET | 7, CLEAR, GAIN | 6]):
        play.at(13 + n, SETTINGS, 0xFFFF, READ | address)
    play.at(20, SETTINGS, 1, GAIN | 7)
    rows = play.run(library, 40)
    times = np.flatnonzero(rows["answered"])
    assert list(times) == [13 + n + INPUT_LATENCY for n in range(4)]
    assert [int(rows["answer"][time]) for time in times] == [0x8123, 0x4567, 0x9ABC, 0]
    assert not rows["settled"][13:19].any() and rows["settled"][:13].all() and rows["settled"][19:].all()


@settings(max_examples=20, deadline=None)
@given(coefficients(LEVEL), coefficients(TONE))
def test_shown_fields_change_at_event_time(library, level, tone):
    play = Play().write(5, 5, LEVEL, level).write(5, 5, TONE, tone).at(20, TRIGGER, 1 << 5)
    play.at(22, SETTINGS, 0x8001, GAIN | 5).at(24, SETTINGS, 0x8002, OFFSET | 5).at(26, TRIGGER, 1 << 5)
    shown = play.run(library, 30)["shown"]
    fields = shown[:, 5 * FIELDS : 6 * FIELDS]
    sums = loaded(LEVEL, level) + loaded(TONE, tone)
    extended = [signed(value, bits) % 2**64 for value, bits in zip(sums, WIDTHS[:4] + WIDTHS, strict=True)]
    assert not fields[:20].any() and [int(value) for value in fields[20][:-1]] == extended
    counted = {19: 0, 20: 1 << 32, 22: 1 << 32 | 0x8001, 24: 1 << 32 | 0x8002_8001, 26: 2 << 32 | 0x8002_8001}
    assert {time: int(fields[time][-1]) for time in counted} == counted
    assert not shown[:, : 5 * FIELDS].any() and not shown[:, 6 * FIELDS :].any()


@settings(max_examples=60, deadline=None)
@given(coefficients(LEVEL), coefficients(TONE), st.integers(1, 50) | st.integers(1, 2**COARSE_BITS - 1))
@example([1] * 4, [1] * 7, 2**48)
@example([1] * 4, [1] * 7, 2**48 + 1)
@example([1] * 4, [1] * 7, 2**COARSE_BITS - 1)
def test_skipped_cycles_equal_stepped_cycles(library, level, tone, cycles):
    play = Play().write(5, 15, LEVEL, level).write(5, 15, TONE, tone).at(20, TRIGGER, 1 << 15)
    play.skips[30] = cycles
    rows = play.run(library, 80)
    sums = [(loaded(LEVEL, level), 48), (loaded(TONE, tone)[:4], 48), (loaded(TONE, tone)[4:], 32)]
    for of, bits in sums:
        stepped = of
        for _ in range(min(cycles, 50)):
            stepped = following(stepped, bits)
        assert after(min(cycles, 50), of, bits) == stepped
    for time in range(31, 80):
        # The cycle after the skip's is `cycles` later instead of one
        gone = time - 20 + cycles - 1
        found = [int(rows[name][time, 2]) for name in ("level", "amplitude", "phase")]
        assert found == [after(gone, of, bits)[0] for of, bits in sums]
