"""Reordering dispatch (admission, wheel, pool) in Migen's simulator: latencies, order, reset,
lateness."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.rtio.dispatcher import event_layout
from kairos_gateware.rtio.link import Channel, OutputLink
from kairos_gateware.rtio.pool import reach_for
from kairos_gateware.rtio.reorder import ReorderingDispatcher
from kairos_gateware.rtio.timing import MIN_SLACK, OUTPUT_LATENCY, TimeBase
from kairos_gateware.rtio.wheel import MARGIN
from kairos_gateware.testbenches.rtio import submit
from kairos_gateware.testbenches.simulator import run_simulation

LANES, CAPACITY = 4, 8
DATA_BITS = 96  # wider than a time
REACH = reach_for(CAPACITY)


class Bench(Module):
    def __init__(self):
        self.submodules.timebase = timebase = TimeBase(loadable=True)
        channels = [Channel(n, output=OutputLink(DATA_BITS, 2)) for n in range(4)] + [Channel(4, discard=True)]
        layout = event_layout(channel_width=4, address_width=2, data_width=DATA_BITS, lanes=LANES)
        self.submodules.dispatcher = ReorderingDispatcher(
            timebase, channels, layout, LANES, CAPACITY, DATA_BITS, simulation=True
        )


def play(events, cycles, reset_at=None, jump=None):
    """events: (coarse, channel, data), offered back to back. jump: (counter, value to which it is
    then set). Returns the counter at acceptance and the status of each; events at the gates as
    (counter of the decision, channel, data), those of one cycle in the order of `younger`; error
    pulses as (name, channel)."""
    dut = Bench()
    dispatcher = dut.dispatcher
    accepted, statuses, out, errors = [], [], [], []

    def watch():
        for _ in range(cycles):
            now = yield dut.timebase.coarse
            yield dispatcher.reset.eq(now + 1 == reset_at)
            yield dut.timebase.load.eq(jump is not None and now + 1 == jump[0])
            yield dut.timebase.load_value.eq(jump[1] if jump else 0)
            if (yield dispatcher.done):
                statuses.append((yield dispatcher.status))
            present = []
            for n, lane in enumerate(dispatcher.lanes):
                if (yield lane.valid):
                    fields = (yield lane.event.channel), (yield lane.event.data), (yield lane.event.younger)
                    present.append((n, *fields))
            mask = sum(1 << n for n, *_ in present)
            for _, channel, data, _ in sorted(present, key=lambda e: -(e[3] & mask).bit_count()):
                out.append((now - 1, channel, data))
            for name in ["sequence_error", "late"]:
                if (yield getattr(dispatcher, name)):
                    errors.append((name, (yield getattr(dispatcher, f"{name}_channel"))))
            yield

    run_simulation(dut, [submit(dispatcher.request, events, dut.timebase.coarse, accepted), watch()])
    return accepted, statuses, out, errors


def at_gates(events):
    """The expected output if all events are executed."""
    return [(coarse - OUTPUT_LATENCY, channel, data) for coarse, channel, data in sorted(events, key=lambda e: e[0])]


def test_events_in_any_order_are_accepted_every_cycle():
    events = [(70 - 2 * n, n % 4, n) for n in range(20)]
    accepted, statuses, out, errors = play(events, 80)
    assert [b - a for a, b in zip(accepted, accepted[1:], strict=False)] == [1] * 19
    assert (statuses, out, errors) == ([0] * 20, at_gates(events), [])


def test_event_at_least_slack_is_accepted_and_on_time():
    for slack, expected in [(MIN_SLACK - 1, 2), (MIN_SLACK, 0)]:
        accepted, statuses, out, _ = play([(1 + slack, 1, 7)], 30)
        assert accepted == [1] and statuses == [expected]
        assert out == ([] if expected else at_gates([(1 + slack, 1, 7)]))


def test_invalid_commands_are_refused_with_their_status():
    _, statuses, out, errors = play([(50, 9, 1), (50, 4, 1), (50, 1 << 16, 1), (0, 4, 1), ((1 << 61) - 1, 1, 7)], 80)
    assert (statuses, out, errors) == ([4, 0, 4, 0, 2], [], [])


def test_wheel_slot_is_reused_one_turn_later():
    """Events of the same slot, a turn apart; the second is accepted as soon as it is within
    reach."""
    events = [(40 + n * REACH, 1, n) for n in range(4)]
    _, _, out, errors = play(events, 50 + 3 * REACH)
    assert (out, errors) == (at_gates(events), [])


def test_wide_words_arrive_complete():
    """Immediately, and after a wait in the pool."""
    word = int("1234567890abcdef" * 2, 16) % (1 << DATA_BITS) | 1 << DATA_BITS - 1
    events = [(60, 1, word), (60 + 3 * REACH, 2, word ^ 1)]
    _, _, out, errors = play(events, 70 + 3 * REACH)
    assert (out, errors) == (at_gates(events), [])


def test_excess_events_of_one_cycle_are_dropped_and_reported():
    events = [(60, n % 4, n) for n in range(LANES + 2)]
    _, statuses, out, errors = play([*events, (61, 3, 9)], 80)
    assert statuses == [0] * (LANES + 3)
    assert out == at_gates([*events[:LANES], (61, 3, 9)])
    assert errors == [("sequence_error", 0), ("sequence_error", 1)]


@pytest.mark.parametrize("at", [1, 2, 6, 11, 13, 30])
def test_reset_drops_all_pending_events(at):
    """No event in the wheel, in the pool or on the way to them is executed. Events submitted
    afterwards wait until the wheel has been emptied, and are then too late, or are executed."""
    events = [(100 + n, 2, n) for n in range(10)] + [(400 + n, 1, n) for n in range(6)] + [(420, 3, 0)]
    accepted, statuses, out, errors = play(events, 440, reset_at=at)
    late = [event[0] < when + MIN_SLACK for event, when in zip(events, accepted, strict=True)]
    assert statuses == [2 * status for status in late]
    behind = [(e, when) for e, when, status in zip(events, accepted, late, strict=True) if when > at and not status]
    assert out == at_gates([event for event, _ in behind])
    assert at < 3 or all(when > at + REACH for _, when in behind)
    assert errors == []


def test_reset_of_an_empty_wheel_takes_no_time():
    """A reset takes no time when there is nothing in the wheel, whatever is in the pool."""
    accepted, _, out, _ = play(
        [(30, 1, 1), *[(900, 2, 2)] * 7, *[(1000 + n, 1, n) for n in range(4)]], 1100, reset_at=40
    )
    assert accepted[:8] == list(range(1, 9))
    assert accepted[8:] == [9, 41, 42, 43]  # the pool was full
    assert out == at_gates([(30, 1, 1), (1001, 1, 1), (1002, 1, 2), (1003, 1, 3)])


def test_late_event_is_dropped_and_reported():
    """The counter is set past an event in the pool, which must never happen. It is not executed at
    a wrong time."""
    _, _, out, errors = play([(500, 3, 1), (700, 1, 2)], 400, jump=(50, 600))
    assert errors == [("late", 3)]
    assert out == at_gates([(700, 1, 2)])


_EVENT = st.tuples(
    st.one_of(st.integers(60, 90), st.integers(60, 300), st.integers(40 + REACH, 60 + REACH)),
    st.integers(0, 3),
    st.integers(0, 255),
)


@settings(max_examples=12, deadline=None)
@given(st.lists(_EVENT, max_size=30))
def test_random_events_are_executed_in_order_of_submission(events):
    """At each gate time the first LANES events, in the order of their submission."""
    accepted, statuses, out, errors = play(events, 420 + MARGIN)
    expected, lost, count = [], 0, {}
    for event, when in zip(events, accepted, strict=True):
        if event[0] < when + MIN_SLACK:
            continue
        count[event[0]] = count.get(event[0], 0) + 1
        if count[event[0]] > LANES:
            lost += 1
        else:
            expected.append(event)
    assert out == at_gates(expected)
    assert len(errors) == lost
    assert statuses == [2 * (e[0] < when + MIN_SLACK) for e, when in zip(events, accepted, strict=True)]
