"""Conversion of beats to requests: words, numbers, slots to be skipped, unreadable beats."""

import random
import struct

from litex.soc.interconnect import stream
from migen import *

from kairos_gateware.contracts.initiator import Command
from kairos_gateware.initiator.fetch import FIRST_BEATS, MAX_BEATS
from kairos_gateware.initiator.receiver import Receiver
from kairos_gateware.testbenches.simulator import run_simulation


class Reader:
    """The signals of a `SlotReader` that a receiver uses."""

    def __init__(self):
        self.beats = stream.Endpoint([("word", 64), ("failed", 1)])
        self.expected, self.index, self.first_beats = Signal(16), Signal(4), Signal(4)
        self.cut, self.rest, self.missed = Signal(), Signal(4), Signal()
        self.flush, self.others, self.first = Signal(), Signal(5), Signal()


def slot(number, command=Command.OUTPUT, target=0x500, time=-9, words=(1,)):
    """The words of a slot, with garbage after those of the request."""
    padded = [*words, *[0xBAD] * (16 - len(words))]
    data = struct.pack("<IIqI", target, padded[0], time, 2 * number | command << 16 | len(words) << 24)
    return struct.unpack(f"<{MAX_BEATS}Q", data + struct.pack("<15I", *padded[1:]))


def beats_of(words, command=Command.OUTPUT):
    return FIRST_BEATS if command == Command.INPUT or len(words) <= 2 else 2 + (len(words) + 1) // 2


def receive(bursts, ready=lambda: True):
    """Requests (target, time, words, is input) of these bursts (beats), numbers of those that were
    missed or unreadable, and how often the rest of an event was requested. A burst may have `None`
    for a beat that failed."""
    reader = Reader()
    dut = Receiver(reader)
    seen, missed, unreadable, cuts = [], [], [], []

    def source():
        yield dut.enable.eq(1)
        yield
        for burst in bursts:
            for n, word in enumerate(burst):
                yield reader.beats.valid.eq(1)
                yield reader.beats.word.eq(word or 0)
                yield reader.beats.failed.eq(word is None)
                yield reader.beats.last.eq(n == len(burst) - 1)
                yield
                while not (yield reader.beats.ready):
                    yield
            yield reader.beats.valid.eq(0)
        for _ in range(30):
            yield

    @passive
    def sink():
        request = dut.request
        while True:
            yield request.ready.eq(ready())
            yield
            if (yield request.valid) and (yield request.ready):
                data = yield request.data
                words = [data >> 32 * n & 0xFFFF_FFFF for n in range(16)]
                time = yield request.time
                time -= (time >> 63) << 64
                seen.append(((yield request.target), time, words, (yield request.is_input)))

    @passive
    def watch():
        while True:
            yield
            if (yield dut.missed):
                missed.append((yield reader.expected))
            if (yield dut.unreadable):
                unreadable.append((yield dut.number))
            if (yield reader.cut):
                cuts.append((yield reader.rest))

    run_simulation(dut, [source(), sink(), watch()])
    return seen, missed, unreadable, cuts


def test_requests_of_every_width_reach_a_slow_core_complete():
    chance = random.Random(2)
    asked, bursts = [], []
    for number in range(1, 33):
        command = chance.choice(list(Command))
        words = [chance.getrandbits(32) for _ in range(1 if command == Command.INPUT else chance.randint(1, 16))]
        target, time = chance.getrandbits(32), chance.getrandbits(63) - (1 << 62)
        bursts.append(slot(number, command, target, time, words)[: beats_of(words, command)])
        asked.append((target, time, words + [0] * (16 - len(words)), command == Command.INPUT))
    seen, *rest = receive(bursts, lambda: chance.random() < 0.4)
    assert seen == asked
    assert rest == [[], [], []]


def test_beats_behind_a_request_are_discarded():
    seen, *_ = receive([slot(1), slot(2, words=(5, 6, 7))])
    assert [words[:3] for _, _, words, _ in seen] == [[1, 0, 0], [5, 6, 7]]


def test_slot_with_wrong_number_is_skipped():
    seen, missed, _, _ = receive([slot(9)[:3], slot(1)[:3]])
    assert len(seen) == 1 and missed == [1]


def test_short_burst_requests_missing_words():
    words = tuple(range(8))
    whole = slot(1, words=words)[:6]
    seen, _, _, cuts = receive([whole[:3], whole[3:]])
    assert cuts == [3] and seen[0][2][:8] == list(words)


def test_unreadable_request_is_answered_and_not_offered():
    seen, missed, unreadable, _ = receive([(None, *slot(1)[1:3]), slot(2)[:3]])
    assert [unreadable, missed] == [[1], []] and len(seen) == 1
