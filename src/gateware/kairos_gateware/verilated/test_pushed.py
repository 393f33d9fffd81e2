"""Pushed inputs in the verilated whole: latencies, full rings and FIFOs, gaps, resets, floods."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos_gateware.verilated.library import Ps

LATENCY = 20


def entry(channel, number):
    """Offset of an entry of an input ring."""
    return Ps.RINGS + 1024 * channel + 16 * (number % 64)


def test_input_event_is_pushed_six_cycles_after_the_pad(boot):
    """Two beats, the first 6 cycles after the pad was sampled. The CPU then has the event without a
    request."""
    ps = boot()
    coarse = ps.out.sim_tsc + 100
    assert ps.output(0, 8 * coarse, 0, address=3) == 0  # a sample
    ps.advance(coarse)
    ps.bursts.clear()
    start = ps.cycle
    for _ in range(8 + ps.visible):
        assert ps.poll_input(0) is None
        ps.step()
    assert ps.bursts == [(start + 7, "w", entry(0, 1), 2)]  # recorded at the last beat
    assert ps.poll_input(0) == (0, 8 * coarse, 0)
    assert ps.poll_input(0) is None and len(ps.bursts) == 1
    ps.close()


def test_answer_to_a_waiting_request_follows_its_event(boot):
    """The answer's two beats follow 2 cycles after those of the event; nothing precedes it."""
    ps = boot(read_latency=LATENCY)
    coarse = ps.out.sim_tsc + 200
    assert ps.output(0, 8 * coarse, 0, address=3) == 0
    ps.bursts.clear()
    start = ps.cycle
    first = ps.out.sim_tsc + 1
    assert ps.input(0, -1) == (0, 8 * coarse, 0)
    event = start + coarse - first
    assert ps.bursts == [
        (start + 2, "r", 256, 3),
        (event + 7, "w", entry(0, 1), 2),
        (event + 10, "w", 2048, 2),
    ]
    assert ps.cycle == event + 11 + ps.visible
    ps.close()


def test_timeout_answer_reports_progress_for_all_channels(boot):
    """A timeout is answered when an event of that time would have been written. The answer holds
    for all channels, so that the same request for another one is unnecessary."""
    ps = boot(read_latency=LATENCY)
    assert ps.input(1, 0) == (1, -1, 0)
    for _ in range(10):
        ps.step()
    ps.bursts.clear()
    coarse = ps.out.sim_tsc + 200
    start, first = ps.cycle, ps.out.sim_tsc + 1
    assert ps.input(0, 8 * coarse) == (1, -1, 0)
    assert ps.bursts == [(start + 2, "r", 256, 3), (start + coarse - first + 6, "w", 2048, 2)]
    assert ps.progress() == 8 * coarse + 7
    assert ps.input(1, 8 * coarse + 7) == (1, -1, 0) and len(ps.bursts) == 2
    assert ps.input(1, 8 * coarse + 8) == (1, -1, 0) and len(ps.bursts) == 4
    ps.close()


def test_input_request_is_answered_six_cycles_after_read_latency(boot):
    """Its two beats begin L + 6 cycles after the toggle if the timeout has passed."""
    ps = boot(read_latency=LATENCY)
    start = ps.cycle
    assert ps.input(0, 8) == (1, -1, 0)
    assert ps.bursts == [(start + 2, "r", 128, 3), (start + LATENCY + 7, "w", 2048, 2)]
    ps.close()


@pytest.mark.parametrize("skip", [False, True])
def test_full_ring_and_fifo_are_followed_by_a_gap(boot, skip):
    """No one reads: 64 entries are pushed, 65 stay in the FIFO, then the gap, in its place."""
    ps = boot(skip=skip)
    start = ps.out.sim_tsc + 200
    assert ps.output(1, 8 * start, 3, address=2) == 0
    ps.schedule = [(start + 10 + 3 * n, 1, 255 * ((n + 1) & 1)) for n in range(140)]
    ps.advance(start + 600)
    ps.schedule = [(start + 1000, 1, 255)]
    assert sum(burst[2] >= Ps.RINGS for burst in ps.bursts) == 64
    stamps = [ps.input(1, 0)[1] for _ in range(129)]
    assert stamps == [8 * (start + 10 + 3 * n) for n in range(129)]
    assert ps.input(1, 0) == (2, -1, 0)
    assert ps.input(1, 0) == (1, -1, 0)
    ps.advance(start + 1100)
    assert ps.input(1, 0) == (0, 8 * (start + 1000), 1)
    assert ps.input(1, 8 * (start + 1010)) == (1, -1, 0)
    ps.close()


def test_gap_is_pushed_between_its_neighbours(boot):
    """Events are lost, the CPU makes room, others follow: the gap is reported in its place."""
    ps = boot()
    start = ps.out.sim_tsc + 200
    assert ps.output(1, 8 * start, 3, address=2) == 0
    ps.schedule = [(start + 10 + 3 * n, 1, 255 * ((n + 1) & 1)) for n in range(131)]
    ps.advance(start + 500)
    seen = [ps.input(1, 0) for _ in range(64)]
    ps.schedule = [(ps.out.sim_tsc + 300, 1, 0), (ps.out.sim_tsc + 310, 1, 255)]
    later = [entry[0] for entry in ps.schedule]
    ps.advance(later[-1] + 50)
    while (result := ps.input(1, 8 * later[-1]))[0] != 1:
        seen.append(result)
    expected = [(0, 8 * (start + 10 + 3 * n), (n + 1) & 1) for n in range(129)]
    assert seen == [*expected, (2, -1, 0), (0, 8 * later[0], 0), (0, 8 * later[1], 1)]
    ps.close()


@pytest.mark.long
def test_entry_numbers_wrap_without_losing_events(boot):
    """70,000 events of one channel: all present, in order."""
    ps = boot()
    start = ps.out.sim_tsc + 200
    assert ps.output(1, 8 * start, 3, address=2) == 0
    for _ in range(70_000 // 50):
        time = max(ps.out.sim_tsc + 1, start + 10)
        ps.schedule = [(time + 4 * i, 1, 255 * ((i + 1) & 1)) for i in range(50)]
        assert [ps.input(1, -1)[1] for _ in range(50)] == [8 * (time + 4 * i) for i in range(50)]
    assert ps.consumed[1] == 70_000 % 65536
    ps.close()


def test_reset_empties_rings_and_restarts_numbers(boot, registers):
    """Entry numbers restart at 1, and FIFOs and rings are cleared, also those of the other
    channels."""
    ps = boot(skip=True)
    start = ps.out.sim_tsc + 200
    for channel in [0, 3]:
        assert ps.output(channel, 8 * start, 3, address=2) == 0
        ps.schedule += [(start + 10 + 4 * n, channel, 255 * ((n + 1) & 1)) for n in range(100)]
    ps.schedule.sort()
    ps.advance(start + 1000)
    ps.write(registers["initiator_enable"], 0)
    ps.write(registers["rtio_reset"], 1)
    while ps.read(registers["initiator_busy"]):
        pass
    ps.use_input_rings(registers["initiator_input_ring"])
    ps.sequence = 0
    ps.memory[2056:2060] = bytes(4)
    ps.write(registers["initiator_enable"], 1)
    ps.schedule = [(ps.out.sim_tsc + 100, 3, 255)]
    coarse = ps.schedule[0][0]
    assert ps.input(0, 8 * (coarse + 50)) == (1, -1, 0)
    assert ps.input(3, 8 * (coarse + 50)) == (0, 8 * coarse, 1)
    assert ps.consumed[3] == 1
    assert ps.input(3, 8 * (coarse + 50)) == (1, -1, 0)
    ps.close()


def test_events_outlive_a_restart_of_the_initiator(boot, registers):
    """While it is disabled nothing is pushed; the numbers of the entries continue."""
    ps = boot()
    start = ps.out.sim_tsc + 200
    assert ps.output(0, 8 * start, 3, address=2) == 0
    ps.schedule = [(start + 10, 0, 255), (start + 300, 0, 0)]
    ps.advance(start + 200)
    ps.write(registers["initiator_enable"], 0)
    ps.advance(start + 400)
    assert not ps.read(registers["initiator_busy"])
    assert sum(burst[2] >= Ps.RINGS for burst in ps.bursts) == 1
    ps.sequence = 0
    ps.memory[2056:2060] = bytes(4)
    ps.write(registers["initiator_enable"], 1)
    assert ps.input(0, 0) == (0, 8 * (start + 10), 1)
    assert ps.input(0, 8 * (start + 300)) == (0, 8 * (start + 300), 0)
    assert ps.input(0, 8 * (start + 400)) == (1, -1, 0)
    ps.close()


_FLOODS = st.lists(
    st.tuples(
        st.integers(0, 3),  # channel
        st.integers(0, 200),  # edges
        st.integers(1, 9),  # their distance
        st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 400), st.integers(1, 90)), max_size=4),  # reads
    ),
    min_size=1,
    max_size=6,
)


def play_floods(ps, floods):
    """Edges on all four inputs, far more than rings and FIFOs hold, and occasional reads; returns
    all results, and the edges of each channel."""
    start = ps.out.sim_tsc + 300
    for channel in range(4):
        assert ps.output(channel, 8 * start, 3, address=2) == 0
    seen, edges = [], {channel: [] for channel in range(4)}
    time = start + 10
    for channel, count, distance, reads in floods:
        for n in range(count):
            edges[channel].append(time + distance * n)
            ps.schedule.append((time + distance * n, channel, 255 * (len(edges[channel]) & 1)))
        time += distance * count + 1
        ps.advance(time)
        for at, timeout, number in reads:
            for _ in range(number):
                seen.append((at, ps.input(at, 8 * (ps.out.sim_tsc + timeout)), ps.out.sim_tsc))
                time = max(time, ps.out.sim_tsc + 2)
    for channel in range(4):
        while (result := ps.input(channel, 8 * time))[0] != 1:
            seen.append((channel, result, ps.out.sim_tsc))
    return seen, edges


def check_floods(boot, floods):
    """The same with and without skipping; every event in order, and a gap exactly where some are
    missing."""
    plain, skipping = boot(), boot(skip=True)
    seen, edges = play_floods(plain, floods)
    assert play_floods(skipping, floods) == (seen, edges)
    for channel in range(4):
        left = list(edges[channel])
        results = [result for at, result, _ in seen if at == channel and result[0] != 1]
        for n, (status, timestamp, _) in enumerate(results):
            if status == 0:
                assert timestamp == 8 * left.pop(0)
            else:
                following = [result[1] // 8 for result in results[n + 1 :][:1]]
                missing = left.index(following[0]) if following else len(left)
                assert status == 2 and missing > 0
                del left[:missing]
        assert left == []
    plain.close()
    skipping.close()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(_FLOODS)
def test_random_floods_of_inputs_arrive_in_order(boot, floods):
    check_floods(boot, floods)


@pytest.mark.long
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(_FLOODS)
def test_many_random_floods_of_inputs_arrive_in_order(boot, floods):
    check_floods(boot, floods)
