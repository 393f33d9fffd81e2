"""Replies: coalesced statuses, answers of two beats, sticky errors, and entries alternating with
them."""

import random

from migen import *

from kairos_gateware.contracts.initiator import (
    ATTENTION,
    CREDIT,
    NUMBER_BITS,
    PERMIT,
    POSTED_ERROR,
    POSTED_WORD,
    REPLY,
    REPLY_STATUS,
    STATUS_SHIFT,
)
from kairos_gateware.initiator.port import AcpMaster
from kairos_gateware.initiator.reply import WRITES, ReplyWriter
from kairos_gateware.testbenches.simulator import run_simulation

BASE = 0x10_0000


class Request:
    """The signals of a `Receiver` that a writer uses."""

    def __init__(self):
        self.number, self.posted, self.is_input, self.unreadable = Signal(16), Signal(), Signal(), Signal()
        self.limit = Signal(NUMBER_BITS)


class Response:
    def __init__(self):
        self.done, self.status, self.timestamp, self.data = Signal(), Signal(4), Signal(64), Signal(32)


class Bench(Module):
    """`writes`: (offset, words) of each burst, in the order of their last beats."""

    def __init__(self, response_delay=4):
        self.bus, self.request, self.response = AcpMaster(), Request(), Response()
        self.submodules.dut = ReplyWriter(self.bus, self.request, self.response, C(1))
        self.delay, self.writes, self.open, self.most = response_delay, [], 0, 0

    @passive
    def port(self, ready=lambda: True):
        bus, address, words, due, cycle = self.bus, [], [], [], 0
        while True:
            yield bus.awready.eq(ready())
            yield bus.wready.eq(ready())
            yield bus.bvalid.eq(bool(due) and due[0] <= cycle)
            if due and due[0] <= cycle:
                due.pop(0)
                self.open -= 1
            yield
            cycle += 1
            if (yield bus.awvalid) and (yield bus.awready):
                address.append((yield bus.awaddr) - BASE)
                self.open += 1
                self.most = max(self.most, self.open)
            if (yield bus.wvalid) and (yield bus.wready):
                words.append((yield bus.wdata))
                if (yield bus.wlast):
                    self.writes.append((address.pop(0), words))
                    words = []
                    due.append(cycle + self.delay)

    def answer(self, number, status=0, posted=False, is_input=False, timestamp=0, data=0):
        values = {"number": number, "limit": number + CREDIT, "posted": posted, "is_input": is_input}
        for name, value in values.items():
            yield getattr(self.request, name).eq(value)
        for name, value in {"done": 1, "status": status, "timestamp": timestamp, "data": data}.items():
            yield getattr(self.response, name).eq(value)
        yield
        yield self.response.done.eq(0)

    def run(self, process, **options):
        def start():
            yield self.dut.base.eq(BASE)
            yield self.dut.enable.eq(1)
            yield self.dut.waiting.eq(1)
            yield
            yield from process
            for _ in range(60):
                yield

        run_simulation(self, [start(), self.port(**options)])


def numbers(writes):
    return [(words[-1] >> 1 & 0x7FFF) - CREDIT for _, words in writes]


def test_statuses_are_coalesced_and_last_one_is_reported():
    chance = random.Random(3)
    bench = Bench(response_delay=12)

    def process():
        for number in range(1, 41):
            yield from bench.answer(number)
            for _ in range(chance.randrange(3)):
                yield

    bench.run(process(), ready=lambda: chance.random() < 0.7)
    reported = numbers(bench.writes)
    assert reported == sorted(set(reported)) and reported[-1] == 40 and len(reported) < 40
    assert bench.most <= WRITES
    assert {offset for offset, _ in bench.writes} == {REPLY_STATUS}


def test_input_answer_begins_with_its_timestamp():
    bench = Bench()
    bench.run(bench.answer(7, is_input=True, timestamp=0x1234_5678_9ABC, data=0xDEAD))
    assert bench.writes == [(REPLY, [0x1234_5678_9ABC, 7 + CREDIT << 1 | 0xDEAD << 32])]


def test_first_failed_posted_output_is_reported_until_cleared():
    bench = Bench()

    def process():
        yield from bench.answer(1, posted=True)
        for number, status in [(2, 2), (3, 4), (4, 0)]:
            for _ in range(10):
                yield
            yield from bench.answer(number, status, posted=True)
        for _ in range(10):
            yield
        yield bench.dut.clear.eq(1)
        yield
        yield bench.dut.clear.eq(0)
        yield from bench.answer(5, posted=True)

    bench.run(process())
    words = [words[0] for _, words in bench.writes]
    both = ATTENTION | POSTED_ERROR
    flags = [0, 2 << STATUS_SHIFT | both, 4 << STATUS_SHIFT | both, both, 0]
    assert [word & 0xFFFF_0001 for word in words] == flags
    assert [word >> 32 for word in words] == [0, *[2 << 16 | 2] * 3, 0]


def test_start_and_end_of_posting_permit_are_reported():
    """The word permits posting while the permit runs, unless the answer was an error."""
    bench = Bench()

    def pause():
        for _ in range(10):
            yield

    def process():
        yield from pause()
        yield bench.dut.permit.eq(1)
        yield from pause()
        yield from bench.answer(1)
        yield from pause()
        yield from bench.answer(2, status=2)
        yield from pause()
        yield from bench.answer(3)
        yield from pause()
        yield bench.dut.permit.eq(0)
        yield from pause()

    bench.run(process())
    assert numbers(bench.writes) == [0, 1, 2, 3, 3]
    flags = [words[0] & 0xFFFF_0000 for _, words in bench.writes]
    assert flags == [POSTED_WORD, POSTED_WORD, 2 << STATUS_SHIFT | PERMIT, POSTED_WORD, 0]


def test_end_of_permit_waits_for_a_pending_input_answer():
    """Even if the port accepts the address late: the answer is one write, its time first."""
    bench = Bench()
    cycle = [0]

    def ready():
        cycle[0] += 1
        return cycle[0] % 7 == 0

    def process():
        yield bench.dut.permit.eq(1)
        for _ in range(30):
            yield
        yield bench.request.is_input.eq(1)
        yield bench.dut.permit.eq(0)
        for _ in range(30):
            yield
        assert len(bench.writes) == 1
        yield from bench.answer(1, is_input=True, timestamp=77, data=5)
        yield bench.dut.waiting.eq(0)
        for _ in range(30):
            yield
        yield bench.dut.permit.eq(1)
        for _ in range(30):
            yield

    bench.run(process(), ready=ready)
    assert bench.writes == [
        (REPLY_STATUS, [CREDIT << 1 | POSTED_WORD]),
        (REPLY, [77, 1 + CREDIT << 1 | 5 << 32]),
        (REPLY_STATUS, [1 + CREDIT << 1 | POSTED_WORD | 5 << 32]),
    ]
