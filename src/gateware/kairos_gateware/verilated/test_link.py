"""RTIO of two boards, verilated, with a fibre between them: `core_bench.LinkBench`."""

import os
import random
from pathlib import Path

import pytest

from kairos_gateware.link.rtio.requester import SLACK
from kairos_gateware.testbenches.rtio_core import Command, LinkBench, build_link
from kairos_gateware.verilated.model import Model

KINDS = ["ttl_inout"] * 2 + ["ttl_out"] * 4
PADS = len(KINDS)
FAR = 1 << 16
CUT = 2 * PADS + LinkBench.DELAY_BITS
DEAF = CUT + 1, CUT + 2
LONGER = CUT + 3
UNDERFLOW, UNREACHABLE = 2, 4
TIMEOUT, INPUT_UNREACHABLE = 1, 8
# From an accepted vector to its arrival, beyond the fibre
LINK_CYCLES = 13


@pytest.fixture(scope="module")
def core():
    root = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[4] / "build"))
    return build_link(root / "gateware" / "link_bench", 4, 2)


def ready(delay):
    """A coarse time by which the boards agree, with this delay of the fibre."""
    return 400 + 8 * delay


def play(core, commands, delay=0, edges=(), until=0, **options):
    edges = [(0, 2 * PADS + bit, 1) for bit in range(LinkBench.DELAY_BITS) if delay >> bit & 1] + list(edges)
    return core.play(commands, edges, until, **options)


def output(channel, coarse, data, address=0, pause=0):
    return Command(8 * coarse, pause, channel, data, address, Command.OUTPUT, 0)


def read(channel, coarse, pause=0):
    return Command(8 * coarse, pause, channel, 0, 0, Command.INPUT, 0)


def changes(played):
    """(coarse, pad, level, driven) of both boards."""
    return [(coarse, pad, int(samples == 0xFF), driven) for coarse, pad, samples, driven in played.changes]


@pytest.mark.parametrize("delay", [0, 1, 2, 3, 125, 126, 1000, 12500])
def test_pins_of_both_boards_agree(core, delay):
    start = ready(delay) + delay + 200
    commands = [output(board | 2 + n % 4, start + 5 * n, n // 4 + 1 & 1) for n in range(8) for board in (0, FAR)]
    commands[0].pause = ready(delay)
    played = play(core, commands, delay, until=start + 100)
    assert {answer[5] for answer in played.answers} == {0}
    expected = [(start + 5 * n, pad + 2 + n % 4, n // 4 + 1 & 1, 1) for n in range(8) for pad in (0, PADS)]
    assert changes(played) == expected
    assert played.errors == (0,)


@pytest.mark.parametrize("delay", [0, 1, 125, 126, 1000])
def test_boards_agree_on_time_for_symmetrical_fibres(core, delay):
    """The boards agree on the time for a symmetrical fibre of the forward delay, also after a link
    that was lost."""
    start = ready(delay) + delay + 200
    again = start + 2000 + ready(delay)
    edges = [(0, LONGER, 1), (start + 1000, CUT, 1), (start + 1500, CUT, 0)]
    commands = [output(board | 2, at, at == start) for at in (start, again) for board in (0, FAR)]
    commands[0].pause, commands[2].pause = ready(delay), again - start - 500
    played = play(core, commands, delay, edges, until=again + 100)
    assert {answer[5] for answer in played.answers} == {0}
    assert changes(played) == [(at, pad, int(at == start), 1) for at in (start, again) for pad in (2, PADS + 2)]


@pytest.mark.parametrize("delay", [0, 125, 1000])
def test_satellite_event_at_least_slack_is_on_time(core, delay):
    """An event a cycle too late is rejected immediately; the others are on time. Each is alone on
    the link."""
    slack = LINK_CYCLES + delay + SLACK
    commands = []
    for n in range(-3, 4):
        command = output(FAR | 2, slack + n, n & 1, pause=300)
        command.relative = 1
        commands.append(command)
    commands[0].pause = ready(delay)
    played = play(core, commands, delay, until=ready(delay) + 4000 + delay)
    assert [answer[5] for answer in played.answers] == [UNDERFLOW] * 3 + [0] * 4
    assert all(answered == accepted + 1 for accepted, answered, *_ in played.answers)
    assert [change[0] for change in changes(played)] == [answer[2] >> 3 for answer in played.answers[3:]][1:]
    assert played.errors == (0,)


@pytest.mark.parametrize(("data", "cycles"), [(0x100, 5 / 4), (1 << 31, 13 / 9 * 5 / 4)])
def test_consecutive_events_at_least_slack_are_on_time(core, data, cycles):
    """The link takes one event per so many cycles; none of them is late. (A command's time is
    relative to when it is offered.)"""
    count, delay = 300, 20
    commands = []
    for n in range(count):
        command = output(FAR | 2 + n % 4, LINK_CYCLES + delay + SLACK + 3, data | n >> 2 & 1)
        command.relative = 1
        commands.append(command)
    commands[0].pause = ready(delay)
    played = play(core, commands, delay, until=ready(delay) + 4000)
    accepted = [answer[0] for answer in played.answers]
    assert (accepted[-1] - accepted[20]) / (count - 21) <= cycles + 0.05  # an occasional word of credits
    assert {answer[5] for answer in played.answers} == {0}
    assert played.errors == (0,)
    assert len(changes(played)) == count - 4  # all but the first four change a level


def stream(rng, start, count, delay):
    """Random outputs of both boards."""
    commands, time = [], start + delay + 100
    for n in range(count):
        time += rng.choice([0, 0, 1, 3, 20, 200])
        board, channel = rng.choice([0, FAR]), rng.randrange(2, PADS)
        late = rng.random() < 0.05
        command = output(
            board | channel, time - rng.randrange(3) * (n > 5), rng.randrange(2), pause=rng.choice([0, 0, 2, 15])
        )
        if late:
            command.relative, command.time = 1, 8 * rng.randrange(-10, delay + LINK_CYCLES + SLACK + 10)
        commands.append(command)
    commands[0].pause = start
    return commands, time


def expected(commands, played, delay):
    """Both boards' models, given the times of acceptance."""
    boards = {0: Model(KINDS), FAR: Model(KINDS)}
    statuses = []
    for command, (accepted, _, time, *_) in zip(commands, played.answers, strict=True):
        board = command.channel & FAR
        if board and time >> 3 < accepted + LINK_CYCLES + delay + SLACK:
            statuses.append(UNDERFLOW)
            continue
        statuses.append(boards[board].output(accepted, command.channel & 0xFFFF, command.address, time, command.data))
    pins = [
        (coarse, pad + (PADS if board else 0), *levels)
        for board, model in boards.items()
        for coarse, pad, *levels in model.pad_changes()
    ]
    return statuses, sorted(pins), any(model.sequence_errors for model in boards.values())


@pytest.mark.parametrize("seed", range(6))
def test_random_streams_over_the_link_agree_with_the_model(core, seed):
    rng = random.Random(seed)
    delay = rng.choice([0, 1, 13, 125, 400])
    commands, end = stream(rng, ready(delay), 150, delay)
    played = play(core, commands, delay, until=end + 100)
    statuses, pins, sequence_errors = expected(commands, played, delay)
    assert [answer[5] for answer in played.answers] == statuses
    assert sorted(changes(played)) == pins
    assert played.errors[0] >> 2 & 1 == sequence_errors
    skipping = play(core, commands, delay, until=end + 100, skip=True)
    assert (skipping.answers, skipping.changes, skipping.errors) == (played.answers, played.changes, played.errors)
    assert skipping.cycles < played.cycles


def test_satellite_inputs_return_with_their_timestamp(core):
    delay, pad = 125, PADS  # channel 0 of the satellite
    start = ready(delay) + 1000
    commands = [
        output(FAR, start, 1, address=2, pause=ready(delay)),  # rising edges
        read(FAR, start + 500),
        read(FAR, start + 600),
        read(FAR | 5, start + 600),
        read(FAR, start + 100_000),
    ]
    edges = [(start + 100, pad, 1), (start + 700, pad, 0), (start + 5000, pad, 1)]
    for skip in (False, True):
        played = play(core, commands, delay, edges, until=start + 6000, skip=skip)
        assert [(answer[5], answer[3] >> 3) for answer in played.answers[1:]] == [
            (0, start + 100),
            (TIMEOUT, -1 >> 3),
            (INPUT_UNREACHABLE, -1 >> 3),
            (0, start + 5000),
        ]
        # An event is known as soon as the link can report it
        assert played.answers[4][1] == start + 5000 + 4 + LINK_CYCLES + delay + 3
    assert played.cycles < 3500


def test_errors_of_satellite_report_channel(core):
    start = ready(0) + 500
    both = [output(FAR | 4, start, 1, pause=ready(0)), Command(8 * start + 3, 0, FAR | 4, 1, 0, Command.OUTPUT, 0)]
    played = play(core, both, until=start + 200)
    assert played.errors == (1, 4)


def test_missing_channel_or_satellite_is_unreachable(core):
    commands = [output(FAR | 7, 2000, 1, pause=ready(0)), output(2 << 16 | 2, 2000, 1), output(FAR | 2, 2000, 1)]
    played = play(core, commands, until=2100)
    assert [answer[5] for answer in played.answers] == [UNREACHABLE, UNREACHABLE, 0]


def test_satellite_without_link_is_unreachable(core):
    commands = [output(FAR | 2, 2000, 1, pause=600), read(FAR, 3000), output(2, 2000, 1)]
    played = play(core, commands, edges=[(0, CUT, 1)], until=2100)
    assert [answer[5] for answer in played.answers] == [UNREACHABLE, INPUT_UNREACHABLE, 0]
    assert changes(played) == [(2000, 2, 1, 1)]


def test_restored_link_reports_lost_events_and_works_again(core):
    """Events that had arrived are executed; others are reported by the next command, and the link
    is as new."""
    delay = 300
    start = ready(delay) + 2000
    cut = start - 1200
    sent = [output(FAR | 2, start + n, n + 1 & 1) for n in range(4)]
    sent[0].pause = ready(delay)
    lost = [output(FAR | 3, start + 10, 1, pause=cut - 100 - ready(delay) - 4)]
    again = [output(FAR | 3, start + 20_000 + n, n & 1, pause=10_000 * (n == 0)) for n in range(3)]
    edges = [(cut, CUT, 1), (cut + 3000, CUT, 0)]
    played = play(core, sent + lost + again, delay, edges, until=start + 21_000)
    assert [answer[5] for answer in played.answers] == [0] * 5 + [UNREACHABLE, 0, 0]
    # The event that was not confirmed: channel 3
    assert played.errors == (2, 3)
    assert changes(played) == [(start + n, PADS + 2, n + 1 & 1, 1) for n in range(4)] + [
        (start + 20_001, PADS + 3, 1, 1),
        (start + 20_002, PADS + 3, 0, 1),
    ]


def cut_at_random(core, rng):
    """Outputs whose levels alternate, and a fibre that is unplugged for a while: either all
    accepted events are executed, or those before the cut only up to some output, which is reported.
    Returns whether all were."""
    delay = rng.choice([0, 1, 20, 125, 300])
    begin, end = ready(delay), ready(delay) + 6000
    commands, time = [], begin + delay + 60
    while len(commands) < 60:
        time += rng.randrange(2, 60)
        data = len(commands) + 1 & 1
        commands.append(output(FAR | 2, time, data | rng.choice([0, 1 << 20]), pause=rng.choice([0, 0, 0, 10, 60])))
    commands[0].pause = begin
    commands.append(output(FAR | 3, end + 4000, 1, pause=6000 + 10 * delay))
    cut = begin + rng.randrange(1200)
    edges = [(cut, CUT, 1), (cut + rng.randrange(1, 600), CUT, 0)]
    played = play(core, commands, delay, edges, until=end + 8000 + 30 * delay, skip=rng.random() < 0.5)
    statuses = [answer[5] for answer in played.answers]
    accepted = [n for n, status in enumerate(statuses[:60]) if status == 0]
    changed = [change[0] for change in changes(played) if change[1] == PADS + 2]

    def levels(numbers):
        shown, level = [], 0
        for n in numbers:
            if commands[n].data & 1 != level:
                level ^= 1
                shown.append(commands[n].time >> 3)
        return shown

    if changed == levels(accepted):
        return True
    # The near end detects it a cycle later
    before = [n for n in accepted if played.answers[n][0] <= cut]
    after = [n for n in accepted if played.answers[n][0] > cut]
    assert changed in [levels(before[:kept] + after) for kept in range(len(before))]
    assert played.errors == (2, 2)
    assert [status for (time, *_), status in zip(played.answers, statuses, strict=True) if time > cut][0] == UNREACHABLE
    return False


def test_outputs_are_executed_or_reported_when_the_link_is_cut(core):
    rng = random.Random(12)
    assert {cut_at_random(core, rng) for _ in range(40)} == {False, True}


@pytest.mark.long
def test_outputs_are_executed_or_reported_at_1000_cuts(core):
    rng = random.Random(13)
    assert sum(cut_at_random(core, rng) for _ in range(1000)) > 100


def losses(rng, begin, end, mean):
    """Edges of pads that lose some words, repeatedly, in one of the directions."""
    edges, time = [], begin
    while True:
        time += rng.randrange(1, 2 * mean)
        pad, length = rng.choice(DEAF), rng.randrange(1, 12)
        if time + length >= end:
            return edges
        edges += [(time, pad, 1), (time + length, pad, 0)]
        time += length


@pytest.mark.parametrize("seed", range(4))
def test_lost_words_are_sent_again(core, seed):
    """The waveform is the same as without losses if there is enough time; a late event is reported,
    and all others arrive."""
    rng = random.Random(seed)
    delay = rng.choice([0, 13, 125, 400])
    start, ahead = ready(delay), 4 * (delay + 600)
    commands = [
        output(FAR | 2 + n % 4, start + ahead + 12 * n, (n >> 2 & 1 ^ 1) | rng.choice([0, 1 << 20]), pause=5 * (n % 3))
        for n in range(400)
    ]
    commands[0].pause = start
    end = start + ahead + 5000
    good = play(core, commands, delay, until=end)
    bad = play(core, commands, delay, losses(rng, start, end, 150), until=end)
    assert {answer[5] for answer in bad.answers} == {0} and bad.errors == (0,)
    assert changes(bad) == changes(good) and len(changes(good)) == 400
    late = [output(FAR | 2 + n % 4, LINK_CYCLES + delay + SLACK + 20, n >> 2 & 1 ^ 1, pause=20) for n in range(400)]
    for command in late:
        command.relative = 1
    late[0].pause = start
    played = play(core, late, delay, losses(rng, start, end, 150), until=end + 20_000)
    # A command's time is relative to when it is offered: some have to wait for room
    assert {answer[5] for answer in played.answers} <= {0, UNDERFLOW}
    shown = {change[0] for change in changes(played)}
    assert played.errors[0] == 2
    assert shown <= {answer[2] >> 3 for answer in played.answers} and 20 < len(shown) < 400


def test_waiting_read_ends_when_the_link_is_lost(core):
    commands = [read(FAR, 1 << 40, pause=ready(0)), read(0, 4000)]
    played = play(core, commands, edges=[(2000, CUT, 1)], until=4100)
    assert played.answers[0][5] == INPUT_UNREACHABLE and played.answers[0][1] < 2010
    assert played.answers[1][5] == TIMEOUT
