"""Random event streams through the RTIO core alone, with lanes and with reordering, against the
model of RTIO semantics, with and without time skip."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kairos_gateware.rtio.pool import reach_for
from kairos_gateware.testbenches.rtio_core import Command, build_core
from kairos_gateware.verilated.model import Model

INOUTS, OUTPUTS = 4, 8
LOG = INOUTS + OUTPUTS
KINDS = ["ttl_inout"] * INOUTS + ["ttl_out"] * OUTPUTS + ["log"]
ROOT = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build")) / "gateware"
SMALL = 16
UNTIL = 10_000


@pytest.fixture(scope="module", params=[0, SMALL, 1024], ids=["lanes", "reordering-16", "reordering-1024"])
def core(request):
    """(the core, events it reorders)."""
    return build_core(ROOT / f"core_{request.param}", OUTPUTS, INOUTS, request.param), request.param


@pytest.fixture(scope="module")
def reordering():
    return build_core(ROOT / "core_1024", OUTPUTS, INOUTS, 1024)


def output(channel, time, data, pause=0, address=0, relative=0):
    return Command(time, pause, channel, data, address, Command.OUTPUT, relative)


def edges_of(pad_changes, pad):
    return [(coarse, samples & 1) for coarse, number, samples, _ in pad_changes if number == pad]


# Behaviour that reordering adds


@pytest.mark.parametrize("ahead", [1200, 100_000])
@pytest.mark.parametrize("order", ["falling", "shuffled"])
def test_pending_1024_events_in_any_order_are_on_time(reordering, order, ahead):
    """All pending at once, within and beyond the wheel's reach: every event is executed at its
    time."""
    times = {"falling": range(1023, -1, -1), "shuffled": [n * 389 % 1024 for n in range(1024)]}[order]
    commands = [output(INOUTS, 8 * (ahead + 3 * n), n & 1) for n in times]
    for skip in [False, True]:
        played = reordering.play(commands, until=ahead + 4000, skip=skip)
        assert edges_of(played.changes, INOUTS) == [(ahead + 3 * n, n & 1) for n in range(1, 1024)]
        assert played.errors == (0,)
        accepted = [answer[0] for answer in played.answers]
        assert accepted == list(range(accepted[0], accepted[0] + 1024))  # one event per cycle


def test_dense_1024_events_in_reverse_order_are_on_time(reordering):
    """As dense as possible, eight channels in each cycle, and submitted from the last to the first,
    beyond reach."""
    ahead = 20_000
    commands = [output(INOUTS + c, 8 * (ahead + n), n & 1) for n in range(127, -1, -1) for c in range(8)]
    played = reordering.play(commands, until=ahead + 200, skip=True)
    assert played.errors == (0,)
    for channel in range(INOUTS, INOUTS + 8):
        assert edges_of(played.changes, channel) == [(ahead + n, n & 1) for n in range(1, 128)]


def test_dense_pool_and_direct_events_are_both_on_time(reordering):
    """1024 events of 128 cycles leave the pool while a command for the wheel is offered in each
    cycle: all are on time, and a command waits at most three cycles."""
    ahead = 8000
    pool = [output(INOUTS + c, 8 * (ahead + n), n & 1) for n in range(127, -1, -1) for c in range(7)]
    pool += [output(INOUTS, 8 * (ahead + 1000 + n), n & 1) for n in range(128)]
    near = [output(LOG - 1, 8 * 100, n & 1, relative=1) for n in range(6000)]
    played = reordering.play([*pool, *near], until=ahead + 1400)
    assert played.errors[0] == 0
    assert {answer[5] for answer in played.answers} == {0}
    accepted = [answer[0] for answer in played.answers[1024:]]
    gaps = [b - a for a, b in zip(accepted, accepted[1:], strict=False)]
    assert min(gaps) == 1 and max(gaps) == 4
    for channel in range(INOUTS + 1, INOUTS + 7):
        assert edges_of(played.changes, channel) == [(ahead + n, n & 1) for n in range(1, 128)]


def test_full_pool_waits_until_an_event_leaves_or_is_near(reordering):
    """A command beyond reach waits for room. The next one then has its own status."""
    reach = reach_for(1024)
    far = [output(INOUTS, 8 * (50_000 + 10 * n), n & 1) for n in range(1024)]
    commands = [*far, output(INOUTS + 1, 8 * 30_000, 1), output(INOUTS + 2, 8 * 20_000, 1)]
    for skip in [False, True]:
        played = reordering.play(commands, until=70_000, skip=skip)
        *_, waited, late = played.answers
        assert (waited[0], waited[5]) == (30_000 - reach + 9, 0)
        assert late[5] == 2
        assert edges_of(played.changes, INOUTS + 1) == [(30_000, 1)]
        assert edges_of(played.changes, INOUTS) == [(50_000 + 10 * n, n & 1) for n in range(1, 1024)]


def test_last_submitted_event_wins_in_pool_and_wheel(reordering):
    """Events of one channel and time: some from the pool, some submitted when their time was near."""
    time = 20_000
    pooled = [output(INOUTS + 1, 8 * time, n & 1) for n in range(3)]
    for last in [0, 1]:
        near = [output(INOUTS + 1, 8 * time, n) for n in ([0, 1] if last else [0, 1, 0])]
        near[0].pause = 15_900
        played = reordering.play([*pooled, *near], until=time + 20)
        assert [answer[5] for answer in played.answers] == [0] * len(played.answers)
        assert edges_of(played.changes, INOUTS + 1) == ([(time, 1)] if last else [])
        assert played.errors == (0,)


def test_ninth_event_of_a_cycle_is_reported(core):
    core, _ = core
    commands = [output(INOUTS + n % 8, 8 * 3000, 1) for n in range(9)]
    played = core.play(commands, until=3100)
    assert played.errors == (4, INOUTS)
    assert [change[:2] for change in played.changes] == [(3000, INOUTS + n) for n in range(8)]


# Random streams

_NEAR = st.integers(-10, 60)
_TIME = st.one_of(  # machine units from now
    _NEAR.map(lambda n: 8 * n),
    st.integers(0, 3000),
    st.integers(8 * 4080, 8 * 4100),
    st.integers(8 * 110, 8 * 130),
    st.integers(0, 60_000),
)
_CHANNEL = st.sampled_from([0, 0, 1, 3, 4, 4, 5, 11, LOG, 13])


@st.composite
def _burst(draw):
    """Events offered back to back, in some order of time, in a window of some length and some time
    ahead."""
    count, span, ahead = draw(st.integers(2, 30)), draw(st.sampled_from([1, 4, 30, 400])), draw(_TIME)
    order = draw(st.sampled_from(["rising", "falling", "random"]))
    times = [draw(st.integers(0, span)) for _ in range(count)]
    if order != "random":
        times.sort(reverse=order == "falling")
    first = draw(st.integers(0, 11))
    return [("output", 0, (first + n) % 12, 0, (ahead + 8 * time) & ~7, n & 1, True) for n, time in enumerate(times)]


_ACTION = st.one_of(
    # pause, channel, address, time, data, relative
    st.tuples(
        st.just("output"),
        st.sampled_from([0, 0, 0, 1, 2, 3, 10, 100, 3000]),
        _CHANNEL,
        st.integers(0, 3),
        _TIME,
        st.integers(0, 3),
        st.just(True),
    ).map(lambda action: [action]),
    # times shared by several commands, whenever they are submitted
    st.tuples(
        st.just("output"),
        st.sampled_from([0, 0, 1, 2, 900, 4000]),
        st.sampled_from([0, 4, 4, 5]),
        st.integers(0, 1),
        st.tuples(st.sampled_from([1000, 6000, 9000]), st.integers(0, 2)).map(lambda t: 8 * sum(t)),
        st.integers(0, 1),
        st.just(False),
    ).map(lambda action: [action]),
    _burst(),
    st.tuples(st.just("read"), st.integers(0, 50), st.sampled_from([0, 0, 1, 3, 4]), st.integers(-100, 3000)).map(
        lambda action: [action]
    ),
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(10, 3000)).map(
        lambda gate: [
            ("output", 0, gate[0], 2 + (gate[2] & 1), 160, gate[1], True),
            ("output", 0, gate[0], 2, 160 + 8 * (gate[2] // 10), 0, True),
        ]
    ),
)
_STREAM = st.lists(_ACTION, min_size=1, max_size=20).map(lambda actions: sum(actions, []))
_EDGES = st.lists(st.tuples(st.integers(10, 6000), st.integers(0, INOUTS - 1)), max_size=12, unique=True)


def check(core, events, stream, toggles):
    commands, levels, edges = [], {pad: [] for pad in range(INOUTS)}, []
    for kind, pause, channel, *rest in stream:
        if kind == "output":
            address, time, data, relative = rest
            address = address if channel < INOUTS else 0
            commands.append(output(channel, time, data, pause, address, relative))
        else:
            commands.append(Command(rest[0], pause, channel, 0, 0, Command.INPUT, 1))
    for coarse, pad in sorted(toggles):
        level = 1 - (levels[pad][-1][1] if levels[pad] else 0)
        levels[pad].append((coarse, level))
        edges.append((coarse, pad, level))
    # Copies of the counter that lag begin below zero, and a negative timeout would be none at all
    commands[0].pause += 100
    played = core.play(commands, edges, until=UNTIL)
    skipping = core.play(commands, edges, until=UNTIL, skip=True)
    for name in ["answers", "changes", "errors", "end"]:
        assert getattr(skipping, name) == getattr(played, name)

    model = Model(KINDS, reordering=bool(events))
    reads = []
    for command, (accepted, answered, time, timestamp, data, status) in zip(commands, played.answers, strict=True):
        if command.kind == Command.OUTPUT:
            assert answered == accepted + 1
            assert model.output(accepted, command.channel, command.address, time, command.data) == status
        else:
            reads.append((accepted, command.channel, time, (status, timestamp, data)))
    flags, *channels = played.errors
    if events and (crowded := model.crowded()):
        # Which of too many events are dropped depends on their path into the wheel. That some were
        # is always reported.
        if any(coarse <= played.end for coarse in crowded):
            assert flags & 4 and channels[-1] in set().union(*crowded.values())
        return
    assert [(c, pad, o & 1, oe) for c, pad, o, oe in played.changes] == model.pad_changes(played.end + 1)
    assert all(o in (0, 255) for _, _, o, _ in played.changes)
    # Errors are detected a few cycles before their time, or when an event leaves the pool
    for flag, errors in [(1, model.collisions()), (4, model.sequence_errors)]:
        if flags & flag:
            first = channels.pop(0)
            assert first == errors[0][1] if flag == 1 or not events else first in [channel for _, channel in errors]
        else:
            assert all(coarse > played.end for coarse, _ in errors)
    assert flags & 2 == 0
    queues = {channel: model.input_events(channel, levels[channel]) for channel in range(INOUTS)}
    for now, channel, timeout, result in reads:
        if channel >= INOUTS:
            assert result[0] == 8
        elif queues[channel] and queues[channel][0][0] <= max(timeout >> 3, now - 3):
            coarse, level = queues[channel].pop(0)
            assert result == (0, 8 * coarse, level)
        else:
            assert result == (1, -1, 0)


_QUICK = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
_MANY = settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))


@_QUICK
@example(stream=[("read", 2, 0, -97)], toggles=[])
@given(stream=_STREAM, toggles=_EDGES)
def test_random_streams_agree_with_the_model(core, stream, toggles):
    """Pins, statuses, inputs and errors agree with the model, with and without skipping."""
    check(*core, stream, toggles)


@pytest.mark.long
@_MANY
@given(stream=_STREAM, toggles=_EDGES)
def test_ten_thousand_random_streams_agree_with_the_model(core, stream, toggles):
    check(*core, stream, toggles)
