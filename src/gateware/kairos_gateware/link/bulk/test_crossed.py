"""Copies and fetches in a tree with a link beside it, verilated: they go across it also to boards behind its ends,
their answers and data come by any link, and by the tree while it is lost."""

from random import Random

import pytest

from kairos_gateware.figures.place import root
from kairos_gateware.testbenches.bulk import BulkCrossed
from kairos_gateware.testbenches.bulk_chain import HALF, QUARTER, READY, SOURCE, contents, play, to
from kairos_gateware.verilated.lockstep import build_lockstep

ENDS = {name: n for n, name in enumerate(BulkCrossed.ENDS)}
TO_MASTER, ACROSS = 1, 3
"""Lines: between 0 and 2, and the one beside the tree."""
FETCH = 2


@pytest.fixture(scope="module")
def engine():
    dut = BulkCrossed()
    return build_lockstep(root() / "bulk_crossed_bench", dut, dut.inputs, dut.outputs)


def done(shown, ends):
    """All copies of these ends are complete, and nothing is left anywhere."""
    for name, count in ends.items():
        assert shown["completed"][-1, ENDS[name]] == count and not shown["halted"][-1, ENDS[name]], name
    assert shown["idle"][-1].all() and shown["settled"][-1].all() and shown["relayed"][-1].all()


def start(name, at=0, count=300):
    return contents(ENDS[name])[at : at + count]


def test_answers_by_another_link_reach_the_engine_that_waits(engine):
    """Board 3 copies by its uplink to 1, whose answers board 0 sends across; and at the same time across to 0 by its
    other engine, whose packets have the same numbers."""
    copies = {
        ENDS["3 to 2"]: [(SOURCE, 300, HALF, to(1)), (SOURCE + 300, 300, HALF + 300, to(1))],
        ENDS["3 to 0"]: [(SOURCE, 300, HALF, to(0)), (SOURCE + 300, 300, HALF + 300, to(0))],
    }
    shown, memories = play(engine, copies, 12_000)
    done(shown, {"3 to 2": 2, "3 to 0": 2})
    assert memories[ENDS["1"]][:600] == start("3 to 2", 0, 600)
    assert memories[ENDS["0 to 3"]][:600] == start("3 to 0", 0, 600)
    assert not shown["repeated"][-1].any()


def test_fetched_data_that_arrive_by_another_link_reach_the_waiting_engine(engine):
    """What board 3 fetches from 1 by its uplink comes across; what 1 fetches from 3 goes and comes across."""
    out = {ENDS["1"]: [(SOURCE, 300, HALF, to(3))], ENDS["3 to 2"]: [(SOURCE, 300, HALF, to(1))]}
    back = {
        ENDS["1"]: (HALF + QUARTER, 300, HALF, to(3) | FETCH),
        ENDS["3 to 2"]: (HALF + QUARTER, 300, HALF, to(1) | FETCH),
    }
    copies = {end: [*some, *[back[end]] * 3] for end, some in out.items()}
    shown, memories = play(engine, copies, 16_000, posts=[(0, 1), (6000, 4)])
    done(shown, {"1": 4, "3 to 2": 4})
    assert memories[ENDS["3 to 0"]][:300] == start("1") and memories[ENDS["1"]][:300] == start("3 to 2")
    assert memories[ENDS["1"]][QUARTER : QUARTER + 300] == start("1")
    assert memories[ENDS["3 to 0"]][QUARTER : QUARTER + 300] == start("3 to 2"), "across, although asked by the uplink"
    assert not shown["repeated"][-1].any()


def test_copies_go_by_the_tree_while_the_link_beside_it_is_lost_and_across_while_the_tree_is(engine):
    copies = {ENDS["1"]: [(SOURCE, 300, HALF, to(3))]}
    shown, memories = play(engine, copies, 8000, [(ACROSS, 0, 8000)])
    done(shown, {"1": 1})
    assert memories[ENDS["3 to 2"]][:300] == start("1")
    shown, memories = play(engine, copies, 8000, [(TO_MASTER, 0, 8000)])
    done(shown, {"1": 1})
    assert memories[ENDS["3 to 0"]][:300] == start("1")


def test_all_boards_copy_and_fetch_at_once_while_lines_are_cut_and_spoil_packets(engine):
    """Each end has places of its own in all memories, for six copies, of which it also fetches some back, again and
    again."""
    random = Random(5)
    to_all = {"0 to 1": [1], "1": [0, 2, 3], "2 to 0": [0, 1], "2 to 3": [3], "3 to 2": [1, 2], "3 to 0": [0]}
    copies = {}
    for k, (name, targets) in enumerate(to_all.items()):
        copies[ENDS[name]] = some = []
        for n in range(6):
            count, place = random.randrange(1, 50), HALF + 50 * (6 * k + n)
            some.append((SOURCE + random.randrange(900), count, place, to(random.choice(targets))))
            if n % 2:
                some.append((place, count, place, to(random.choice(targets)) | FETCH))
    cuts = [(random.randrange(4), begin, begin + random.randrange(1, 200)) for begin in range(100, 20_000, 500)]
    shown, memories = play(engine, {end: 6 * some for end, some in copies.items()}, 80_000, cuts, 1e-4)
    done(shown, dict.fromkeys(to_all, 54))
    assert shown["repeated"][-1].sum() > 5 and shown["up"][READY - 1].all()
    for end, some in copies.items():
        for here, count, there, flags in some:
            if flags & FETCH:
                continue
            arrived = [memories[n] for name, n in ENDS.items() if name.startswith(str(flags >> 8 & 7))]
            for word, at in zip(contents(end)[here - SOURCE :][:count], range(there - HALF, HALF), strict=False):
                assert any(memory[at] == word for memory in arrived)
