"""Bits of a transceiver and words of a camera: any alignment, noise; levels to the camera."""

import random
from itertools import groupby

from migen import *

from kairos_gateware.coaxpress.camera import LineCoder, answer, words_of
from kairos_gateware.coaxpress.downlink import PacketReader, Words
from kairos_gateware.coaxpress.line import LEVEL_BITS, LINE_BITS, LineReceiver, LineTransmitter
from kairos_gateware.coaxpress.uplink import IDLE_WORD
from kairos_gateware.testbenches.simulator import run_simulation

LINE = "line"


class Bench(Module):
    def __init__(self, **options):
        self.submodules.receiver = receiver = LineReceiver(**options)
        self.submodules.words = words = Words()
        self.submodules.packets = PacketReader(words)
        self.comb += [words.characters.eq(receiver.word), words.take.eq(receiver.stb)]


def received(bits, **options):
    """The words that arrive from these bits, whether the answers among them were good, and whether the receiver was in
    step in each cycle. options: of the receiver."""
    dut, words, answers, steps = Bench(**options), [], [], []

    def line():
        whole = len(bits) // LINE_BITS
        for number in range(whole + 12):
            part = bits[number * LINE_BITS : (number + 1) * LINE_BITS] if number < whole else []
            yield dut.receiver.line.eq(sum(bit << n for n, bit in enumerate(part)))
            if number < whole:
                steps.append((yield dut.receiver.in_step))
            if (yield dut.receiver.stb):
                words.append((yield dut.receiver.word))
            if (yield dut.packets.end_answer):
                answers.append((yield dut.packets.good))
            yield

    run_simulation(dut, line())
    return words, answers, steps


def test_words_arrive_with_any_alignment_after_noise():
    """Noise ends the step before a dozen words have been made of it."""
    noise, bits, sent = random.Random(7), [], []
    for shift in range(LINE_BITS):
        packet = answer(0, bytes([shift]) * 8)
        bits += LineCoder().bits([*IDLE_WORD * 4, *packet, *IDLE_WORD * 5])
        bits += [noise.getrandbits(1) for _ in range(24 * LINE_BITS + 1)]
        sent.append(words_of(packet))
    words, answers, steps = received(bits)
    assert answers == [1] * LINE_BITS
    rest = words
    for packet in sent:
        place = next(n for n in range(len(rest)) if rest[n : n + len(packet)] == packet)
        rest = rest[place + len(packet) :]
        assert place <= 12
    assert len(rest) <= 12
    assert len(list(groupby(steps))) == 2 * LINE_BITS + 1, "in step with each packet, out of step with noise"


def test_words_follow_each_other_without_a_gap():
    """In each cycle one, between two idle ones."""
    sent = [*[0x4A] * 4 * 200]
    words, *_ = received(LineCoder().bits([*IDLE_WORD * 5, *sent, *IDLE_WORD * 2]))
    assert words[: len(sent) // 4] == words_of(sent)


def test_single_wrong_bits_do_not_lose_the_alignment():
    bits = LineCoder().bits([*IDLE_WORD * 4, *answer(1) * 6, *IDLE_WORD * 4])
    for place in range(350, 1240, 97):
        bits[place] ^= 1
    _, answers, steps = received(bits)
    assert answers == [0, 0, 0, 0, 1, 1]
    assert len(list(groupby(steps))) == 2, "in step from the first idle word on"


def test_line_without_idle_words_is_given_up():
    *_, steps = received(LineCoder().bits([*IDLE_WORD * 6, *[0x4A] * 4 * 400]), patience=300)
    lengths = [(step, len(list(group))) for step, group in groupby(steps)]
    assert [step for step, _ in lengths] == [0, 1, 0] and lengths[1][1] in range(299, 308)


def test_levels_to_the_camera_keep_their_durations():
    durations = [6, 12, 6, 6, 30, 18, 6, 60]

    def logic(dut):
        for n, duration in enumerate(durations):
            yield dut.level.eq(n % 2 == 0)
            for _ in range(duration):
                yield

    def line(dut, seen):
        for _ in range(sum(durations) + 20):
            seen.append((yield dut.line))
            yield

    for phase in (0, 1, 40, 79):
        dut, seen = LineTransmitter(LINE), []
        run_simulation(dut, {LINE: line(dut, seen), "sys": logic(dut)}, {LINE: (80, phase), "sys": 80})
        lengths = [len(list(group)) for _, group in groupby(seen)]
        assert set(seen) == {0, 2**LEVEL_BITS - 1} and lengths[1:-1] == durations[:-1]
