"""The ring initiator alone, in Migen's simulator, between models of a memory and a core."""

import struct

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
)
from kairos_gateware.contracts.initiator import POSTED_ERROR as ERROR
from kairos_gateware.rtio.cri import OUTPUT_UNREACHABLE
from kairos_gateware.testbenches.initiator import INPUT, OUTPUT, POSTED, Bench


def number_of(words):
    return sum(word << 32 * n for n, word in enumerate(words))


@pytest.mark.parametrize("latency", [10, 20, 30])
def test_output_follows_the_documented_time_line(latency):
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
def test_awaited_outputs_have_the_documented_period(cost):
    """L + W + C + 7: here W counts from the cycle after the write, and the CPU sees it in the cycle
    in which it becomes visible."""
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
def test_posted_outputs_have_the_documented_throughput(latency, period):
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
def test_wide_output_has_exactly_its_words(words):
    """Exactly the words of the event, zeros above them whatever the slot holds; the burst fits from
    the second event on."""
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


def test_slot_with_wrong_number_is_read_again_at_next_toggle():
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


def test_read_bus_error_answers_unreachable_and_others_run():
    """The request is answered "unreachable" and not executed; earlier and later ones are."""
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


def test_write_bus_error_sets_the_error_register():
    bench = Bench(bad_writes=[0])

    def cpu():
        yield from bench.submit(OUTPUT, 0x100, 1, [1])
        yield from bench.wait()
        for _ in range(10):
            yield
        assert (yield bench.dut.error) == 2

    bench.run(cpu())


def test_slow_status_writes_are_coalesced():
    """At most four writes are in flight: while responses are slow, one status reports several
    events."""
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


def test_first_failed_posted_output_is_reported_until_cleared():
    """The first one is kept, with its number, and reported with every status until it is
    cleared."""
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


def test_nearly_full_lane_sets_attention_in_the_status_word():
    bench = Bench(roomy=0)

    def cpu():
        yield from bench.submit(OUTPUT, 0x100, 1, [1])
        yield from bench.wait()
        assert bench.status()[0] == 1 + CREDIT << 1 | ATTENTION

    bench.run(cpu())


@pytest.mark.parametrize("roomy", [0, 1])
def test_permit_shows_in_the_status_word_for_its_cycles(roomy):
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
    # From the start to the word without the permit: the cycles and the latency of the write.
    assert abs(seen.index(1 + CREDIT << 1 | closed) - seen.index(CREDIT << 1 | flags) - 50) <= 2


def test_disabling_drops_requests_and_restarts_numbers():
    """Numbers restart at 1, even while a request waits for the core."""
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
    """Checks that every request is executed once, in order, as written; that requests with wait get
    their own status; and that the first failure of a posted one is kept."""
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
def test_random_requests_are_executed_and_answered_in_order(requests, latency, response, stutter):
    check(requests, latency, response, stutter)


@pytest.mark.long
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(*_STREAM)
def test_many_random_requests_are_executed_and_answered_in_order(requests, latency, response, stutter):
    check(requests, latency, response, stutter)


@pytest.mark.parametrize("cycles", [1, 20, 47, 100])
def test_permit_changing_among_posted_outputs_loses_no_event(cycles):
    """Nothing is lost, the last word reports everything, and then all activity ends."""
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
