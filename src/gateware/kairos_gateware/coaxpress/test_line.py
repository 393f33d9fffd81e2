"""Bits of a transceiver and characters of a camera: any alignment, clocks that differ, noise; levels to the camera."""

import random
from itertools import groupby

from migen import *

from kairos_gateware.coaxpress.camera import answer, image
from kairos_gateware.coaxpress.downlink import PacketReader, Words
from kairos_gateware.coaxpress.line import LINE_BITS, LineReceiver, LineTransmitter
from kairos_gateware.coaxpress.uplink import IDLE_WORD
from kairos_gateware.code8b10b import CODE_BITS, table
from kairos_gateware.testbenches.simulator import run_simulation

CODES = table()
LINE = "line"


class Encoder:
    """Bits of characters, the first one lowest, with the disparity of a line."""

    def __init__(self):
        self.positive = False

    def bits(self, characters):
        found = []
        for character in characters:
            code, self.positive = CODES[character, self.positive]
            found += [code >> n & 1 for n in range(CODE_BITS)]
        return found


class Bench(Module):
    def __init__(self, **options):
        self.submodules.receiver = receiver = LineReceiver(LINE, **options)
        self.submodules.words = words = Words()
        self.submodules.packets = PacketReader(words)
        self.comb += [words.character.eq(receiver.character), words.valid.eq(receiver.valid)]


def received(bits, period=16000, **options):
    """The characters that arrive from these bits, whether the answers among them were good, and whether the receiver
    was in step in each cycle of the line. period: of that, in ps; options: of the receiver."""
    dut, characters, answers, steps = Bench(**options), [], [], []

    def line():
        for first in range(0, len(bits) - LINE_BITS + 1, LINE_BITS):
            part = bits[first : first + LINE_BITS]
            yield dut.receiver.line.eq(sum(bit << n for n, bit in enumerate(part)))
            steps.append((yield dut.receiver.in_step))
            yield
        yield dut.receiver.line.eq(0)

    def logic():
        for _ in range(len(bits) * period // LINE_BITS // 8000 + 40):
            if (yield dut.receiver.valid):
                characters.append((yield dut.receiver.character))
            if (yield dut.packets.end_answer):
                answers.append((yield dut.packets.good))
            yield

    run_simulation(dut, {LINE: line(), "sys": logic()}, {LINE: (period, 100), "sys": 8000})
    return characters, answers, steps


def without_idle(characters):
    """Those of words that are not idle."""
    words = [characters[n : n + 4] for n in range(0, len(characters), 4)]
    return [character for word in words if tuple(word) != IDLE_WORD for character in word]


def test_characters_arrive_whatever_the_alignment_after_noise():
    """Noise ends the step before nine words have been made of it."""
    noise, bits, sent = random.Random(7), [], []
    for shift in range(LINE_BITS):
        packet = answer(0, bytes([shift]) * 8)
        bits += Encoder().bits([*IDLE_WORD * 3, *packet, *IDLE_WORD * 3])
        bits += [noise.getrandbits(1) for _ in range(40 * LINE_BITS + 1)]
        sent.append(bytes(character & 0xFF for character in without_idle(packet)))
    characters, answers, steps = received(bits)
    found = bytes(character & 0xFF for character in characters)
    assert answers == [1] * LINE_BITS and all(packet in found for packet in sent)
    assert len(found) - len(b"".join(sent)) <= 32 * LINE_BITS
    assert len(list(groupby(steps))) == 2 * LINE_BITS + 1, "in step with each packet, out of step with noise"


def test_camera_with_another_clock_loses_nothing():
    """Clocks that differ more than they may, over as many words: idle ones make up for it."""
    frame = [[100 * row + column for column in range(40)] for row in range(8)]
    for period in (15_920, 16_080):
        sent = image(frame, 16, packet_words=50)
        characters, *_ = received(Encoder().bits([*IDLE_WORD * 4, *sent, *IDLE_WORD * 8]), period)
        expected = without_idle(sent)
        assert characters[: len(expected)] == expected


def test_single_wrong_bits_do_not_lose_the_alignment():
    bits = Encoder().bits([*IDLE_WORD * 3, *answer(1) * 6, *IDLE_WORD * 4])
    for place in range(310, 1200, 97):
        bits[place] ^= 1
    _, answers, steps = received(bits)
    assert answers == [0, 0, 0, 0, 1, 1]
    assert len(list(groupby(steps))) == 2, "in step from the first idle word on"


def test_line_without_idle_words_is_given_up():
    *_, steps = received(Encoder().bits([*IDLE_WORD * 4, *[0x4A] * 2 * 500]), patience=300)
    lengths = [(step, len(list(group))) for step, group in groupby(steps)]
    assert [step for step, _ in lengths] == [0, 1, 0] and lengths[1][1] in range(299, 312)


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
        assert set(seen) == {0, 2**LINE_BITS - 1} and lengths[1:-1] == durations[:-1]
