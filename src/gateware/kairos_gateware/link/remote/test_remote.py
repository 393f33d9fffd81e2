"""Loads and stores in another board's memory, verilated, over lines that are cut: they behave like
local accesses."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kairos_gateware.figures.place import root
from kairos_gateware.figures.remote import remote_engine
from kairos_gateware.link.remote.words import BUS_ERROR, DONE, REFUSED, UNREACHABLE
from kairos_gateware.testbenches.remote import MEMORY_WORDS

UP = 600
HALF = MEMORY_WORDS // 2


@pytest.fixture(scope="module")
def engine():
    return remote_engine(root() / "remote_bench", reliable=True)


def play(engine, requests, cycles, early=0, blocking=0, writable=1, cuts=(), stall=(), hold=()):
    """requests: (write, address, data, strobes). cuts, stall, hold: ranges of cycles. Returns the
    outputs."""
    rows = np.zeros(cycles, engine.inputs)
    for name, value in [("early", early), ("blocking", blocking), ("writable", writable), ("plugged", 1)]:
        rows[name] = value
    for name, spans, value in [("plugged", cuts, 0), ("stall", stall, 1), ("hold", hold, 1)]:
        for begin, end in spans:
            rows[name][begin:end] = value
    at = slice(UP, UP + len(requests))
    rows["offer"][at] = 1
    for n, (write, address, data, strobes) in enumerate(requests):
        row = rows[UP + n]
        row["write"], row["address"], row["data"], row["strobes"], row["tag"] = write, address, data, strobes, n % 256
    return engine.play(rows)


def answers(shown, count):
    """(status, data) of each request, by its index."""
    found = [None] * count
    taken = np.flatnonzero(shown["accepted"])
    order = {}
    for cycle in np.flatnonzero(shown["answer_valid"]):
        tag = int(shown["answer_tag"][cycle])
        n = order.get(tag, tag)
        assert n < count and found[n] is None and taken[n] <= cycle
        found[n] = (int(shown["answer_status"][cycle]), int(shown["answer_data"][cycle]))
        order[tag] = n + 256
    return found


def expected(requests):
    memory, results = [0] * HALF, []
    for write, address, data, strobes in requests:
        if write:
            mask = sum(0xFF << 8 * byte for byte in range(8) if strobes >> byte & 1)
            memory[address] = memory[address] & ~mask | data & mask
        results.append((DONE, None if write else memory[address]))
    return results


def some(random, count, words):
    def one():
        write = random.random() < 0.6
        strobes = random.choice([255, 255, 0x0F, 0x80, 0]) if write else 0
        return int(write), random.randrange(words), random.getrandbits(64), strobes

    return [one() for _ in range(count)]


def agrees(found, wanted):
    for (status, data), (status_wanted, data_wanted) in zip(found, wanted, strict=True):
        assert status == status_wanted and (data_wanted is None or data == data_wanted)


@pytest.mark.parametrize("early", [0, 1])
@pytest.mark.parametrize("words", [3, HALF])
def test_loads_see_stores_in_the_order_of_requests(engine, early, words):
    requests = some(Random(words), 1000, words)
    shown = play(engine, requests, UP + 1000 * (50 if words == 3 else 10), early)
    assert shown["idle"][-1] and not shown["failed"].any() and not shown["repeated"][-1] and not shown["stale"][-1]
    agrees(answers(shown, len(requests)), expected(requests))


@pytest.mark.parametrize("early", [0, 1])
def test_requests_lost_in_a_cut_are_repeated(engine, early):
    random = Random(7)
    requests = some(random, 4000, 20)
    begins = [begin + random.randrange(500) for begin in range(UP, UP + 30_000, 1500)]
    shown = play(engine, requests, 120_000, early, cuts=[(begin, begin + random.randrange(1, 300)) for begin in begins])
    assert shown["idle"][-1] and shown["repeated"][-1] > 20 and not shown["failed"].any()
    agrees(answers(shown, len(requests)), expected(requests))


def spans(longest):
    return st.lists(st.tuples(st.integers(UP, UP + 12_000), st.integers(1, longest)), max_size=6).map(
        lambda pairs: [(begin, begin + size) for begin, size in pairs]
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, HALF), st.booleans(), st.booleans(), spans(300), spans(900), spans(900))
def test_random_requests_with_late_or_lost_words_are_answered(engine, seed, words, early, blocking, cuts, stall, hold):
    """Unless a request has failed: that takes four attempts of 512 cycles, each of which was
    disturbed, and is reported."""
    requests = some(Random(seed), 300, words)
    shown = play(engine, requests, 60_000, early, blocking, cuts=cuts, stall=stall, hold=hold)
    assert shown["idle"][-1]
    found = answers(shown, len(requests))
    if shown["failed"].any() or any(status == UNREACHABLE for status, _ in found):
        assert cuts or stall or hold, "nothing was late or lost"
        assert {status for status, _ in found} <= {DONE, UNREACHABLE}
        return
    agrees(found, expected(requests))


def test_requests_to_an_offline_board_fail_until_it_is_back(engine):
    loads = [(0, n, 0, 0) for n in range(20)]
    shown = play(engine, loads, 20_000, cuts=[(UP - 10, 6000)])
    found = answers(shown, 20)
    assert found == [(UNREACHABLE, 0)] * 20
    # More than there are slots: twice four attempts of 512 cycles, and of a round of all slots each
    assert shown["idle"][-1] and not shown["failed"].any() and max(np.flatnonzero(shown["answer_valid"])) < UP + 4240
    stores = [(1, n, n + 1, 255) for n in range(16)]
    shown = play(engine, stores, 20_000, early=1, cuts=[(UP - 10, 6000)])
    assert answers(shown, 16) == [(DONE, 0)] * 16, "they were answered"
    failed = shown["failed"].astype(bool)
    assert sorted(shown["failed_address"][failed]) == list(range(16))
    assert set(shown["failed_status"][failed]) == {UNREACHABLE}


def test_access_outside_exports_is_refused_and_counted(engine):
    unexported = [HALF, MEMORY_WORDS - 1, MEMORY_WORDS + 1, 2**29 - 1]
    stores = [(1, address, 5, 255) for address in unexported]
    loads = [(0, address, 0, 0) for address in unexported]
    shown = play(engine, [*stores, *loads, (0, MEMORY_WORDS, 0, 0), (0, 0, 0, 0)], 2000)
    assert [status for status, _ in answers(shown, 10)] == [REFUSED] * 8 + [BUS_ERROR, DONE]
    assert shown["refused"][-1] == 8
    shown = play(engine, [(1, 0, 5, 255), (0, 0, 0, 0)], 2000, writable=0)
    assert answers(shown, 2) == [(REFUSED, 0), (DONE, 0)], "it may be read"
    shown = play(engine, stores, 2000, early=1)
    assert shown["failed"].sum() == 4 and set(shown["failed_status"][shown["failed"] == 1]) == {REFUSED}


def test_requests_wait_while_the_table_is_full(engine):
    requests = some(Random(3), 400, HALF)
    shown = play(engine, requests, 12_000, hold=[(UP, UP + 400)])
    assert shown["full"][UP + 100 : UP + 400].all() and not shown["repeated"][-1]
    assert shown["accepted"][: UP + 400].sum() <= 16
    agrees(answers(shown, len(requests)), expected(requests))


def test_late_answer_is_missed_after_twice_the_round_trips_before(engine):
    """They take about 55 cycles; the longest time-out is 512."""
    requests = [(0, n % 20, 0, 0) for n in range(250)]
    begin = 12_000
    shown = play(engine, requests, 26_000, blocking=1, hold=[(begin, begin + 300)])
    repeated = np.flatnonzero(shown["repeated"])[0]
    assert begin < repeated < begin + 200 and shown["repeated"][-1] == 1 == shown["stale"][-1]
    agrees(answers(shown, len(requests)), expected(requests))


def test_answers_after_a_timeout_are_ignored(engine):
    requests = some(Random(4), 400, 20)
    shown = play(engine, requests, 40_000, hold=[(UP + n, UP + n + 700) for n in range(0, 9000, 1500)])
    assert shown["repeated"][-1] > 20 and shown["stale"][-1] > 10 and not shown["failed"].any()
    agrees(answers(shown, len(requests)), expected(requests))


def test_long_stalled_bus_only_delays_requests(engine):
    requests = some(Random(5), 200, 20)
    shown = play(engine, requests, 30_000, stall=[(UP, UP + 1300)])
    assert shown["repeated"][-1] > 8
    agrees(answers(shown, len(requests)), expected(requests))
