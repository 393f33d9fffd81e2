"""Bulk transfers through a board, verilated: all boards of a chain copy to each other while lines
are cut, beside other streams on all links."""

from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from migen import *

from kairos_gateware.contracts.remote import COPY_DESCRIPTORS
from kairos_gateware.figures.place import root
from kairos_gateware.link.bulk.forward import BulkForwarding
from kairos_gateware.link.bulk.words import ANSWER, HEAD, ID_BITS, KEY_BITS, SLOTS, STATUS_BITS
from kairos_gateware.link.remote.words import REFUSED, UNREACHABLE
from kairos_gateware.link.switch.routes import UP
from kairos_gateware.testbenches.bulk_chain import (
    FIRST,
    HALF,
    LAST,
    LOWER,
    NEAR,
    QUARTER,
    READY,
    SOURCE,
    UPPER,
    chain_engine,
    contents,
    play,
    to,
)
from kairos_gateware.testbenches.simulator import run_simulation


@pytest.fixture(scope="module")
def engine():
    return chain_engine(root() / "bulk_chain_bench")


def scattered(random, part, flags, most=300):
    """Copies to distinct places in a quarter of a memory; `part`: the first or the second quarter
    of its second half."""
    copies, at = [], HALF + part * QUARTER
    end = at + QUARTER
    while at + most < end:
        size = random.choice([1, 64, 65, random.randrange(1, most)])
        copies.append((random.randrange(SOURCE, HALF - size), size, at, flags))
        at += size + random.randrange(3)
    return copies


def everything(seed):
    """(copies by board, target memory of each of their descriptors): all possible transfers at
    once."""
    random, copies, targets = Random(seed), {}, {}
    for board, ways in [
        (FIRST, [(0, to(2), LAST), (0, to(1), UPPER)]),
        (UPPER, [(0, NEAR, FIRST)]),
        (LOWER, [(1, NEAR, LAST)]),
        (LAST, [(1, to(0), FIRST), (0, to(1), LOWER)]),
    ]:
        some = [(copy, target) for part, flags, target in ways for copy in scattered(random, part, flags)]
        random.shuffle(some)
        copies[board], targets[board] = [list(part) for part in zip(*some[: COPY_DESCRIPTORS - 1], strict=True)]
    return copies, targets


def check(shown, memories, copies, targets, cut=False):
    wanted = [[0] * HALF for _ in range(4)]
    for board, some in copies.items():
        source = contents(board)
        for (here, count, there, _), target in zip(some, targets[board], strict=True):
            wanted[target][there - HALF : there - HALF + count] = source[here - SOURCE :][:count]
        assert shown["completed"][-1, board] == len(some) and not shown["halted"][-1, board]
        assert shown["done"][:, board].sum() == len(some)
    assert memories == wanted
    assert shown["idle"][-1].all() and shown["settled"][-1].all() and shown["relayed"][-1].all()
    assert not shown["wrong"][-1].any() and (cut or not shown["gaps"][-1].any())
    assert (shown["waited"][-1] <= 1).all()


@pytest.mark.long
def test_simultaneous_copies_between_all_boards_arrive(engine):
    copies, targets = everything(1)
    shown, memories = play(engine, copies, 30_000)
    check(shown, memories, copies, targets)
    assert not shown["broken"][-1].any()


def test_copies_survive_bit_errors_and_cuts_on_the_route(engine):
    copies, targets = everything(2)
    random = Random(7)
    cuts = [(random.randrange(2), begin, begin + random.randrange(1, 200)) for begin in range(300, 9000, 800)]
    shown, memories = play(engine, copies, 40_000, cuts, 1e-5)
    check(shown, memories, copies, targets, cut=True)
    assert shown["repeated"][-1, FIRST] and shown["repeated"][-1, LAST]


@pytest.mark.parametrize("seed, flips", [(3, 2e-4), (4, 2e-4), pytest.param(5, 3e-4, marks=pytest.mark.long)])
def test_copies_survive_lines_that_spoil_many_packets(engine, seed, flips):
    """As many of these short packets as of long ones at 1e-4. They are sent again as long as the other board
    answers."""
    copies, targets = everything(seed)
    shown, memories = play(engine, copies, 120_000, flips=flips)
    check(shown, memories, copies, targets, cut=True)
    assert shown["broken"][-1].sum() > 50


def check_fetches(shown, memories):
    """The last board has copied to the first half of what board 0 exports; both ends then fetch."""
    assert shown["completed"][-1, [FIRST, LAST]].tolist() == [4, 3] and not shown["halted"][-1].any()
    assert shown["idle"][-1].all() and shown["settled"][-1].all() and shown["relayed"][-1].all()
    first, last = contents(FIRST), contents(LAST)
    assert memories[FIRST][:QUARTER] == last[:QUARTER] and memories[LAST][:QUARTER] == first[:QUARTER]
    assert memories[FIRST][QUARTER : QUARTER + 700] == first[:700]
    assert memories[LAST][QUARTER : QUARTER + 700] == last[:700]


def play_fetches(engine, cycles, *faults):
    """Boards 0 and 2 copy to each other, then fetch that back, at the same time."""
    back = (HALF + QUARTER, 700, HALF, to(2) | 2)
    copies = {
        FIRST: [(SOURCE, QUARTER, HALF, to(2)), back, back, back],
        LAST: [(SOURCE, QUARTER, HALF, to(0)), *[(HALF + QUARTER, 700, HALF, to(0) | 2)] * 2],
    }
    return play(engine, copies, cycles, *faults, posts=[(0, 1), (cycles // 2, 4)])


def test_fetches_through_a_board_bring_the_copied_words(engine):
    check_fetches(*play_fetches(engine, 12_000))


@pytest.mark.parametrize("flips", [1e-5, 2e-4])
def test_fetches_through_a_board_survive_bit_errors_and_cuts(engine, flips):
    random = Random(8)
    cuts = [(random.randrange(2), begin, begin + random.randrange(1, 200)) for begin in range(300, 40_000, 2100)]
    shown, memories = play_fetches(engine, 80_000, cuts if flips < 1e-4 else [], flips)
    check_fetches(shown, memories)
    assert shown["broken"][-1].sum() > 5


def test_forwarded_long_copy_is_as_fast_as_a_direct_one(engine):
    ends = []
    for flags in (to(2), NEAR):
        copies = {FIRST: [(SOURCE, 1900, HALF, flags)]}
        shown, _ = play(engine, copies, 4000, offering=0)
        ends.append(int(np.argmax(shown["done"][:, FIRST])) - READY)
    assert ends[0] - ends[1] < 200, "a packet's length, and the second line, there and back"


@pytest.mark.parametrize(
    "flags, there, reason",
    [(to(2), HALF - 1, REFUSED), (to(7), HALF, UNREACHABLE), (to(2), HALF, UNREACHABLE)],
    ids=["not exported", "no such board", "away"],
)
def test_failed_copy_is_reported_and_copies_of_others_are_completed(engine, flags, there, reason):
    copies = {FIRST: [(SOURCE, 10, there, flags)], LAST: [(SOURCE, 300, HALF, to(1))] * 2}
    cuts = [(1, 0, 20_000)] if flags == to(2) and reason == UNREACHABLE else []
    shown, memories = play(engine, copies, 40_000, cuts, clear=30_000)
    before = READY + 29_000
    assert shown["halted"][before, FIRST] and shown["reason"][before, FIRST] == reason
    assert not shown["halted"][-1, FIRST] and not any(memories[FIRST])
    if not cuts:
        assert shown["completed"][before, LAST] == 2 and memories[LOWER][:300] == contents(LAST)[:300]


def line():
    """The ports of a `BulkLine` that `BulkForwarding` uses, to be driven by hand."""
    packet = Record([("valid", 1), ("ready", 1), ("head", 1), *HEAD, ("word", 64), ("spoiled", 1)])
    names = ("head", "data", "end", "good", "answer")
    receiving = {name: Signal(name=f"receiving_{name}") for name in names}
    receiving |= {"head_of": Record(HEAD), "word": Signal(64)}
    receiving |= {"answer_key": Signal(KEY_BITS), "answer_status": Signal(STATUS_BITS)}
    sending = SimpleNamespace(packet=packet, answer=Record([("valid", 1), ("ready", 1), *ANSWER]))
    return SimpleNamespace(sending=sending, receiving=SimpleNamespace(**receiving))


def test_stalled_line_blocks_only_its_own_packets():
    """Board 1 of a tree has more packets and answers for board 2 than fit the buffers; those for
    board 3 pass them."""
    lines = {port: line() for port in (UP, UP + 1, UP + 2)}
    dut, came = BulkForwarding(lines, 1, [1, 1]), {"packet": [], "answer": []}

    def come():
        r = lines[UP].receiving
        for destination in [2] * (SLOTS + 1) + [3]:
            yield r.head_of.far.eq(1)
            yield r.head_of.destination.eq(destination)
            yield r.head_of.length.eq(1)
            steps = [(r.head, 0), (r.data, 10 * destination), (r.data, 10 * destination + 1), (r.end, 0)]
            for signal, word in steps:
                yield signal.eq(1)
                yield r.word.eq(word)
                yield r.good.eq(1)
                yield
                yield signal.eq(0)
            yield r.answer_key.eq(destination << ID_BITS)
            yield r.answer.eq(1)
            yield
            yield r.answer.eq(0)
        for _ in range(20):
            yield

    @passive
    def take(what):
        source = getattr(lines[UP + 2].sending, what)
        yield source.ready.eq(1)
        while True:
            yield
            if (yield source.valid):
                came[what].append((yield source.key if what == "answer" else source.word))

    run_simulation(dut, [come(), take("packet"), take("answer")])
    assert came["packet"][1:] == [30, 31] and came["answer"] == [3 << ID_BITS]
