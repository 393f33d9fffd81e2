"""DRTIO over EEM: characters on the lanes, back from any bit and word alignment; edges. The codes: `tests/cards`."""

import random

import pytest
from migen import *

from kairos_gateware.code8b10b import control, table
from kairos_gateware.link.line.eem import CHARACTER_BITS, LANE_BITS, LANES, Receiver, Transitions, Transmitter
from kairos_gateware.link.line.eem_delays import DelaySearch
from kairos_gateware.link.line.eem_words import WordReceiver, WordTransmitter
from kairos_gateware.testbenches.simulator import run_simulation

IDLE = control(28, 5) | 0x4A << CHARACTER_BITS
TIMEOUT = 20


def test_codes_keep_the_disparity_of_the_line_within_one():
    codes = {}
    for (character, positive), (code, after) in table().items():
        ones = code.bit_count()
        assert (ones, after) in ({(5, positive)} | ({(4, False)} if positive else {(6, True)}))
        codes.setdefault(code, set()).add(character)
    assert all(len(characters) == 1 for characters in codes.values())
    assert {character for character, _ in table()} == {*range(256), *map(lambda y: control(28, y), range(8))} | {
        control(x, 7) for x in (23, 27, 29, 30)
    }


def received(offset, words, patience=TIMEOUT, broken=None):
    """Send `words` over a line that is `offset` bits late; return (word, aligned, invalid) of each cycle."""
    transmitter, receiver, found = Transmitter(), Receiver(patience), []
    dut = Module()
    dut.submodules += transmitter, receiver
    late = [Signal(3 * LANE_BITS) for _ in range(LANES)]
    for n in range(LANES):
        dut.sync += late[n].eq(Cat(late[n][LANE_BITS:], transmitter.lanes[n]))
        whole = Cat(late[n], transmitter.lanes[n])
        first = 3 * LANE_BITS - offset
        dut.comb += receiver.lanes[n].eq(whole[first : first + LANE_BITS])

    def bench():
        for word in words:
            yield transmitter.word.eq(word)
            yield
            found.append(((yield receiver.word), (yield receiver.aligned), (yield receiver.invalid)))

    run_simulation(dut, bench())
    return found


@pytest.mark.parametrize("offset", range(2 * LANE_BITS))
def test_words_arrive_from_any_alignment(offset):
    rng = random.Random(offset)
    data = [rng.randrange(256) | rng.randrange(256) << CHARACTER_BITS for _ in range(18)]
    words = [IDLE] * (12 * TIMEOUT) + data + [IDLE] * 8
    found = received(offset, words)
    settled = found[11 * TIMEOUT :]
    assert all(aligned and not invalid for _, aligned, invalid in settled)
    sent = [word for word, *_ in settled]
    assert any(sent[n : n + len(data)] == data for n in range(len(sent)))


def test_silent_line_is_not_aligned():
    words = [0x155] * (11 * TIMEOUT)
    assert not any(aligned for _, aligned, _ in received(0, words))


def test_rising_edges_are_counted_by_the_level_between():
    dut, found = Transitions(), []

    def bench():
        for samples in [0b100, 0b110, 0b110, 0b001, 0b111, 0b000]:
            yield dut.samples.eq(samples)
            yield
        yield
        found.append(((yield dut.high), (yield dut.low)))
        yield dut.clear.eq(1)
        yield
        yield
        found.append(((yield dut.high), (yield dut.low)))

    run_simulation(dut, bench())
    assert found == [(2, 1), (0, 0)]


def search(phases, cycles=3400, aligned=True, dead=()):
    """Return the delays found for lanes with random bits that are late by `phases` (ps), or None. The search counts 64
    cycles at each tap."""
    dut, rng, found = DelaySearch(window=64, pause=100, patience=50), random.Random(1), []

    def bench():
        yield dut.ready.eq(1)
        yield dut.aligned.eq(aligned)
        bits, taps = [[0] * 20 for _ in range(LANES)], [0] * LANES
        for _ in range(cycles):
            for n in range(LANES):
                bits[n] = bits[n][LANE_BITS:] + [0 if n in dead else rng.getrandbits(1) for _ in range(LANE_BITS)]
                times = [800 * sample - phases[n] - 75 * taps[n] for sample in range(3)]
                yield dut.samples[n].eq(sum(bits[n][time // 1600 + 10] << place for place, time in enumerate(times)))
            if (yield dut.load):
                for n, tap in enumerate(dut.taps):
                    taps[n] = yield tap
            yield
            if (yield dut.found):
                found.extend(taps)
                return

    run_simulation(dut, bench())
    return found or None


@pytest.mark.parametrize("late", [0, 350, 700, 1050, 1400])
def test_delays_found_put_samples_in_the_middle_of_bits(late):
    phases = [late + 200, late, late + 300, late + 150]
    for phase, tap in zip(phases, search(phases), strict=True):
        assert abs((phase + 75 * tap) % 1600 - 800) <= 75


@pytest.mark.parametrize("options", [{"dead": (0,)}, {"dead": (2,)}, {"dead": range(LANES)}, {"aligned": False}])
def test_search_without_a_lane_or_characters_finds_no_delays(options):
    assert search([0] * LANES, **options) is None


def test_words_with_an_invalid_code_are_not_passed_on():
    transmitter, receiver, found = WordTransmitter(), WordReceiver(), []
    dut = Module()
    dut.submodules += transmitter, receiver
    broken = Signal()
    dut.comb += [receiver.line.eq(transmitter.line), receiver.aligned.eq(1), receiver.invalid.eq(broken)]

    def bench():
        number = 1
        for cycle in range(300):
            yield transmitter.word.valid.eq(cycle > 5)
            yield transmitter.word.word.eq(number * 0x123456789ABCDEF)
            yield broken.eq(cycle == 150)
            yield
            if (yield transmitter.word.ready) and cycle > 5:
                number += 1
            if (yield receiver.word.valid):
                found.append((yield receiver.word.word) // 0x123456789ABCDEF)

    run_simulation(dut, bench())
    assert len(found) > 60 and sorted(set(found)) == found
    assert found[-1] == found[0] + len(found), "one is missing"
