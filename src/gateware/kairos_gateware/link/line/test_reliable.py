"""CRC, frames and sessions, in cases that a line rarely causes. Bad lines are tested in
../../verilated/test_line.py."""

import re
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from migen import *

from kairos_gateware.link.line.control import Kind
from kairos_gateware.link.line.crc import Crc, crc_of
from kairos_gateware.link.line.endpoint import Endpoint, Stream
from kairos_gateware.link.line.gearbox import Forms
from kairos_gateware.link.line.registers import LinkRegisters
from kairos_gateware.link.line.reliable import Reliability
from kairos_gateware.link.line.retransmission import Lane, LaneReceiver
from kairos_gateware.testbenches.simulator import run_simulation

UNDISTURBED = 5
"""Cycles until a vector of one word and the end of its frame have left."""
STREAMS = [Stream("urgent", 1, Forms(number=40), 0, 4), Stream("data", 2, Forms(number=64), 2, 16)]
SMALL = Reliability(lanes=(Lane(64, 8), Lane(64, 8)), beat=32, hold=400)


def test_crc_of_known_data_is_crc_32c():
    data = b"123456789"
    crc = crc_of(int.from_bytes(data, "little"), 8 * len(data))
    assert int(f"{crc:032b}"[::-1], 2) ^ 0xFFFF_FFFF == 0xE306_9283  # its check value, which is of reflected bits


def test_crc_of_logic_equals_crc_of_model():
    dut, data = Crc(57), 0x123_4567_89AB_CDEF

    def play():
        yield dut.before.eq(0xDEAD_BEEF)
        yield dut.data.eq(data)
        yield
        assert (yield dut.after) == crc_of(data, 57, 0xDEAD_BEEF)

    run_simulation(dut, play())


def test_invalid_start_discards_preceding_words():
    """The CRC restarts after it, so a whole frame may be right: it must not include words from
    before."""
    dut, passed = LaneReceiver(Lane(64, 8)), []

    def word(value):
        yield dut.entry.eq(1 << 54 | value)
        yield dut.data.eq(1)
        yield
        yield dut.data.eq(0)

    def control(signal, right, number):
        yield signal.eq(1)
        yield dut.right.eq(right)
        yield dut.number.eq(number)
        yield
        yield signal.eq(0)

    def play():
        yield from word(100)
        yield from word(101)
        yield from control(dut.start, 0, 9)
        for value in range(8):
            yield from word(value)
        yield from control(dut.end, 1, 8)
        for _ in range(12):
            yield
        assert (yield dut.expected) == 9

    @passive
    def observe():
        while True:
            if (yield dut.word.stream):
                passed.append((yield dut.word.payload))
            yield

    run_simulation(dut, [play(), observe()])
    assert passed == list(range(8))


class Pair(Module):
    """Two endpoints with a line of some cycles; `cut` loses the words on it, `restart[n]` resets an
    end."""

    def __init__(self, delay=5, reliability=SMALL):
        self.cut, self.restart, self.ends = Signal(), [Signal(), Signal()], []
        self.cycle = Signal(32)
        self.sync += self.cycle.eq(self.cycle + 1)
        for restart in self.restart:
            end = ResetInserter()(Endpoint(STREAMS, STREAMS, reliability))
            self.comb += end.reset.eq(restart)
            self.submodules += end
            self.ends.append(end)
        for source, sink in [self.ends, self.ends[::-1]]:
            line = [(source.out.valid, source.out.word)]
            for _ in range(delay):
                line.append((Signal(), Signal(64)))
                (valid, word), (next_valid, next_word) = line[-2:]
                self.sync += [next_valid.eq(valid & ~self.cut), next_word.eq(word)]
            self.comb += [source.out.ready.eq(1), sink.into.valid.eq(line[-1][0]), sink.into.word.eq(line[-1][1])]
        if reliability is not None:  # without retransmission there is no space to report
            self.submodules.registers = LinkRegisters(self.ends[0].transport)


def wait_up(dut, up=1, limit=600):
    for cycles in range(limit):
        if (yield dut.ends[0].up) == up and (yield dut.ends[1].up) == up:
            return cycles
        yield
    raise AssertionError(f"up is not {up} at both ends")


def exchange(dut, name, numbers):
    """Sends from end 0 to end 1; returns the received numbers and the latency of the first."""
    sink, source, got, waited = dut.ends[0].sink[name], dut.ends[1].source[name], [], None
    left = list(numbers)
    yield source.ready.eq(1)
    for cycle in range(600):
        yield sink.valid.eq(bool(left))
        yield sink.form.eq(1)
        yield sink.data.eq(left[0] if left else 0)
        yield
        if left and (yield sink.ready):
            left.pop(0)
        if (yield source.valid):
            waited = cycle if waited is None else waited
            got.append((yield source.data))
        if len(got) == len(numbers):
            break
    yield source.ready.eq(0)
    return got, waited


def test_first_words_equal_the_documented_sequence():
    """The example sequence of docs/gateware/link.md for comparison with other implementations, in
    the same order."""
    page = (Path(__file__).parents[5] / "docs" / "gateware" / "link.md").read_text()
    expected = [int(word, 16) for word in re.findall(r"^\| `([0-9a-f]{16})` \|", page, re.MULTILINE)]
    dut, sent = Pair(), [[], []]

    def play():
        yield from wait_up(dut)
        yield from exchange(dut, "urgent", [7])
        for _ in range(100):
            yield

    @passive
    def observe():
        while True:
            for end, words in zip(dut.ends, sent, strict=True):
                if (yield end.out.valid):
                    words.append((yield end.out.word))
            yield

    run_simulation(dut, [play(), observe()])
    assert len(expected) == 6 and sent[0][:5] == expected[:5] and sent[1][:4] == [*expected[:3], expected[5]]


@pytest.mark.parametrize("reliability, cycles", [(None, 7), (SMALL, 13)])
def test_link_comes_up_in_few_round_trips_then_latency_is_constant(reliability, cycles):
    dut = Pair(5, reliability)

    def play():
        assert (yield from wait_up(dut)) < 64 + 4 * 12
        assert (yield from exchange(dut, "urgent", [7])) == ([7], cycles + 5)

    run_simulation(dut, play())


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2, 3))])
def test_an_urgent_vector_waits_for_one_word_at_most(seed):
    """Including the end of its frame, while all else is full in both directions, and
    acknowledgements are due repeatedly."""
    dut, random, words, asked = Pair(), Random(seed), [], []

    def play():
        yield from wait_up(dut)
        for end in dut.ends:
            for source in end.source.values():
                yield source.ready.eq(1)
            yield end.sink["data"].form.eq(1)
            yield end.sink["data"].valid.eq(1)
        yield
        for number in range(150):
            there, back = dut.ends[0].sink["urgent"], dut.ends[1].sink["urgent"]
            yield there.form.eq(1)
            yield there.data.eq(number)
            yield there.valid.eq(1)
            yield back.form.eq(1)
            yield back.valid.eq(random.random() < 0.7)
            yield
            assert (yield there.ready)
            asked.append((yield dut.cycle))
            yield there.valid.eq(0)
            for _ in range(random.randrange(8, 40)):
                yield back.valid.eq(random.random() < 0.3)
                yield

    @passive
    def observe():
        while True:
            if (yield dut.ends[0].out.valid):
                word = yield dut.ends[0].out.word
                words.append(((yield dut.cycle), word >> 54 & 7, word & 7))
            yield

    run_simulation(dut, [play(), observe()])
    ends = [when for when, stream, marks in words if stream == 0 and marks == Kind.END]
    sent = [when for when, stream, _ in words if stream == 1]
    late = [next(end for end in ends if end > word) - start for start, word in zip(asked, sent, strict=True)]
    assert min(late) == UNDISTURBED and max(late) == UNDISTURBED + 1, sorted(set(late))


@pytest.mark.parametrize("who", [1, pytest.param(0, marks=pytest.mark.long)])
def test_restarted_end_takes_peer_down_and_both_recover(who):
    dut = Pair()

    def play():
        yield from wait_up(dut)
        assert (yield from exchange(dut, "data", range(30)))[0] == list(range(30))
        yield dut.restart[who].eq(1)
        yield
        yield dut.restart[who].eq(0)
        yield from wait_up(dut, 0)
        yield from wait_up(dut)
        assert (yield from exchange(dut, "data", range(40, 70)))[0] == list(range(40, 70))

    run_simulation(dut, play())


def send(dut, end):
    """Sends a vector from this end without waiting for it."""
    sink = dut.ends[end].sink["urgent"]
    yield sink.valid.eq(1)
    yield sink.form.eq(1)
    yield
    yield sink.valid.eq(0)


def test_silent_line_takes_waiting_end_down_until_it_recovers():
    """Only an end that waits for an acknowledgement goes down; others do not notice."""
    dut = Pair()

    def play():
        yield from wait_up(dut)
        yield dut.cut.eq(1)
        for _ in range(2 * SMALL.hold):
            yield
        assert (yield dut.ends[0].up) and (yield dut.ends[1].up)
        yield from send(dut, 0)
        yield from send(dut, 1)
        yield from wait_up(dut, 0)
        assert (yield dut.registers.up.status) == 0
        yield
        yield
        assert (yield dut.registers.ended.status) == 1
        yield dut.cut.eq(0)
        yield from wait_up(dut)
        assert (yield from exchange(dut, "urgent", range(9)))[0] == list(range(9))
        assert (yield dut.registers.up.status) == 1

    run_simulation(dut, play())


def test_line_reporting_loss_takes_link_down_at_once():
    dut = Pair()

    def play():
        yield from wait_up(dut)
        yield dut.ends[0].line.eq(0)
        yield
        yield
        assert not (yield dut.ends[0].up) and (yield dut.ends[1].up)
        for _ in range(100):
            yield
        assert not (yield dut.ends[0].up)
        yield dut.ends[0].line.eq(1)
        yield from wait_up(dut)
        assert (yield from exchange(dut, "data", range(20)))[0] == list(range(20))

    run_simulation(dut, play())


def test_idle_end_sends_no_acknowledgement():
    dut = Pair()
    said = []

    @passive
    def observe():
        while True:
            said.append(0)
            for end in dut.ends:
                said[-1] |= (yield end.out.valid) | (yield end.moving)
            yield

    def play():
        yield from wait_up(dut)
        assert (yield from exchange(dut, "data", range(30)))[0] == list(range(30))
        for _ in range(10 * SMALL.beat):
            yield

    run_simulation(dut, [play(), observe()])
    assert any(said[: -3 * SMALL.beat]) and not any(said[-3 * SMALL.beat :])


def test_registers_count_words_until_cleared():
    pulses = {name: Signal(name=name) for name in ["up", "ended", "corrected", "repeated"]}
    transport = SimpleNamespace(**pulses, dropped=Signal(4), space=[Signal(10)])
    dut = LinkRegisters(transport)

    def play():
        yield transport.repeated.eq(1)
        yield transport.dropped.eq(5)
        for _ in range(3):
            yield
        yield transport.repeated.eq(0)
        yield transport.dropped.eq(0)
        yield
        yield
        assert (yield dut.retransmitted.status) == 3
        assert (yield dut.dropped.status) == 15
        yield dut.clear.re.eq(1)
        yield
        yield dut.clear.re.eq(0)
        yield
        assert (yield dut.retransmitted.status) == 0

    run_simulation(dut, play())


@pytest.mark.parametrize("words, frame", [(100, 8), (64, 32), (16384, 64)])
def test_invalid_lanes_are_refused_with_a_reason(words, frame):
    with pytest.raises(ValueError, match="no power of two from 4 frames"):
        Lane(words, frame)
