"""Slack and waiting outputs, computed from times of submission, compared with a queue played step by step."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from kairos.emulator.sources import OUTPUT, UNKNOWN
from kairos.twin.slack import ARRIVAL_NS, BETWEEN_NS, arrivals, lines_of, waiting_at

steps = some.lists(some.tuples(some.integers(0, 400), some.integers(-200, 2000)), min_size=1, max_size=40)
"""For each output the time since the one before was submitted, and from its arrival to its due time."""


class Frame:
    def __init__(self, line):
        self.file, self.line = "exp.py", line


class Sources:
    """Outputs whose chain is the number of their line."""

    def __init__(self, rows):
        self.outputs = np.array(rows, OUTPUT)

    def frames(self, chain):
        return (Frame(chain),)

    def recorded(self, chain):
        return None


@given(steps)
def test_arrivals_equal_those_of_a_queue_in_time(given):
    submitted = np.cumsum([step for step, _ in given])
    expected, before = [], -BETWEEN_NS
    for time in submitted.tolist():
        before = max(time + ARRIVAL_NS, before + BETWEEN_NS)
        expected.append(before)
    assert arrivals(submitted).tolist() == expected


@given(steps)
def test_waiting_outputs_equal_those_of_a_queue_in_time(given):
    arrived = arrivals(np.cumsum([step for step, _ in given]))
    due = arrived + [ahead for _, ahead in given]
    expected = []
    for number, now in enumerate(arrived.tolist()):
        waits = [other for other in range(number + 1) if max(due[other], arrived[other]) > now]
        expected.append(len(waits))
    assert waiting_at(due, arrived).tolist() == expected


def test_least_slack_names_pass_channel_and_time():
    rows = [(1000 * n + (500 if n != 7 else 300), 4 << 8, 12, 1000 * n) for n in range(10)]
    (line,) = lines_of(Sources(rows), 100)
    assert (line.line, line.outputs, line.passes) == (12, 10, 10)
    assert (line.slack_ns, line.at_pass, line.channel) == (300 - ARRIVAL_NS, 8, 4)
    assert line.at_ns == 7300 - 100 and line.place == "exp.py:12"


def test_outputs_of_several_boards_are_examined_board_by_board():
    first = [(5000 + 100 * n, 1 << 8, 1, 4000 + 100 * n) for n in range(3)]
    second = [(2000 + 100 * n, 1 << 24, 2, 1000 + 100 * n) for n in range(3)]
    found = lines_of(Sources(first + second))
    assert [line.slack_ns for line in found] == [1000 - ARRIVAL_NS] * 2


def test_events_of_a_trace_have_no_slack_but_the_first():
    rows = [(5000, 1 << 8, 3, 1000), (5100, 1 << 8, 3, UNKNOWN), (1, 1 << 8, 3, UNKNOWN)]
    (line,) = lines_of(Sources(rows))
    assert (line.slack_ns, line.outputs, line.waiting) == (4000 - ARRIVAL_NS, 3, None)
    rows = [(5100, 1 << 8, 3, UNKNOWN)]
    (line,) = lines_of(Sources(rows))
    assert (line.slack_ns, line.at_pass) == (None, None)
    assert lines_of(Sources([])) == []
