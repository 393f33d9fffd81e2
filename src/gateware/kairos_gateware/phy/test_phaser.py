"""Phaser against a card in plain Python that uses only the pads: accesses to registers, oscillators
of both RF channels, the frame of an event, the stamp of an answer."""

import pytest
from migen import *

from kairos_gateware.contracts import phaser as facts
from kairos_gateware.pad import Pad
from kairos_gateware.phy.fastino_card import FrameReceiver
from kairos_gateware.phy.phaser import Phaser, PhaserTones
from kairos_gateware.testbenches.phy import play

FRAME = 40
HEAD = sum(width for _, width in facts.FRAME)


class Both(Module):
    """The registers' channel, and one kind of words of an RF channel."""

    def __init__(self, index, kind):
        lanes = [Pad(f"mosi{i}", "out", 0, True) for i in range(facts.LANES)]
        phaser = Phaser(0, Pad("clk", "out", 0, True), lanes, Pad("miso", "in", 0))
        self.submodules.phaser = phaser
        self.submodules.tones = PhaserTones(1, phaser.words[index][kind], phaser.strobes[index][kind])
        self.comb += phaser.channel.free_running.simulated.eq(1)


def frames(record):
    """[(cycle at which it begins, fields of its head, words of its oscillators)]."""
    receiver = FrameReceiver(facts.FRAME_WORDS, facts.FRAME_WORD_BITS, facts.CLOCK_PATTERN, facts.CRC)
    pads = list(zip(*record.outputs[: 1 + facts.LANES], strict=True))
    for index in range(FRAME - 1, len(pads)):
        receiver.feed(index + 1, [samples for samples, _ in pads[index]])
    assert not receiver.errors
    found = []
    for start, payload in receiver.frames:
        fields, at = {}, 0
        for name, width in facts.FRAME:
            fields[name] = payload >> at & (1 << width) - 1
            at += width
        found.append((start, fields, [payload >> HEAD + 32 * n & 0xFFFFFFFF for n in range(2 * facts.OSCILLATORS)]))
    return found


def shifted(events):
    # `play` numbers the cycle n + 1 as n
    return {cycle - 1: (*event, 0) for cycle, event in events.items()}


def test_register_access_is_sent_once_per_frame():
    both = Both(0, 0)
    events = {50: (0x80 | 0x06, 0x3F), 95: (0x05, 0), 101: (0x07, 0)}
    record = play(both.phaser, shifted(events), 6 * FRAME, dut=both)
    assert record.busy == [100], "one access in each frame"
    (first, written, _), (second, read, _) = frames(record)
    assert (first, second) == (80, 120)
    assert written == {"channel": 0, "request": 1, "write": 1, "register": 6, "data": 0x3F}
    assert (read["request"], read["write"], read["register"]) == (1, 0, 5)


@pytest.mark.parametrize("answer", [0xA5, 0x01, 0x80, 0xFF])
def test_register_answer_returns_with_its_time(answer):
    both = Both(0, 0)
    # In the frame after that of the request, from 160 on, a bit in each word.
    bits = [0, *(answer >> n & 1 for n in reversed(range(8))), 0]
    back = 1 + facts.LANES
    levels = {(back, 159 + 4 * n): 0xFF * bit for n, bit in enumerate(bits)} | {(back, 199): 0}
    record = play(both.phaser, shifted({95: (0x05, 0)}), 8 * FRAME, levels, dut=both)
    ((cycle, _, data),) = record.inputs
    assert (cycle + 1, data >> 1 & 0xFF) == (200, answer)
    assert record.settled[60] and not any(record.settled[95:200]) and record.settled[-1]


@pytest.mark.parametrize("index, kind", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_oscillator_words_are_in_the_next_frame(index, kind):
    both = Both(index, kind)
    both.pads = both.phaser.pads
    both.channel = both.tones.channel
    record = play(both, shifted({50: (0, 0x12345678), 51: (4, 0x9ABCDEF0), 130: (4, 7)}), 6 * FRAME, dut=both)
    words = [0] * 10
    words[kind], words[8 + kind] = 0x12345678, 0x9ABCDEF0
    first, second = frames(record)
    assert first[0] == 80 and first[1]["channel"] == index and first[2] == words
    words[8 + kind] = 7
    assert second[0] == 160 and second[1]["request"] == 0 and second[2] == words
