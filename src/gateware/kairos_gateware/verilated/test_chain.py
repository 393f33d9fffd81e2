"""RTIO of three boards in a chain, verilated: the first one's commands reach the third through the
second."""

import random

import pytest

from kairos_gateware.figures.place import root
from kairos_gateware.link.rtio.requester import SLACK, least_slack
from kairos_gateware.testbenches.rtio_core import Command, LinkBench, build_link
from kairos_gateware.verilated.test_link import INPUT_UNREACHABLE, LINK_CYCLES, UNDERFLOW, UNREACHABLE, output, read

PADS = 6
BOARDS = [0, 1 << 16, 2 << 16]
CUT = 3 * PADS + LinkBench.DELAY_BITS
FIRST_SLACK = least_slack(2, relayed=True)


@pytest.fixture(scope="module")
def core():
    return build_link(root() / "chain_bench", 4, 2, boards=3)


def ready(delay):
    """A coarse time by which all boards agree, with this delay of each fibre."""
    return 1000 + 20 * delay


def play(core, commands, delay=0, edges=(), until=0, **options):
    edges = [(0, 3 * PADS + bit, 1) for bit in range(LinkBench.DELAY_BITS) if delay >> bit & 1] + list(edges)
    return core.play(commands, edges, until, **options)


def changes(played):
    return [(coarse, pad, int(samples == 0xFF)) for coarse, pad, samples, _ in played.changes]


@pytest.mark.parametrize("delay", [0, 1, 125, 12500])
def test_pins_of_three_boards_agree(core, delay):
    start = ready(delay) + 2 * delay + 300
    commands = [output(board | 2 + n % 4, start + 5 * n, n // 4 + 1 & 1) for n in range(8) for board in BOARDS]
    commands[0].pause = ready(delay)
    played = play(core, commands, delay, until=start + 100)
    assert {answer[5] for answer in played.answers} == {0}
    expected = [(start + 5 * n, PADS * b + 2 + n % 4, n // 4 + 1 & 1) for n in range(8) for b in range(3)]
    assert changes(played) == expected
    assert played.errors == (0,)


@pytest.mark.parametrize("delay", [0, 125])
def test_event_at_least_slack_over_two_links_is_on_time(core, delay):
    """Accepted events are on time; an event one cycle too late is rejected by the first board."""
    slack = FIRST_SLACK + SLACK + 2 * (LINK_CYCLES + delay)
    commands = []
    for n in range(-3, 5):
        command = output(BOARDS[2] | 2, slack + n, n & 1, pause=400)
        command.relative = 1
        commands.append(command)
    commands[0].pause = ready(delay)
    played = play(core, commands, delay, until=ready(delay) + 5000 + delay)
    assert [answer[5] for answer in played.answers] == [UNDERFLOW] * 3 + [0] * 5
    assert [change[0] for change in changes(played)] == [answer[2] >> 3 for answer in played.answers[4:]]
    assert played.errors == (0,)


@pytest.mark.parametrize("seed", range(3))
def test_random_streams_are_executed_on_the_right_board_in_time(core, seed):
    rng = random.Random(seed)
    delay = rng.choice([0, 13, 125])
    time = ready(delay) + 2 * delay + 300
    levels, commands, expected = {}, [], []
    for _ in range(200):
        time += rng.choice([1, 3, 3, 20])
        b, channel = rng.randrange(3), rng.randrange(2, PADS)
        pad, data = PADS * b + channel, rng.randrange(2)
        commands.append(output(BOARDS[b] | channel, time, data, pause=rng.choice([0, 0, 2])))
        if levels.get(pad, 0) != data:
            expected.append((time, pad, data))
        levels[pad] = data
    commands[0].pause = ready(delay)
    plays = [play(core, commands, delay, until=time + 200, skip=skip) for skip in (False, True)]
    assert {answer[5] for answer in plays[0].answers} == {0} and plays[0].errors == (0,)
    assert changes(plays[0]) == expected
    assert (plays[1].answers, plays[1].changes) == (plays[0].answers, plays[0].changes)
    assert plays[1].cycles < plays[0].cycles


def test_third_board_returns_inputs_and_refuses_missing_channels(core):
    delay, pad = 20, 2 * PADS
    start = ready(delay) + 1500
    commands = [
        output(BOARDS[2], start, 1, address=2, pause=ready(delay)),  # rising edges
        read(BOARDS[2], start + 500),
        read(BOARDS[2] | 5, start + 600),
        read(BOARDS[1] | 5, start + 600),
        output(BOARDS[2] | 7, start + 3000, 1),
        output(3 << 16 | 2, start + 3000, 1),
        output(BOARDS[2] | 2, start + 3000, 1),
    ]
    played = play(core, commands, delay, [(start + 100, pad, 1)], until=start + 3100)
    statuses = [answer[5] for answer in played.answers]
    assert statuses == [0, 0, INPUT_UNREACHABLE, INPUT_UNREACHABLE, UNREACHABLE, UNREACHABLE, 0]
    assert played.answers[1][3] >> 3 == start + 100


def test_errors_of_third_board_report_channel(core):
    start = ready(0) + 500
    both = [output(BOARDS[2] | 4, start, 1, pause=ready(0))]
    both.append(Command(8 * start + 3, 0, BOARDS[2] | 4, 1, 0, Command.OUTPUT, 0))
    played = play(core, both, until=start + 300)
    assert played.errors == (1, 4)


def test_loss_of_first_link_disconnects_both_boards_until_it_is_back(core):
    start = ready(0) + 500
    commands = [output(board | 2, start + 30_000, 1, pause=600) for board in BOARDS]
    commands[0].pause = start
    commands += [output(board | 2, start + 40_000, 1, pause=3000) for board in BOARDS]
    edges = [(start - 100, CUT, 1), (start + 2000, CUT, 0)]
    played = play(core, commands, 0, edges, until=start + 41_000)
    assert [answer[5] for answer in played.answers] == [0, UNREACHABLE, UNREACHABLE, 0, 0, 0]
    assert changes(played) == [(start + 30_000, 2, 1)] + [(start + 40_000, PADS * b + 2, 1) for b in (1, 2)]
