"""Loads and stores of boards of a tree with links beside it, verilated: all boards access all others' memories, by the
links beside the tree also those behind their ends, and by the tree while these are lost."""

from random import Random

import numpy as np
import pytest

from kairos_gateware.figures.place import root
from kairos_gateware.link.remote.test_forward import agrees, answers, expected, offer, some
from kairos_gateware.link.remote.words import DONE, UNREACHABLE
from kairos_gateware.testbenches.crossed import CrossedBoards
from kairos_gateware.verilated.lockstep import build_lockstep

BEHIND = [[1, 2], [], [1], []]
"""Board 0 has 1 and 2; 2 has 3."""
CROSSES = [(1, 2), (0, 3)]
TREE, CROSSED = 3, len(CROSSES)
"""Cables of each kind."""
WHOLE = 2 ** (TREE + CROSSED) - 1
TO_MASTER = 0b00011
"""The cables from the master to 1 and to 2."""
SIZE = len(BEHIND)
UP = 1200
NAMES = [f"board{n}" for n in range(SIZE)]
ASKED = ("write", "address", "data", "strobes", "destination")


@pytest.fixture(scope="module")
def engine():
    dut = CrossedBoards(BEHIND, CROSSES)
    assert dut.cables == [(0, 1), (0, 2), (2, 3), *CROSSES]
    inputs, outputs = {"plugged": dut.plugged}, {"joined": dut.joined, "settled": dut.settled}
    for name, board in zip(NAMES, dut.boards, strict=True):
        inputs |= {f"{name}_{field}": getattr(board, field) for field in ("offer", "tag", *ASKED)}
        outputs |= {f"{name}_{field}": getattr(board.answer, field) for field in ("valid", "tag", "status", "data")}
        outputs |= {f"{name}_idle": board.idle, f"{name}_repeated": board.repeated}
    return build_lockstep(root() / "crossed_bench", dut, inputs, outputs)


def play(engine, requests, cycles, cuts=()):
    """requests: of each board, with its destination, from cycle `UP` on. cuts: (cables, from, to)."""
    rows = np.zeros(cycles, engine.inputs)
    rows["plugged"] = WHOLE
    for cables, begin, end in cuts:
        rows["plugged"][begin:end] &= WHOLE & ~cables
    for name, asked in zip(NAMES, requests, strict=True):
        offer(rows, name, asked, UP, ASKED)
    shown = engine.play(rows)
    assert shown["joined"][UP - 1] or cuts
    assert shown["settled"][-1]
    return shown


def all_to_all(seed, count=400, boards=range(SIZE)):
    """Requests of each board to these others; each has places of its own in every memory."""
    random = Random(seed)
    found = []
    for n in range(SIZE):
        ways = [(1, board) for board in boards if board != n]
        asked = some(random, count if n in boards else 0, ways)
        found.append([(*words[:1], words[1] + 32 * n, *words[2:4], words[5]) for words in asked])
    return found


def agree(shown, requests):
    for name, asked in zip(NAMES, requests, strict=True):
        wanted = expected([(*words[:4], 1, words[4]) for words in asked], None)
        agrees(answers(shown, name, len(asked)), wanted)


def repeated(shown):
    return sum(int(shown[f"{name}_repeated"][-1]) for name in NAMES)


def test_all_boards_access_all_memories_at_once(engine):
    requests = all_to_all(1)
    shown = play(engine, requests, 30_000)
    agree(shown, requests)
    assert repeated(shown) == 0, "nothing is dropped while all links are up"


@pytest.mark.parametrize("lost", range(1, 2**CROSSED))
def test_lost_links_beside_the_tree_are_replaced_by_the_tree(engine, lost):
    requests = all_to_all(2 + lost)
    shown = play(engine, requests, 30_000, [(lost << TREE, UP - 300, 30_000)])
    agree(shown, requests)
    assert repeated(shown) == 0, "the loss is known when they begin"


def test_boards_behind_the_far_end_of_a_link_beside_the_tree_are_reached_without_the_master(engine):
    """1 reaches 3 across its link to 2, and 3 reaches 1 likewise."""
    requests = all_to_all(6, boards=(1, 2, 3))
    shown = play(engine, requests, 30_000, [(TO_MASTER, UP - 300, 30_000)])
    agree(shown, requests)
    assert repeated(shown) == 0


def test_boards_above_the_end_of_a_link_beside_the_tree_use_it_on_the_way_down(engine):
    """0 reaches 3 by its own link; 1 does by way of 0, while its own is lost and so is the cable from 2 to 3. Board 3
    asks by its uplink, if at all, and is answered by the other link."""
    requests = [[] for _ in range(SIZE)]
    for board in (0, 1):
        requests[board] = all_to_all(7, 100, boards=(board, 3))[board]
    shown = play(engine, requests, 30_000, [(0b01100, UP - 300, 30_000)])
    agree(shown, requests)
    requests = [[], [], [], all_to_all(8, 100, boards=(1, 3))[3]]
    shown = play(engine, requests, 30_000, [(0b01000, UP - 300, 30_000)])
    agree(shown, requests)
    assert repeated(shown) == 0, "3 asks 1 by 2 and 0, and 0 sends the answer across"


def test_links_beside_the_tree_lost_and_back_again_fail_no_access(engine):
    """Each for less than the attempts of an access take."""
    random = Random(9)
    cuts, begin = [], UP + 100
    while begin < 14_000:
        cuts.append((1 << random.randrange(TREE + CROSSED), begin, begin + random.randrange(1, 400)))
        begin += 1500
    requests = all_to_all(10, 600)
    shown = play(engine, requests, 60_000, cuts)
    agree(shown, requests)
    assert repeated(shown) > 5


def test_board_with_all_links_lost_is_unreachable_and_all_others_answer(engine):
    requests = all_to_all(11, 60)
    shown = play(engine, requests, 60_000, [(0b10100, UP - 300, 60_000)])
    for n, (name, asked) in enumerate(zip(NAMES, requests, strict=True)):
        statuses = [status for status, _ in answers(shown, name, len(asked))]
        assert statuses == [UNREACHABLE if 3 in (n, request[-1]) else DONE for request in asked]
