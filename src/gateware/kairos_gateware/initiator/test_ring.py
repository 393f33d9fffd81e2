"""The ring initiator alone, in Migen's simulator, between a memory and a core that are models."""

import struct
from collections import deque

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.contracts.initiator import (
    ATTENTION,
    CREDIT,
    POSTED_WORD,
    REPLY,
    SLOT_BYTES,
    STATUS_SHIFT,
    Command,
)
from kairos_gateware.contracts.initiator import POSTED_ERROR as ERROR
from kairos_gateware.initiator.ring import RingInitiator
from kairos_gateware.rtio.cri import OUTPUT_UNREACHABLE, Cri

BASE = 0x0070_0000
OUTPUT, INPUT, POSTED = Command


class Bench:
    """The processor's memory behind the port, and the RTIO core.

    latency: L. visible: W. response: cycles from a burst's last beat to its response. statuses: what the core answers
    to the n-th output (0 beyond). ready(cycle): whether the core takes an output. Inputs are answered `input_delay`
    cycles after the request. bad_reads, bad_writes: numbers of bursts that are answered with a bus error.

    `outputs`: (cycle, channel, address, timestamp, data); `inputs`: (cycle, channel, timeout); `reads`, `writes`:
    (cycle of the address or the last beat, offset, beats); `visible_at`: {number of a request: cycle in which its
    status was seen}.
    """

    def __init__(self, latency=20, visible=15, response=4, statuses=(), ready=lambda cycle: True, input_delay=3,
                 bad_reads=(), bad_writes=(), roomy=1):  # fmt: skip
        self.cri = Cri(512)
        self.dut = RingInitiator(self.cri, C(roomy))
        self.latency, self.visible, self.response = latency, visible, response
        self.statuses, self.ready, self.input_delay = deque(statuses), ready, input_delay
        self.bad_reads, self.bad_writes = bad_reads, bad_writes
        self.memory = bytearray(b"\xa5" * 4096)
        self.memory[REPLY : REPLY + 16] = bytes(8) + (CREDIT << 1).to_bytes(8, "little")
        self.outputs, self.inputs, self.reads, self.writes = [], [], [], []
        self.visible_at = {}
        self.cycle = 0
        self.number = 0

    # What the CPU does

    def write_request(self, command, target, time, words, number=None):
        """Into the next slot; the words behind those of the request stay as they are."""
        self.number = (self.number + 1) & 0x7FFF
        slot = SLOT_BYTES * (self.number % 16)
        head = 2 * (self.number if number is None else number) | command << 16 | len(words) << 24
        struct.pack_into("<IIqI", self.memory, slot, target, words[0], time, head)
        struct.pack_into(f"<{len(words) - 1}I", self.memory, slot + 20, *words[1:])

    def toggle(self):
        """Returns the cycle in which the event line has changed."""
        yield self.dut.event_o.eq(~self.dut.event_o)
        return self.cycle + 1

    def submit(self, command, target, time, words=(0,)):
        self.write_request(command, target, time, list(words))
        return (yield from self.toggle())

    def status(self):
        return struct.unpack_from("<II", self.memory, REPLY + 8)

    def answered(self):
        return ((self.status()[0] >> 1) - CREDIT) & 0x7FFF

    def wait(self, number=None):
        """Until the answer is visible; returns its status bits."""
        number = self.number if number is None else number
        for _ in range(3000):
            if self.answered() == number:
                word = self.status()[0]
                return 0 if word & POSTED_WORD == POSTED_WORD else word >> STATUS_SHIFT & 0xF
            yield
        raise TimeoutError

    # The rest of the world

    @passive
    def _world(self):
        bus, cri = self.dut.bus, self.cri
        beats, writes, responses, addresses, burst = deque(), deque(), deque(), deque(), []
        answers, pending_input, count = deque(), None, [0, 0]
        yield self.dut.enable.eq(1)
        yield self.dut.base.eq(BASE)
        for line in [bus.arready, bus.awready, bus.wready]:
            yield line.eq(1)
        while True:
            now = self.cycle + 1  # signals set here count in this cycle
            beat = beats.popleft() if beats and beats[0][0] <= now else None
            yield bus.rvalid.eq(beat is not None)
            if beat:
                word = int.from_bytes(self.memory[beat[1] : beat[1] + 8], "little")
                yield bus.rdata.eq(word)
                yield bus.rlast.eq(beat[2])
                yield bus.rresp.eq(beat[3])
            response = responses.popleft() if responses and responses[0][0] <= now else None
            yield bus.bvalid.eq(response is not None)
            yield bus.bresp.eq(response[1] if response else 0)
            take = bool(self.ready(now))
            yield cri.output.ready.eq(take)
            yield cri.input.ready.eq(pending_input is None)
            answer = answers.popleft() if answers and answers[0][0] <= now else None
            yield cri.response.done.eq(answer is not None)
            if answer:
                yield cri.response.status.eq(answer[1])
                yield cri.response.timestamp.eq(answer[2])
                yield cri.response.data.eq(answer[3])
            yield
            self.cycle += 1
            if answer and pending_input is not None:
                pending_input = None
            if (yield bus.arvalid):
                offset, length = (yield bus.araddr) - BASE, (yield bus.arlen) + 1
                assert 0 <= offset < REPLY and offset // 4096 == (offset + 8 * length - 1) // 4096
                self.reads.append((self.cycle, offset, length))
                start = max(self.cycle + self.latency, beats[-1][0] + 1 if beats else 0)
                bad = 2 * (count[0] in self.bad_reads)
                beats.extend((start + n, offset + 8 * n, n == length - 1, bad) for n in range(length))
                count[0] += 1
            if (yield bus.awvalid):
                addresses.append(((yield bus.awaddr) - BASE, (yield bus.awlen) + 1))
            if (yield bus.wvalid):
                burst.append((yield bus.wdata))
                if (yield bus.wlast):
                    offset, length = addresses.popleft()
                    assert length == len(burst)
                    self.writes.append((self.cycle, offset, length))
                    writes.append((self.cycle + 1 + self.visible, offset, struct.pack(f"<{length}Q", *burst)))
                    responses.append((self.cycle + self.response, 2 * (count[1] in self.bad_writes)))
                    count[1] += 1
                    burst = []
            if take and (yield cri.output.valid):
                output = cri.output
                event = (yield output.channel), (yield output.address), (yield output.timestamp), (yield output.data)
                self.outputs.append((self.cycle, *event))
                answers.append((self.cycle + 1, self.statuses.popleft() if self.statuses else 0, 0, 0))
            if pending_input is None and (yield cri.input.valid) and (yield cri.input.ready):
                pending_input = (yield cri.input.channel), (yield cri.input.timeout)
                self.inputs.append((self.cycle, *pending_input))
                answers.append((self.cycle + self.input_delay, 0, 1000 + self.cycle, pending_input[0]))
            while writes and writes[0][0] <= self.cycle + 1:
                _, offset, data = writes.popleft()
                self.memory[offset : offset + len(data)] = data
                self.visible_at.setdefault(self.answered(), self.cycle + 1)

    def run(self, cpu):
        """Runs the generator `cpu`, which begins when the initiator is enabled."""

        def late():
            for _ in range(5):
                yield
            yield from cpu

        run_simulation(self.dut, [self._world(), late()])
        return self


def number_of(words):
    return sum(word << 32 * n for n, word in enumerate(words))


@pytest.mark.parametrize("latency", [10, 20, 30])
def test_time_line_of_an_output(latency):
    """As in the module's docstring."""
    bench = Bench(latency=latency)
    start = []

    def cpu():
        start.append((yield from bench.submit(OUTPUT, 0x1234, 5000, [7])))
        assert (yield from bench.wait()) == 0

    bench.run(cpu())
    (start,) = start
    assert bench.reads == [(start + 2, SLOT_BYTES, 3)]
    assert bench.outputs == [(start + 4 + latency, 0x12, 0x34, 5000, 7)]
    assert bench.writes == [(start + 5 + latency, REPLY + 8, 1)]
    assert bench.visible_at[1] == start + 6 + latency + bench.visible


@pytest.mark.parametrize("cost", [0, 25])
def test_period_of_a_cpu_that_waits(cost):
    """L + W + C + 7: here W counts from the cycle after the write, and the CPU sees it in the cycle it becomes
    visible."""
    bench = Bench()
    starts = []

    def cpu():
        for _ in range(4):
            starts.append((yield from bench.submit(OUTPUT, 0x100, 5000, [7])))
            yield from bench.wait()
            for _ in range(cost + 1):
                yield

    bench.run(cpu())
    periods = {b - a for a, b in zip(starts, starts[1:], strict=False)}
    assert periods == {20 + 15 + cost + 7}


@pytest.mark.parametrize("latency, period", [(9, 3), (21, 3), (29, 4)])
def test_throughput_of_a_cpu_that_does_not_wait(latency, period):
    """Eight bursts in flight: the larger of 3 and (L + 3) / 8 cycles for each event."""
    bench = Bench(latency=latency, visible=2, response=2)

    def cpu():
        for n in range(40):
            while (n + 1 - bench.answered()) & 0x7FFF > 15:
                yield
            yield from bench.submit(POSTED, 0x100, 5000 + n, [n])
            yield
            yield
        yield from bench.wait()

    bench.run(cpu())
    assert [output[3] for output in bench.outputs] == [5000 + n for n in range(40)]
    cycles = [output[0] for output in bench.outputs]
    assert (cycles[35] - cycles[3]) / 32 == period


@pytest.mark.parametrize("words", range(1, 17))
def test_wide_outputs(words):
    """Exactly the words of the event, zeros above them whatever the slot holds; the burst fits from the second on."""
    bench = Bench()
    data = [0x0101_0101 * (n + 1) for n in range(words)]

    def cpu():
        for _ in range(3):
            yield from bench.submit(OUTPUT, 0x100, 5000, data)
            assert (yield from bench.wait()) == 0
        yield from bench.submit(OUTPUT, 0x100, 5000, [5])
        yield from bench.wait()

    bench.run(cpu())
    assert [output[4] for output in bench.outputs] == [number_of(data)] * 3 + [5]
    beats = max(3, 2 + (words + 1) // 2)
    lengths = [read[2] for read in bench.reads]
    assert lengths == ([3] if beats == 3 else [3, beats - 3]) + [beats, beats] + [beats]


def test_a_slot_with_another_number_is_read_again_with_the_next_toggle():
    bench = Bench()

    def cpu():
        bench.write_request(OUTPUT, 0x100, 1, [1], number=77)
        yield from bench.toggle()
        for _ in range(60):
            yield
        assert bench.outputs == [] and bench.answered() == 0 and (yield bench.dut.lost) == 1
        assert not (yield bench.dut.busy)
        bench.number = 0
        yield from bench.submit(OUTPUT, 0x100, 2, [2])
        assert (yield from bench.wait()) == 0
        yield bench.dut.clear.eq(1)
        yield
        yield
        assert (yield bench.dut.lost) == 0

    bench.run(cpu())
    assert [output[3] for output in bench.outputs] == [2]


def test_bus_error_of_a_read():
    """The request is answered "unreachable" and not executed; those before and behind are."""
    bench = Bench(bad_reads=[1])

    def cpu():
        for n in range(3):
            yield from bench.submit(OUTPUT, 0x100, n, [n])
            assert (yield from bench.wait()) == (OUTPUT_UNREACHABLE if n == 1 else 0)
        assert (yield bench.dut.error) == 1
        yield bench.dut.clear.eq(1)
        yield
        yield
        assert (yield bench.dut.error) == 0

    bench.run(cpu())
    assert [output[3] for output in bench.outputs] == [0, 2]


def test_bus_error_of_a_write_is_noted():
    bench = Bench(bad_writes=[0])

    def cpu():
        yield from bench.submit(OUTPUT, 0x100, 1, [1])
        yield from bench.wait()
        for _ in range(10):
            yield
        assert (yield bench.dut.error) == 2

    bench.run(cpu())


def test_statuses_are_coalesced():
    """No more than four writes under way: while responses take long, one status tells of several events."""
    bench = Bench(visible=40, response=40)

    def cpu():
        for n in range(15):
            yield from bench.submit(POSTED, 0x100, n, [n])
            for _ in range(5):
                yield
        yield from bench.wait(15)

    bench.run(cpu())
    cycles = [write[0] for write in bench.writes]
    assert len(bench.outputs) == 15 and 5 <= len(cycles) < 15
    assert all(b - a >= 40 for a, b in zip(cycles, cycles[4:], strict=False))


def test_failure_of_a_posted_output():
    """The first one is kept, with its number, and told with every status until it is cleared."""
    bench = Bench(statuses=[0, 2, 4, 0])

    def cpu():
        for n in range(3):
            yield from bench.submit(POSTED, 0x100, n, [n])
            for _ in range(6):
                yield
        yield from bench.submit(OUTPUT, 0x100, 3, [3])
        assert (yield from bench.wait()) == 0
        word, error = bench.status()
        assert word & (ATTENTION | ERROR) == ATTENTION | ERROR
        assert (error & 0xF, error >> 16) == (2, 2)
        yield bench.dut.clear.eq(1)
        yield
        yield bench.dut.clear.eq(0)
        yield from bench.submit(OUTPUT, 0x100, 4, [4])
        assert (yield from bench.wait()) == 0
        assert bench.status() == (5 + CREDIT << 1, 0)

    bench.run(cpu())


def test_attention_when_a_lane_is_nearly_full():
    bench = Bench(roomy=0)

    def cpu():
        yield from bench.submit(OUTPUT, 0x100, 1, [1])
        yield from bench.wait()
        assert bench.status()[0] == 1 + CREDIT << 1 | ATTENTION

    bench.run(cpu())


@pytest.mark.parametrize("roomy", [0, 1])
def test_a_permit_opens_the_status_word_for_its_cycles(roomy):
    """Also while a lane is nearly full; not after the initiator was disabled."""
    bench = Bench(roomy=roomy)
    closed = 0 if roomy else ATTENTION
    flags = POSTED_WORD | closed
    seen = []

    def start(cycles):
        yield bench.dut.permit.cycles.eq(cycles)
        yield bench.dut.permit.start.eq(1)
        yield
        yield bench.dut.permit.start.eq(0)

    def watch(cycles):
        for _ in range(cycles):
            seen.append(bench.status()[0])
            yield

    def cpu():
        yield from start(50)
        yield from watch(20)
        yield from bench.submit(POSTED, 0x100, 1, [1])
        yield from watch(80)
        yield from start(1000)
        yield from watch(30)
        yield bench.dut.enable.eq(0)
        yield
        yield
        assert not (yield bench.dut.permit.running)

    bench.run(cpu())
    changes = [word for word, before in zip(seen, [None, *seen], strict=False) if word != before]
    assert changes == [
        CREDIT << 1,
        CREDIT << 1 | flags,
        1 + CREDIT << 1 | flags,
        1 + CREDIT << 1 | closed,
        1 + CREDIT << 1 | flags,
    ]
    # From the start to the word that is closed again: the cycles and the way of the write.
    assert abs(seen.index(1 + CREDIT << 1 | closed) - seen.index(CREDIT << 1 | flags) - 50) <= 2


def test_disabling_forgets_requests():
    """Numbers begin with 1 again, even while a request waits for the core."""
    bench = Bench(ready=lambda cycle: cycle > 400)

    def cpu():
        yield from bench.submit(OUTPUT, 0x100, 1, [1])
        for _ in range(60):
            yield
        assert (yield bench.dut.busy)
        yield bench.dut.enable.eq(0)
        while (yield bench.dut.busy) or bench.cycle < 420:
            yield
        yield bench.dut.enable.eq(1)
        bench.number = 0
        yield from bench.submit(OUTPUT, 0x100, 2, [2])
        assert (yield from bench.wait()) == 0

    bench.run(cpu())
    assert [output[3] for output in bench.outputs] == [2]


_REQUEST = st.tuples(
    st.sampled_from([OUTPUT, POSTED, POSTED, POSTED, INPUT]),
    st.integers(0, 2**24 - 1),  # channel
    st.integers(-(2**63), 2**63 - 1),  # time
    st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=16),
    st.sampled_from([0, 0, 0, 0, 2, 4]),  # status
    st.integers(2, 12),  # cycles to the next request
)


def check(requests, latency, response, stutter):
    """Every request is executed once, in order, as it was written; who waits gets its own status; the first failure of
    a posted one is kept."""
    outputs = [request for request in requests if request[0] != INPUT]
    bench = Bench(latency=latency, visible=response, response=response, statuses=[request[4] for request in outputs],
                  ready=lambda cycle: cycle % stutter != 1)  # fmt: skip
    failed = []

    def cpu():
        for n, (command, channel, time, words, status, rest) in enumerate(requests):
            while (n + 1 - bench.answered()) & 0x7FFF > 15:
                yield
            yield from bench.submit(command, channel << 8 | 5, time, words)
            if command == POSTED:
                if status:
                    failed.append((status, n + 1))
            else:
                assert (yield from bench.wait()) == (0 if command == INPUT else status)
                if command == INPUT:
                    (stamp,) = struct.unpack_from("<q", bench.memory, REPLY)
                    assert stamp == 1000 + bench.inputs[-1][0] and bench.status()[1] == channel
                elif failed:
                    assert (bench.status()[1] & 0xF, bench.status()[1] >> 16) == failed[0]
            for _ in range(rest):
                yield
        yield from bench.wait()
        assert bool(bench.status()[0] & ERROR) == bool(failed)
        while (yield bench.dut.busy):
            yield
        assert (yield bench.dut.lost) == 0 and (yield bench.dut.error) == 0

    bench.run(cpu())
    assert [output[1:] for output in bench.outputs] == [
        (channel, 5, time % 2**64, number_of(words)) for _, channel, time, words, _, _ in outputs
    ]
    assert [request[1:] for request in bench.inputs] == [
        (channel, time % 2**64) for command, channel, time, *_ in requests if command == INPUT
    ]


_STREAM = (st.lists(_REQUEST, min_size=1, max_size=12), st.integers(3, 40), st.integers(2, 30), st.integers(2, 9))


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(*_STREAM)
def test_random_requests(requests, latency, response, stutter):
    check(requests, latency, response, stutter)


@pytest.mark.long
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(*_STREAM)
def test_many_random_requests(requests, latency, response, stutter):
    check(requests, latency, response, stutter)


@pytest.mark.parametrize("cycles", [1, 20, 47, 100])
def test_a_permit_that_begins_and_ends_among_posted_outputs(cycles):
    """Nothing is lost, the last word tells of everything, and then all is at rest."""
    bench = Bench(visible=7)

    def cpu():
        for n in range(30):
            while (n + 1 - bench.answered()) & 0x7FFF > 15:
                yield
            yield from bench.submit(POSTED, 0x100, 5000 + n, [n])
            if n in (3, 20):
                yield bench.dut.permit.cycles.eq(cycles)
                yield bench.dut.permit.start.eq(1)
            yield
            yield bench.dut.permit.start.eq(0)
            yield
            yield
        for _ in range(150):
            yield
        assert bench.status() == (30 + CREDIT << 1, 0)
        assert (yield bench.dut.settled) and not (yield bench.dut.busy)

    bench.run(cpu())
    assert [output[3] for output in bench.outputs] == [5000 + n for n in range(30)]
