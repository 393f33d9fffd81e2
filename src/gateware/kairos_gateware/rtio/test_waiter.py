"""Requests for inputs: the conditions and times of their answers."""

import pytest
from migen import *

from kairos_gateware.rtio.cri import INPUT_TIMEOUT, INPUT_UNREACHABLE
from kairos_gateware.rtio.timing import FINE_BITS, INPUT_VISIBLE, TimeBase
from kairos_gateware.rtio.waiter import RequestWaiter
from kairos_gateware.testbenches.simulator import run_simulation

NUMBERS = (3, 8)
FOREVER = 2**64 - 1
AT = 10


class Bench(Module):
    def __init__(self):
        self.submodules.timebase = timebase = TimeBase()
        self.submodules.waiter = RequestWaiter(timebase, NUMBERS)


def ask(channel, timeout, number, world):
    """A request in cycle AT. world(cycle): {input of the waiter: value}. Returns (cycles to the
    answer, status, whether its timestamp is known), or None if there is no answer in 100 cycles."""
    dut = Bench()
    waiter, now = dut.waiter, dut.timebase.coarse
    answers = []

    @passive
    def surroundings():
        while True:
            for name, value in world((yield now) + 1).items():
                yield getattr(waiter, name).eq(value)
            yield

    def master():
        while (yield now) + 1 < AT:
            yield
        yield waiter.request.valid.eq(1)
        yield waiter.request.channel.eq(channel)
        yield waiter.request.timeout.eq(timeout)
        yield waiter.request.number.eq(number)
        yield
        assert (yield waiter.request.ready)
        accepted = yield now
        yield waiter.request.valid.eq(0)
        for _ in range(100):
            yield
            if (yield waiter.done):
                answers.append(((yield now) - accepted, (yield waiter.status), (yield waiter.timestamp) != 0))

    run_simulation(dut, [master(), surroundings()])
    assert len(answers) < 2
    return answers[0] if answers else None


def test_pushed_event_is_answered_in_two_cycles():
    assert ask(8, FOREVER, 4, lambda cycle: {"newest": 5}) == (2, 0, False)


def test_answer_reports_that_all_events_are_written():
    assert ask(8, FOREVER, 4, lambda cycle: {"newest": 5, "all_written": 1}) == (2, 0, True)


def test_request_waits_for_an_entry_not_yet_written():
    """Its number counts as that of the newest entry, but it is not in memory yet."""
    written = AT + 20
    answer = ask(3, FOREVER, 4, lambda cycle: {"newest": 5, "offered": cycle < written})
    assert answer == (written + 1 - AT, 0, False)


@pytest.mark.parametrize("channel", [0, 4, 1 << 20])
def test_request_for_channel_without_inputs_is_unreachable(channel):
    assert ask(channel, FOREVER, 0, lambda cycle: {})[:2] == (2, INPUT_UNREACHABLE)


def test_timeout_waits_for_earlier_timestamps():
    coarse = AT + 15
    due = coarse + INPUT_VISIBLE
    assert ask(3, coarse << FINE_BITS, 0, lambda cycle: {})[:2] == (due + 1 - AT, INPUT_TIMEOUT)
    late = due + 30
    answer = ask(3, coarse << FINE_BITS, 0, lambda cycle: {"left": cycle < late})
    assert answer[:2] == (late + 1 - AT, INPUT_TIMEOUT)


def test_request_without_timeout_is_ended_only_by_reset():
    assert ask(3, FOREVER, 0, lambda cycle: {}) is None
    assert ask(3, FOREVER, 0, lambda cycle: {"abort": cycle == AT + 40})[:2] == (41, INPUT_TIMEOUT)
