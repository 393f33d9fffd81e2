"""Slots read ahead: addresses, lengths, bursts that were too short, slots that were missed."""

import random

from migen import *

from kairos_gateware.initiator.fetch import FIRST_BEATS, READS, SlotReader
from kairos_gateware.initiator.port import AcpMaster
from kairos_gateware.testbenches.simulator import run_simulation

BASE = 0x4000_0000


class Bench(Module):
    """A port with `latency`, whose words are their addresses; `asked`: (offset, beats) of each
    burst."""

    def __init__(self, latency=5):
        self.bus = AcpMaster()
        self.submodules.dut = SlotReader(self.bus)
        self.latency, self.asked, self.beats = latency, [], []

    @passive
    def port(self):
        bus, cycle, queue = self.bus, 0, []
        yield bus.arready.eq(1)
        while True:
            yield
            cycle += 1
            if (yield bus.arvalid) and (yield bus.arready):
                address, beats = (yield bus.araddr), (yield bus.arlen) + 1
                self.asked.append((address - BASE, beats))
                queue += [(cycle + self.latency, address + 8 * n, n == beats - 1) for n in range(beats)]
            yield bus.rvalid.eq(bool(queue) and queue[0][0] <= cycle)
            if queue and queue[0][0] <= cycle:
                _, address, last = queue.pop(0)
                yield bus.rdata.eq(address)
                yield bus.rlast.eq(last)

    @passive
    def receiver(self, ready=lambda: True):
        beats = self.dut.beats
        while True:
            yield beats.ready.eq(ready())
            yield
            if (yield beats.valid) and (yield beats.ready):
                self.beats.append(((yield beats.word) - BASE, (yield beats.last)))

    def run(self, process, **options):
        def start():
            yield self.dut.base.eq(BASE)
            yield self.dut.expected.eq(1)
            yield self.dut.first_beats.eq(FIRST_BEATS)
            yield self.dut.enable.eq(1)
            yield from process

        run_simulation(self, [start(), self.port(), self.receiver(**options)])


def ring(dut, times=1):
    for _ in range(times):
        yield dut.toggle.eq(1)
        yield
    yield dut.toggle.eq(0)


def test_each_toggle_reads_the_next_slot_and_no_more_than_the_limit_at_once():
    bench = Bench(latency=30)

    def process():
        yield from ring(bench.dut, READS + 2)
        for _ in range(20):
            yield
        assert len(bench.asked) == READS
        for _ in range(80):
            yield

    bench.run(process())
    assert bench.asked == [(128 * n, FIRST_BEATS) for n in range(1, READS + 3)]
    assert bench.beats == [(128 * n + 8 * i, i == 2) for n in range(1, READS + 3) for i in range(FIRST_BEATS)]


def test_beats_wait_for_the_receiver_and_keep_their_order():
    chance = random.Random(1)
    bench = Bench()

    def process():
        yield from ring(bench.dut, 6)
        for _ in range(200):
            yield

    bench.run(process(), ready=lambda: chance.random() < 0.3)
    assert bench.beats == [(128 * n + 8 * i, i == 2) for n in range(1, 7) for i in range(FIRST_BEATS)]


def test_rest_of_truncated_event_and_following_slots_are_read():
    bench = Bench()
    dut = bench.dut

    def process():
        yield from ring(dut, 2)
        while len(bench.beats) < 2 * FIRST_BEATS:
            yield
        # Four beats of slot 1 are missing.
        yield dut.index.eq(3)
        yield dut.rest.eq(4)
        yield dut.cut.eq(1)
        yield
        yield dut.cut.eq(0)
        for _ in range(40):
            yield

    bench.run(process())
    assert bench.asked == [(128, 3), (256, 3), (128 + 24, 4), (256, 3)]


def test_missed_slot_is_read_again_with_the_next_toggle():
    bench = Bench()
    dut = bench.dut

    def process():
        yield from ring(dut)
        for _ in range(20):
            yield
        yield dut.missed.eq(1)
        yield
        yield dut.missed.eq(0)
        for _ in range(20):
            yield
        assert bench.asked == [(128, 3)]
        yield from ring(dut)
        for _ in range(20):
            yield

    bench.run(process())
    assert bench.asked == [(128, 3), (128, 3)]
