"""Pushed inputs: FIFOs with gaps, order and room of the rings, requests; in Migen's simulator."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from migen import *

from kairos_gateware.rtio.link import InputLink
from kairos_gateware.rtio.pusher import ENTRIES, InputPusher, MarkingFifo
from kairos_gateware.rtio.timing import INPUT_LATENCY, INPUT_VISIBLE, TimeBase
from kairos_gateware.testbenches.simulator import run_simulation

FOREVER = 2**64 - 1
DEPTH = 4
CHANNELS = (1, 5, 9)


class Bench(Module):
    def __init__(self):
        self.submodules.timebase = timebase = TimeBase()
        self.links = {n: InputLink(4) for n in CHANNELS}
        fifos = {n: ResetInserter()(MarkingFifo(link, timebase, DEPTH)) for n, link in self.links.items()}
        self.submodules += fifos.values()
        self.submodules.pusher = pusher = InputPusher(timebase, fifos)
        self.comb += [fifo.reset.eq(pusher.reset) for fifo in fifos.values()]


def play(pulses, requests=(), cycles=150, ready=lambda cycle: True, reset_at=None):
    """pulses: {(counter at the strobe, channel): data}. requests: (counter at the request, channel,
    timeout, number). ready(cycle): the writer accepts an entry. Returns (entries, answers): entries
    (counter from which it was on offer, channel, number, timestamp, data, lost, more), answers
    (counter at acceptance, counter at the answer, status, progress)."""
    dut = Bench()
    pusher, now = dut.pusher, dut.timebase.coarse
    entries, answers = [], []

    @passive
    def world():
        offered = None
        yield pusher.enable.eq(1)
        while True:
            following = (yield now) + 1  # the counter in the cycle for which signals are set here
            for number, link in dut.links.items():
                yield link.stb.eq((following, number) in pulses)
                yield link.data.eq(pulses.get((following, number), 0))
            take = ready(following)
            yield pusher.push.ready.eq(take)
            yield pusher.reset.eq(following == reset_at)
            yield pusher.abort.eq(following == reset_at)
            yield
            if (yield pusher.push.valid):
                offered = (yield now) if offered is None else offered
                if take:
                    push = pusher.push
                    entry = (yield push.timestamp), (yield push.data), (yield push.lost), (yield push.more)
                    entries.append((offered, (yield push.channel), (yield push.number), *entry))
                    offered = None

    def cpu():
        request = pusher.request
        for start, channel, timeout, number in requests:
            while (yield now) + 1 < start:
                yield
            yield request.valid.eq(1)
            yield request.channel.eq(channel)
            yield request.timeout.eq(timeout)
            yield request.number.eq(number)
            yield
            while not (yield request.ready):
                yield
            accepted = yield now
            yield request.valid.eq(0)
            yield
            while not (yield pusher.done):
                yield
            answers.append((accepted, (yield now), (yield pusher.status), (yield pusher.timestamp)))
        while (yield now) < cycles:
            yield
        assert (yield pusher.settled)

    run_simulation(dut, [world(), cpu()])
    return entries, answers


def test_an_event_is_offered_two_cycles_after_it_is_readable():
    stamp = 40
    entries, _ = play({(stamp + INPUT_LATENCY, 5): 3})
    assert entries == [(stamp + INPUT_VISIBLE + 2, 5, 1, 8 * stamp, 3, 0, 0)]


def test_channels_take_turns_one_event_in_three_cycles():
    pulses = {(20 + n, channel): n for n in range(4) for channel in CHANNELS}
    entries, _ = play(pulses, ready=lambda cycle: cycle % 3 == 0)
    assert [(entry[1], entry[2]) for entry in entries] == [(c, n + 1) for n in range(4) for c in CHANNELS]
    assert {b[0] - a[0] for a, b in zip(entries[1:], entries[2:], strict=False)} == {3}


def test_lost_events_are_marked_at_their_position():
    """Nothing is taken until 60: of eight consecutive events, one is on offer, five are in the
    FIFO, two are lost. Then others follow."""
    pulses = {(20 + n, 1): n for n in range(8)} | {(90, 1): 8, (95, 1): 9}
    entries, _ = play(pulses, ready=lambda cycle: cycle > 60)
    kinds = [("gap" if lost else data, more) for *_, data, lost, more in entries]
    assert kinds == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), ("gap", 0), (8, 0), (9, 0)]
    assert [entry[2] for entry in entries] == list(range(1, 10))


def test_gap_is_reported_before_the_following_event():
    """Room becomes available at the same time as the next event: the gap is reported in between."""
    pulses = {(20 + n, 1): n for n in range(8)}
    for late in range(58, 75):
        entries, _ = play(pulses | {(late, 1): 8}, ready=lambda cycle: cycle > 60)
        kept = [("gap" if lost else data) for *_, data, lost, _ in entries]
        assert kept in ([0, 1, 2, 3, 4, 5, "gap", 8], [0, 1, 2, 3, 4, 5, "gap"]), late
        assert late < 64 or kept[-1] == 8


def test_full_ring_waits_for_room():
    """The 65th event stays in the FIFO until the CPU has consumed one; other channels continue."""
    pulses = {(20 + 5 * n, 1): n % 16 for n in range(ENTRIES + 2)} | {(380, 5): 7}
    requests = [(420, 1, 0, 0), (440, 1, 0, 1), (470, 1, 0, 3)]
    entries, answers = play(pulses, requests, cycles=520)
    first = [entry for entry in entries if entry[1] == 1]
    assert [entry[2] for entry in first] == list(range(1, ENTRIES + 3))
    assert [entry[0] for entry in first[ENTRIES:]] == [444, 474]
    assert [entry[0] for entry in entries if entry[1] == 5] == [380 + 2 + 2]
    # No time can be reported while an event waits in a FIFO
    assert [answer[2:] for answer in answers[:2]] == [(0, 0), (0, 0)]


def test_request_is_answered_two_cycles_after_entry_or_timeout():
    """Two cycles if the entry is written or the time has passed; otherwise two after the entry, or
    at the timeout."""
    stamp, timeout = 60, 90
    pulses = {(20 + INPUT_LATENCY, 5): 1, (stamp + INPUT_LATENCY, 5): 2}
    requests = [
        (40, 5, FOREVER, 0),
        (45, 5, FOREVER, 1),
        (75, 5, 8 * timeout, 2),
        (100, 5, 8, 2),
        (105, 1, 2**64 - 2, 0),
    ]
    entries, answers = play(pulses, requests)
    written = entries[1][0]
    assert answers == [
        (40, 42, 0, 8 * (41 - INPUT_VISIBLE) + 7),
        (45, written + 2, 0, 8 * (written + 1 - INPUT_VISIBLE) + 7),
        (75, timeout + INPUT_VISIBLE + 1, 1, 8 * timeout + 7),
        (100, 102, 1, 8 * (101 - INPUT_VISIBLE) + 7),
        (105, 107, 1, 8 * (106 - INPUT_VISIBLE) + 7),
    ]


@pytest.mark.parametrize("stamp, timeout, status", [(40, 40, 0), (40, 39, 1), (41, 40, 1)])
def test_events_up_to_the_timeout_come_before_the_answer(stamp, timeout, status):
    """Also if the writer is slow."""
    for delay in [0, 30]:
        written = stamp + INPUT_VISIBLE + 2 + delay
        pulses, requests = {(stamp + INPUT_LATENCY, 1): 1}, [(20, 1, 8 * timeout, 0)]
        entries, answers = play(pulses, requests, ready=lambda cycle, written=written: cycle >= written)
        assert answers[0][2] == status and len(entries) == 1
        if status == 0:
            assert answers[0][1] == written + 2


def test_request_for_an_unknown_channel_is_refused():
    assert [answer[2] for answer in play({}, [(20, 2, FOREVER, 0), (30, 300, 0, 0)])[1]] == [8, 8]
    with pytest.raises(ValueError, match="0 to 255 only"):
        InputPusher(TimeBase(), {256: MarkingFifo(InputLink(1), TimeBase(), DEPTH)})


def test_reset_restarts_entry_numbers_at_one():
    """A waiting request ends with "timeout"; the next entry has number 1."""
    pulses = {(20, 1): 1, (25, 1): 2, (80, 1): 3}
    entries, answers = play(pulses, [(30, 5, FOREVER, 0), (60, 1, FOREVER, 0)], reset_at=50)
    assert [entry[2] for entry in entries] == [1, 2, 1]
    assert answers[0][1:3] == (51, 1) and answers[1][2] == 0


_PULSES = st.dictionaries(st.tuples(st.integers(10, 120), st.sampled_from(CHANNELS)), st.integers(0, 15), max_size=60)


def check(pulses, period):
    """Checks that, however slow the writer, each channel's events are in order, numbered
    consecutively, with a gap exactly where some are missing."""
    entries, _ = play(pulses, ready=lambda cycle: cycle % period == 0, cycles=450)
    for channel in CHANNELS:
        sent = [(8 * (time - INPUT_LATENCY), data) for (time, at), data in sorted(pulses.items()) if at == channel]
        got = [entry for entry in entries if entry[1] == channel]
        assert [entry[2] for entry in got] == list(range(1, len(got) + 1))
        position = 0
        for n, (*_, timestamp, data, lost, _) in enumerate(got):
            if lost:
                missing = sent.index(got[n + 1][3:5], position) - position if n + 1 < len(got) else len(sent) - position
                assert missing > 0
                position += missing
            else:
                assert (timestamp, data) == sent[position]
                position += 1
        assert position == len(sent)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(_PULSES, st.integers(1, 5))
def test_random_events_are_pushed_complete_and_in_order(pulses, period):
    check(pulses, period)


@pytest.mark.long
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(_PULSES, st.integers(1, 5))
def test_many_random_events_are_pushed_complete_and_in_order(pulses, period):
    check(pulses, period)
