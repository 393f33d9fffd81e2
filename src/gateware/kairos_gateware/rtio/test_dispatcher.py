"""Dispatcher and lanes, in Migen's simulator."""

from migen import *

from kairos_gateware.rtio.dispatcher import Dispatcher, event_layout
from kairos_gateware.rtio.lanes import Lane
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.rtio.timing import MIN_SLACK, OUTPUT_LATENCY, TimeBase
from kairos_gateware.testbenches.rtio import submit
from kairos_gateware.testbenches.simulator import run_simulation


class Bench(Module):
    def __init__(self, lanes=4, depth=8):
        self.submodules.timebase = timebase = TimeBase(loadable=True)
        channels = [Channel(n, output=OutputLink(8, 2)) for n in range(4)] + [Channel(4, discard=True)]
        layout = event_layout(channel_width=4, address_width=2, data_width=8, lanes=lanes)
        self.submodules.dispatcher = Dispatcher(timebase, channels, layout, lanes, 8)
        self.lanes = [Lane(layout, depth, timebase.shifted(OUTPUT_LATENCY)) for _ in range(lanes)]
        self.submodules += self.lanes
        for i, lane in enumerate(self.lanes):
            self.comb += [
                self.dispatcher.lane_free[i].eq(lane.free),
                lane.we.eq(self.dispatcher.lane_we[i]),
                lane.write.raw_bits().eq(self.dispatcher.event.raw_bits()),
            ]


def collect(dut, log, cycles):
    """Logs (coarse counter of the gate's decision, lane, channel, data, late)."""
    for _ in range(cycles):
        now = yield dut.timebase.coarse
        for i, lane in enumerate(dut.lanes):
            if (yield lane.valid):
                fields = [(yield lane.event.channel), (yield lane.event.data), (yield lane.late)]
                log.append((now - 1, i, *fields))
        yield


def statuses(dut, log, cycles):
    for _ in range(cycles):
        if (yield dut.dispatcher.done):
            log.append((yield dut.dispatcher.status))
        yield


def sequence_errors(dut, log, cycles):
    for _ in range(cycles):
        if (yield dut.dispatcher.sequence_error):
            log.append((yield dut.dispatcher.sequence_error_channel))
        yield


def run(events, cycles=120, **options):
    dut = Bench(**options)
    accepted, out, status, errors = [], [], [], []
    run_simulation(
        dut,
        [
            submit(dut.dispatcher.request, events, dut.timebase.coarse, accepted),
            collect(dut, out, cycles),
            statuses(dut, status, cycles),
            sequence_errors(dut, errors, cycles),
        ],
    )
    return accepted, out, status, errors


def test_events_in_every_cycle_are_accepted_and_on_time():
    events = [(60 + n, n % 4, n) for n in range(6)]
    accepted, out, status, errors = run(events)
    assert [b - a for a, b in zip(accepted, accepted[1:], strict=False)] == [1] * 5
    assert out == [(60 + n - OUTPUT_LATENCY, 0, n % 4, n, 0) for n in range(6)]
    assert status == [0] * 6 and errors == []


def test_event_at_least_slack_is_accepted_and_on_time():
    """In cycle 0 the counter is 0: an event MIN_SLACK later is the first that is accepted, and it
    is not late."""
    for slack, expected in [(MIN_SLACK - 1, 2), (MIN_SLACK, 0)]:
        _, out, status, _ = run([(1 + slack, 1, 7)], cycles=40)
        assert status == [expected]
        assert out == ([] if expected else [(1 + slack - OUTPUT_LATENCY, 0, 1, 7, 0)])


def test_negative_time_is_an_underflow():
    _, out, status, _ = run([((1 << 61) - 1, 1, 7)], cycles=40)
    assert (out, status) == ([], [2])


def test_unknown_channel_is_unreachable_and_discarding_one_accepts():
    _, out, status, errors = run([(50, 9, 1), (50, 4, 1), (50, 1 << 16, 1), (0, 4, 1)], cycles=80)
    assert (out, status, errors) == ([], [4, 0, 4, 0], [])


def test_decreasing_times_spread_over_lanes_then_fail():
    events = [(90 - 2 * n, n % 4, n) for n in range(6)]
    _, out, status, errors = run(events)
    assert [(o[0] + OUTPUT_LATENCY, o[1], o[3]) for o in out] == [(84, 3, 3), (86, 2, 2), (88, 1, 1), (90, 0, 0)]
    assert status == [0] * 6
    assert errors == [0, 1]


def test_event_finds_any_lane_that_fits():
    """The last times of the lanes are 60 (the current one), 95, 45, 70 when 55 arrives: the next
    lane does not fit, the one after it does. The reference, which tries only the next lane, loses
    this event."""
    times = [50, 40, 95, 45, 44, 70, 60, 55]
    _, out, _, errors = run([(time, 0, n) for n, time in enumerate(times)])
    assert errors == []
    assert sorted((o[0] + OUTPUT_LATENCY, o[3]) for o in out) == sorted((time, n) for n, time in enumerate(times))
    assert [o[1] for o in out if o[3] == 7] == [2]


def test_events_of_one_time_keep_submission_order():
    """Regardless of the events between them: the third event of time 90 is submitted after 40
    others."""
    dut = Bench(lanes=4, depth=64)
    events = [(90, 0, 0), (90, 0, 1), *[(45 + n, 1, 2) for n in range(40)], (90, 0, 3)]
    found = {}

    def watch():
        for _ in range(120):
            for i, lane in enumerate(dut.lanes):
                if (yield lane.valid) and (yield lane.event.coarse) == 90:
                    found[(yield lane.event.data)] = i, (yield lane.event.younger)
            yield

    run_simulation(dut, [submit(dut.dispatcher.request, events, dut.timebase.coarse, []), watch()])
    for older, younger in [(0, 1), (0, 3), (1, 3)]:
        lane_of_older, mask_of_older = found[older]
        lane_of_younger, mask_of_younger = found[younger]
        assert mask_of_older >> lane_of_younger & 1 == 1
        assert mask_of_younger >> lane_of_older & 1 == 0


def test_full_lane_is_passed_until_all_are_full():
    """Increasing times go to the next lane when one is full; when all are full, the request waits
    until an event has left."""
    events = [(100 + n, 0, n) for n in range(20)]
    accepted, out, _, errors = run(events, cycles=160, lanes=2, depth=8)
    assert [(o[0] + OUTPUT_LATENCY, o[3]) for o in out] == [(100 + n, n) for n in range(20)]
    assert {o[1] for o in out} == {0, 1}
    assert errors == []
    gaps = [b - a for a, b in zip(accepted, accepted[1:], strict=False)]
    assert sum(gap > 1 for gap in gaps) >= 1 and max(gaps) > 60


def test_late_event_is_executed_and_reported():
    """The counter is moved past a waiting event, which must never happen; the lane is not blocked
    even then."""
    dut = Bench()
    accepted, out = [], []

    def jump():
        for _ in range(20):
            yield
        yield dut.timebase.load_value.eq(80)
        yield dut.timebase.load.eq(1)
        yield
        yield dut.timebase.load.eq(0)

    run_simulation(
        dut,
        [
            submit(dut.dispatcher.request, [(60, 1, 5), (90, 2, 6)], dut.timebase.coarse, accepted),
            collect(dut, out, 60),
            jump(),
        ],
    )
    assert [(o[2], o[3], o[4]) for o in out] == [(1, 5, 1), (2, 6, 0)]
