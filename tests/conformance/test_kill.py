"""Kernels killed at arbitrary instants: the interrupted operation leaves a consistent state.

A kernel starts its operation after a random delay and signals the host, which then disconnects; the
device notices at the next whole millisecond of virtual time. So the instants are spread over all
operations of one millisecond.
"""

import random
import time

import pytest

from tests.support.kernels import answer, kernel, marks
from tests.support.raw_session import Session

ACTIVITIES = {
    "posted": 0,
    "blocked": 1,
    "wide": 2,
    "awaited": 3,
    "record": 4,
    "play": 5,
    "input": 6,
    "i2c": 7,
    "asynchronous": 8,
    "synchronous": 9,
    "log": 10,
    "cache": 11,
    "exceptions": 12,
}
SPIN_MAX = 400_000
"""Maximum iterations of the delay loop: a millisecond of virtual time."""
CHECK, CHECK_AFTER_RESET, RECORD = range(3)
PULSES = [(0, 1), (1000, 0), (2000, 1), (3000, 0), (5000, 1), (6000, 0)]


def check(device, what):
    """Runs the kernel that verifies a consistent state."""
    device.control("trace_clear")
    with Session(device) as session:
        assert session.load(kernel("check")) is None
        session.run()
        answer(session, what)
        requests, exception = session.until_end()
        assert exception is None, exception.exceptions
        if what == RECORD:
            return
        assert marks(requests) == [1, 1, 0, 1]
    trace = device.control("trace", **{"from": 0})
    pads = {pad["index"]: pad["channel"] for pad in trace["pads"]}
    edges = {channel: [] for channel in (6, 7, 8)}
    for when, index, level in trace["events"]:
        if pads[index] in edges and level is not None:
            edges[pads[index]].append((when, level))
    start = edges[6][0][0]
    assert [(when - start, level) for when, level in edges[6]] == PULSES
    # The trace is played directly after; events that were only recorded do not appear.
    assert [(when - start - 9000, level) for when, level in edges[7]] == PULSES
    assert edges[8] == []


def kill(device, activity, chance):
    number = ACTIVITIES[activity]
    session = Session(device)
    try:
        if activity == "exceptions":
            assert session.load(kernel("kill_exceptions")) is None
            session.run()
        else:
            assert session.load(kernel("kill")) is None
            session.run()
            answer(session, number | chance.randrange(SPIN_MAX) << 8)
        session.message(10)
        assert session.request().arguments == [number]
        # Any instant is acceptable.
        time.sleep(chance.choice((0, 0, 0.002, 0.02)))
        if chance.random() < 0.3:
            # Superseded by another session instead of disconnected by its host.
            Session(device).close()
    finally:
        session.close()


def kill_and_check(device, activity, chance, times):
    for _ in range(times):
        for _ in range(chance.randrange(1, 4)):
            kill(device, activity, chance)
        check(device, chance.choice((CHECK, CHECK_AFTER_RESET)))


@pytest.fixture(scope="module")
def prepared(device):
    check(device, RECORD)
    check(device, CHECK)
    return device


@pytest.mark.parametrize("activity", ACTIVITIES)
def test_kernel_killed_in_each_activity_leaves_device_usable(prepared, activity):
    kill_and_check(prepared, activity, random.Random(activity), 6)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_kernels_killed_in_random_activities_leave_device_usable(prepared, seed):
    chance = random.Random(seed)
    for _ in range(150):
        kill_and_check(prepared, chance.choice(list(ACTIVITIES)), chance, 1)
    assert "panic" not in prepared.uart()
