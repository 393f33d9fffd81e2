"""Phaser against a card in plain Python that uses only the pads: accesses to registers, samples of the
oscillators, their announcement in simulations, pulses, the frame of an event, the stamp of an answer."""

import random

import pytest
from migen import *

from kairos_gateware.contracts import phaser as facts
from kairos_gateware.phy import phaser_card as card
from kairos_gateware.phy.phaser_card import Whole, frames, shifted
from kairos_gateware.testbenches.phy import play

FRAME = 40
TURN = 1 << 32


def test_frame_carries_the_last_access_before_it():
    both = Whole().of(0)
    events = {50: (0x80 | 0x06, 0x3F), 95: (0x05, 0), 101: (0x87, 9), 130: (0x04, 0)}
    record = play(both, shifted(events), 8 * FRAME)
    assert record.busy == []
    assert [(start, fields["write"], fields["register"]) for start, fields, _ in frames(record)] == [
        (80, 1, 6), (120, 1, 7), (160, 0, 4),
    ]  # fmt: skip
    assert [cycle + 1 for cycle, _, _ in record.inputs] == [240], "of two accesses the first one, a read, has no answer"


@pytest.mark.parametrize("answer", [0xA5, 0x01, 0x80, 0xFF])
def test_register_answer_returns_with_its_time(answer):
    both = Whole().of(0)
    # In the frame after that of the request, from 160 on, a bit in each word.
    bits = [0, *(answer >> n & 1 for n in reversed(range(8))), 0]
    back = 1 + facts.LANES
    levels = {(back, 159 + 4 * n): 0xFF * bit for n, bit in enumerate(bits)} | {(back, 199): 0}
    record = play(both, shifted({95: (0x05, 0)}), 8 * FRAME, levels)
    ((cycle, _, data),) = record.inputs
    assert (cycle + 1, data) == (200, answer << 1)
    assert record.settled[60] and not any(record.settled[95:200]) and record.settled[-1]


@pytest.mark.parametrize("index", [0, 1])
def test_oscillators_are_announced_and_samples_agree(index):
    """Sample number ANNOUNCED_FIRST of an announcement is the oldest one of the frame two frames later."""
    rng = random.Random(index)
    whole = Whole()
    words = [
        (rng.getrandbits(32), rng.getrandbits(16) << 16 | rng.randrange(1 << 12)) for _ in range(facts.OSCILLATORS)
    ]
    words[3] = (words[3][0], words[3][1] | 1 << 15)
    whole.of(2 + 2 * index)
    frequencies = whole.others[2 * index].channel.output
    events = {50 + n: (n, output) for n, (_, output) in enumerate(words)}
    whole.comb += [
        If(whole.channel.output.stb & (whole.channel.output.address == n), frequencies.data.eq(word))
        for n, (word, _) in enumerate(words)
    ]
    whole.comb += [frequencies.stb.eq(whole.channel.output.stb), frequencies.address.eq(whole.channel.output.address)]
    record = play(whole, shifted(events), 8 * FRAME)
    (start, fields, body), (after, sampled, found) = frames(record)
    assert (start, fields["kind"], fields["write"]) == (80, facts.FRAME_KIND_ANNOUNCED, 0)
    assert (after, sampled["kind"]) == (160, facts.FRAME_KIND_SAMPLES)
    channel, cycles, tones = card.fields(body)
    assert (channel, cycles) == (index, start - 50)
    assert [(tone["ftw"], tone["pow"] << 16 | tone["clr"] << 15 | tone["asf"]) for tone in tones] == words
    assert tones[3]["phase"] == 0
    for n, values in enumerate(reversed(card.samples(found))):
        number = facts.ANNOUNCED_FIRST + n
        oscillators = [
            ((tone["phase"] << 8) + (0 if tone["clr"] else tone["ftw"] * number), tone["pow"], tone["asf"])
            for tone in tones
        ]
        expected = [value >> 2 for value in card.sum_of(oscillators)]
        got = values[2 * index : 2 * index + 2]
        assert all(abs(a - b) <= 1 for a, b in zip(got, expected, strict=True)), (n, got, expected)
        assert values[2 - 2 * index : 4 - 2 * index] == [0, 0]
    assert not any(record.settled[50:160]) and record.settled[-1]


def test_hardware_sends_samples_in_every_frame():
    whole = Whole(simulated=0).of(2)
    record = play(whole, shifted({50: (0, 0x7FFF)}), 6 * FRAME)
    found = frames(record)
    assert [start for start, *_ in found] == [40, 80, 120, 160, 200]
    assert {fields["kind"] for _, fields, _ in found} == {facts.FRAME_KIND_SAMPLES}
    assert all(values == [8191, 0, 0, 0] for values in card.samples(found[-1][2]))


@pytest.mark.parametrize(
    "jump", [1, 41, 12345678901, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3, 4, 39, 40))]
)
def test_skip_of_time_leaves_oscillators_where_they_would_be(jump):
    from kairos_gateware.testbenches.simulator import run_simulation

    ends = []
    ftw, at = 0x12345679, 57
    for skips in (True, False) if jump < 100 else (True,):
        whole = Whole()
        tones = whole.phaser.tones[1]
        skip = whole.phaser.channel.free_running

        def bench(whole=whole, tones=tones, skip=skip, skips=skips):
            for n, word in enumerate(whole.phaser.words[1][0]):
                yield word.eq(ftw + n)
            cycle = 0
            while cycle < at + jump + 3 if jump < 100 else cycle < at + 3:
                if skips and cycle == at:
                    yield skip.stb.eq(1)
                    yield skip.cycles.eq(jump)
                    cycle += jump - 1 if jump < 100 else 0
                else:
                    yield skip.stb.eq(0)
                yield
                cycle += 1
            found = []
            for accumulator in tones.accumulators:
                found.append((yield accumulator))
            ends.append((found, (yield whole.phaser.place)))

        run_simulation(whole, bench())
    if jump < 100:
        assert ends[0] == ends[1]
    else:
        # One update every five cycles
        (found, _), expected = ends[0], (at + jump) // 5
        assert all((value - (ftw + n) * expected) % TURN // (ftw + n) <= 2 for n, value in enumerate(found))


def test_pulses_carry_their_time_since_the_frame():
    whole = Whole(miqro=1).of(2)
    # The frame was loaded 17 cycles before, with one of fine time; then one that comes too early
    events = {64: (2, 5), 65: (1, 4), 97: (0, 3, 4), 98: (0, 7, 0), 120: (0, 9, 0)}
    record = play(whole, shifted(events), 8 * FRAME)
    (start, fields, body), (later, _, second) = frames(record)
    none = {"strobe": 0, "dt": 0, "word0": 0, "word1": 0, "word2": 0}
    assert (start, fields["kind"], later) == (120, facts.FRAME_KIND_PULSES, 160)
    assert card.pulses(body) == [none, {"strobe": 1, "dt": 2 * 17 + 1, "word0": 3, "word1": 0, "word2": 0}]
    assert record.busy == [97], "a cycle after the first one"
    assert card.pulses(second)[1] == {"strobe": 1, "dt": 0, "word0": 9, "word1": 0, "word2": 0}


def test_words_of_a_pulse_are_cleared_once_sent():
    whole = Whole(miqro=1).of(1)
    record = play(whole, shifted({48: (2, 5), 49: (1, 4), 50: (0, 3), 130: (0, 6)}), 8 * FRAME)
    (_, _, first), (_, _, second) = frames(record)
    assert [card.pulses(body)[0] for body in (first, second)] == [
        {"strobe": 1, "dt": 20, "word0": 3, "word1": 4, "word2": 5},
        {"strobe": 1, "dt": 20, "word0": 6, "word1": 0, "word2": 0},
    ]
