"""Loads and stores in a ring of boards, verilated: all boards access all others' memories at once, and while a cable is
lost they go the other way round."""

from random import Random

import numpy as np
import pytest

from kairos_gateware.figures.place import root
from kairos_gateware.link.remote.test_forward import ASKED, UP, agrees, answers, expected, offer, some
from kairos_gateware.link.remote.words import DONE, UNREACHABLE
from kairos_gateware.testbenches.ring import RingBoards
from kairos_gateware.verilated.lockstep import build_lockstep

pytestmark = pytest.mark.long
SIZE = 4
WHOLE = 2**SIZE - 1
NAMES = [f"board{n}" for n in range(SIZE)]


@pytest.fixture(scope="module")
def engine():
    dut = RingBoards(SIZE)
    inputs, outputs = {"plugged": dut.plugged}, {"joined": dut.joined, "settled": dut.settled}
    for name, board in zip(NAMES, dut.boards, strict=True):
        inputs |= {f"{name}_{field}": getattr(board, field) for field in ("offer", "tag", *ASKED)}
        outputs |= {f"{name}_{field}": getattr(board.answer, field) for field in ("valid", "tag", "status", "data")}
        outputs |= {f"{name}_idle": board.idle, f"{name}_repeated": board.repeated}
    return build_lockstep(root() / "ring_bench", dut, inputs, outputs)


def play(engine, requests, cycles, cuts=()):
    """requests: of each board. cuts: (cable, from, to)."""
    rows = np.zeros(cycles, engine.inputs)
    rows["plugged"] = WHOLE
    for cable, begin, end in cuts:
        rows["plugged"][begin:end] &= WHOLE & ~(1 << cable)
    for name, asked in zip(NAMES, requests, strict=True):
        offer(rows, name, asked)
    shown = engine.play(rows)
    assert shown["joined"][UP - 1] or cuts
    assert shown["settled"][-1] and all(shown[f"{name}_idle"][-1] for name in NAMES)
    return shown


def all_to_all(seed, count=500):
    """Requests of each board to all boards; each has places of its own in every memory."""
    random = Random(seed)
    ways = [(1, board) for board in range(SIZE)]
    return [
        [(write, address + 32 * n, *rest) for write, address, *rest in some(random, count, ways)] for n in range(SIZE)
    ]


def check(shown, requests):
    for name, asked in zip(NAMES, requests, strict=True):
        agrees(answers(shown, name, len(asked)), expected(asked, None))


def test_all_boards_access_all_memories_at_once(engine):
    requests = all_to_all(4)
    shown = play(engine, requests, 25_000)
    check(shown, requests)
    assert not any(shown[f"{name}_repeated"][-1] for name in NAMES), "nothing is dropped in a whole ring"


@pytest.mark.parametrize("cable", range(SIZE))
def test_accesses_go_the_other_way_round_while_a_cable_is_lost(engine, cable):
    requests = all_to_all(5 + cable)
    lost = UP + 800
    shown = play(engine, requests, 40_000, [(cable, lost, 40_000)])
    check(shown, requests)
    repeated = [shown[f"{name}_repeated"] for name in NAMES]
    assert sum(int(count[-1]) for count in repeated) > 0
    assert all(count[-1] == count[lost + 4000] for count in repeated), "once the loss is known nothing is dropped"


def test_cables_lost_in_turn_fail_no_access(engine):
    """Each for less than the four attempts of an access take."""
    random = Random(9)
    cuts, begin = [], UP + 200
    while begin < 12_000:
        cuts.append((random.randrange(SIZE), begin, begin + random.randrange(1, 500)))
        begin += 1500
    requests = all_to_all(10)
    check(play(engine, requests, 40_000, cuts), requests)


def test_boards_cut_off_by_two_lost_cables_are_unreachable_and_all_others_answer(engine):
    """Boards 1 and 2 on one side, 3 and 0 on the other."""
    requests = all_to_all(11, 60)
    shown = play(engine, requests, 40_000, [(0, UP - 300, 40_000), (2, UP - 300, 40_000)])
    sides = [(0, 3), (1, 2), (1, 2), (0, 3)]
    for name, asked, side in zip(NAMES, requests, sides, strict=True):
        statuses = [status for status, _ in answers(shown, name, len(asked))]
        assert statuses == [DONE if request[-1] in side else UNREACHABLE for request in asked]
