"""The whole logic, verilated, against the model: random streams of outputs, inputs and waits."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos_gateware.verilated.library import ACCEPTED
from kairos_gateware.verilated.model import Model

KINDS = ["ttl_inout"] * 4 + ["ttl_out"] * 8 + ["log"]
PUSH_VISIBLE = 60  # cycles in which an event, and a few before it, are certainly pushed and seen

# Times are relative to a cursor, as in an experiment.

_ACTION = st.one_of(
    st.tuples(
        st.just("output"),
        st.sampled_from([0, 0, 1, 3, 4, 4, 5, 11, 12, 13]),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    st.tuples(st.just("delay"), st.one_of(st.integers(-40, 40), st.integers(0, 3000))),
    st.tuples(st.just("sync"), st.integers(20, 400)),
    st.tuples(st.just("edge"), st.integers(0, 3), st.integers(0, 300)),
    st.tuples(st.just("read"), st.sampled_from([0, 0, 1, 3, 4]), st.integers(-100, 1000)),
    st.tuples(st.just("wait"), st.integers(1, 2000)),
    st.tuples(
        st.just("gate"),
        st.integers(0, 3),
        st.integers(1, 20),
        st.sets(st.integers(-3, 23), max_size=6),
        st.integers(0, 3),
    ),
)
_STREAM = st.lists(_ACTION, min_size=1, max_size=40)


def play(ps, stream):
    """Runs a stream; returns the log of everything the CPU sees, with the coarse time at which it
    sees it, the commands as (coarse time of acceptance, arguments, result), and the levels applied:
    {pad: [(coarse, level)]}."""
    log, outputs, reads = [], [], []
    levels = {pad: [] for pad in range(4)}
    cursor = 8 * (ps.out.sim_tsc + 200)

    def output(channel, address, time, data):
        accepted = ps.out.sim_tsc + 1 + ACCEPTED
        status = ps.output(channel, time, data, address=address)
        outputs.append((accepted, (channel, address, time, data), status))
        log.append((ps.out.sim_tsc, status))
        rest()

    def read(channel, timeout):
        called = ps.out.sim_tsc
        result = ps.input(channel, timeout)
        reads.append((called, channel, timeout, result))
        log.append((ps.out.sim_tsc, result))
        rest()

    def edge(pad, time):
        last = levels[pad][-1] if levels[pad] else (0, 0)
        entry = (max(time, ps.out.sim_tsc + 1, last[0] + 1), 1 - last[1])
        levels[pad].append(entry)
        ps.schedule.append((entry[0], pad, 255 * entry[1]))
        ps.schedule.sort()

    def rest():
        """Waits for the initiator, which is busy with the write response for a few cycles; later
        times are then simple to predict."""
        for _ in range(8):
            ps.step()

    for action, *args in stream:
        now = ps.out.sim_tsc + 1
        if action == "output":
            channel, address, data = args
            output(channel, address if channel < 4 else 0, cursor, data)
        elif action == "gate":
            channel, length, edges, data = args
            cursor = 8 * (now + 150)
            for distance in sorted(edges):
                edge(channel, cursor // 8 + distance)
            output(channel, 2 + length % 2, cursor, data)
            output(channel, 2, cursor + 8 * length, 0)
            for _ in range(len(edges) // 2 + 1):
                read(channel, cursor + 8 * 30)
        elif action == "delay":
            cursor += args[0]
        elif action == "sync":
            cursor = 8 * (now + args[0])
        elif action == "edge":
            edge(args[0], now + args[1])
        elif action == "read":
            read(args[0], cursor + args[1])
        elif action == "wait":
            ps.advance(now + args[0])
            rest()
    ps.advance(max([ps.out.sim_tsc, cursor // 8, *[e[0] for e in ps.schedule]]) + 4000)
    return log, outputs, reads, levels


def check_stream(boot, registers, stream):
    plain, skipping = boot(), boot(skip=True)
    log, outputs, reads, levels = play(plain, stream)
    assert play(skipping, stream) == (log, outputs, reads, levels)
    assert skipping.changes == plain.changes
    skipping.close()

    model = Model(KINDS)
    for now, args, status in outputs:
        assert model.output(now, *args) == status
    changes = [(coarse, pad, o & 1, oe) for coarse, pad, (o, oe) in plain.changes]
    assert sorted(changes) == model.pad_changes()
    assert all(o in (0, 255) for _, _, (o, _) in plain.changes)
    collisions = model.collisions()
    flags = plain.read(registers["rtio_async_error"])
    assert flags == bool(collisions) | 4 * bool(model.sequence_errors)
    if collisions:
        assert plain.read(registers["rtio_collision_channel"]) == collisions[0][1]
    if model.sequence_errors:
        assert plain.read(registers["rtio_sequence_error_channel"]) == model.sequence_errors[0][1]
    queues = {channel: model.input_events(channel, levels[channel]) for channel in range(4)}
    for called, channel, timeout, result in reads:
        if channel >= 4:
            assert result[0] == 8
        elif result[0] == 0:
            coarse, level = queues[channel].pop(0)
            assert result == (0, 8 * coarse, level)
        else:
            # Exact up to the timeout; after it, an event must have had time to be seen
            assert result == (1, -1, 0)
            assert not queues[channel] or queues[channel][0][0] > max(timeout >> 3, called - PUSH_VISIBLE)
    plain.close()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_STREAM)
def test_random_streams_agree_with_model_and_skipping(boot, registers, stream):
    """Same events at the same time with and without skipping, and as the model predicts."""
    check_stream(boot, registers, stream)


@pytest.mark.long
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_STREAM)
def test_many_random_streams_agree_with_model_and_skipping(boot, registers, stream):
    check_stream(boot, registers, stream)


_POSTS = st.lists(
    st.tuples(
        st.booleans(),
        st.integers(4, 11),
        st.integers(1, 60),
        st.sampled_from([1, 1, 1, 2, 3, 9, 16]),
        st.integers(3, 40),
    ),
    min_size=1,
    max_size=40,
)


def play_posts(ps, posts):
    """Submits (posted?, channel, distance in time, words, cycles until the next); returns changes
    and last status."""
    start = ps.out.sim_tsc + 4000
    time = start
    for posted, channel, distance, words, rest in posts:
        time += distance
        while ps.sequence + 1 - ps.status()[0] >= 15:
            ps.step()
        level = time & 1
        sequence = ps.submit(2 if posted else 0, channel << 8, 8 * time, [level] + [0] * (words - 1))
        if not posted:
            assert ps.wait(sequence) == 0
        for _ in range(rest):
            ps.step()
    assert ps.wait(ps.sequence) == 0
    ps.advance(time + 5000)
    return [(c[0] - start, *c[1:]) for c in ps.changes], ps.status()


@pytest.mark.long
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_POSTS)
def test_random_posted_events_are_executed_in_time(boot, posts):
    """Posted and awaited events of any width, mixed: all are executed at their time, with and
    without skipping."""
    plain, skipping = boot(), boot(skip=True)
    result = play_posts(plain, posts)
    assert play_posts(skipping, posts) == result
    assert result[1] == (len(posts), 0)
    level, time, expected = {}, 0, []
    base = plain.changes[0][0] - result[0][0][0] if result[0] else 0
    for _, channel, distance, _, _ in posts:
        time += distance
        new = (base + time) & 1 if result[0] else 0
        if level.get(channel, 0) != new:
            expected.append((time, channel, (255 * new, 1)))
            level[channel] = new
    if result[0]:
        assert result[0] == expected
    plain.close()
    skipping.close()
