"""Loads and stores through a board, verilated: each board's memory behaves as if directly
connected, even when lines are cut."""

from random import Random

import numpy as np
import pytest

from kairos_gateware.figures.place import root
from kairos_gateware.link.remote.words import DONE, UNREACHABLE
from kairos_gateware.testbenches.forward import ForwardChain
from kairos_gateware.verilated.lockstep import build_lockstep

UP = 900
WORDS = 24
ASKED = ("write", "address", "data", "strobes", "far", "destination")


@pytest.fixture(scope="module")
def engine():
    dut = ForwardChain()
    inputs = {f"plugged{n}": signal for n, signal in enumerate(dut.plugged)}
    outputs = {"joined": dut.joined}
    for name, board in [("first", dut.first), ("last", dut.last)]:
        inputs |= {f"{name}_{field}": getattr(board, field) for field in ("offer", "tag", *ASKED)}
        outputs |= {f"{name}_{field}": getattr(board.answer, field) for field in ("valid", "tag", "status", "data")}
        outputs |= {f"{name}_idle": board.idle, f"{name}_repeated": board.repeated}
    return build_lockstep(root() / "forward_bench", dut, inputs, outputs)


def offer(rows, board, asked, begin=UP, names=ASKED):
    """Has a board ask for these, one in each row from `begin` on."""
    for n, request in enumerate(asked):
        row = rows[begin + n]
        row[f"{board}_offer"], row[f"{board}_tag"] = 1, n % 256
        for field, value in zip(names, request, strict=True):
            row[f"{board}_{field}"] = value


def play(engine, requests, cycles, cuts=()):
    """requests: by board, (write, address, data, strobes, far, destination). cuts: (line, from,
    to)."""
    rows = np.zeros(cycles, engine.inputs)
    rows["plugged0"] = rows["plugged1"] = 1
    for line, begin, end in cuts:
        rows[f"plugged{line}"][begin:end] = 0
    for board, some in requests.items():
        offer(rows, board, some)
    shown = engine.play(rows)
    assert shown["joined"][UP - 1] and shown["first_idle"][-1] and shown["last_idle"][-1]
    return shown


def answers(shown, board, count):
    """(status, data) of each request, by its index."""
    found, laps = [None] * count, {}
    for cycle in np.flatnonzero(shown[f"{board}_valid"]):
        tag = int(shown[f"{board}_tag"][cycle])
        n = tag + 256 * laps.get(tag, 0)
        assert found[n] is None
        found[n] = (int(shown[f"{board}_status"][cycle]), int(shown[f"{board}_data"][cycle]))
        laps[tag] = laps.get(tag, 0) + 1
    return found


def some(random, count, ways):
    """ways: (far, destination), all equally likely."""
    return [
        (write := int(random.random() < 0.5), random.randrange(WORDS), random.getrandbits(64))
        + (random.choice([255, 255, 0x0F]) if write else 0, *random.choice(ways))
        for _ in range(count)
    ]


def expected(requests, neighbour):
    memories, found = {}, []
    for write, address, data, strobes, far, destination in requests:
        place = (destination if far else neighbour, address)
        if write:
            mask = sum(0xFF << 8 * byte for byte in range(8) if strobes >> byte & 1)
            memories[place] = memories.get(place, 0) & ~mask | data & mask
        found.append((DONE, None if write else memories.get(place, 0)))
    return found


def agrees(found, wanted):
    for (status, data), (status_wanted, data_wanted) in zip(found, wanted, strict=True):
        assert status == status_wanted and (data_wanted is None or data == data_wanted)


BOTH = {"first": [(0, 0), (1, 1), (1, 2)], "last": [(0, 0), (1, 1), (1, 0)]}


@pytest.mark.parametrize("cut", [False, True])
def test_simultaneous_accesses_to_all_memories_agree_with_model(engine, cut):
    random = Random(3)
    requests = {board: some(random, 500, ways) for board, ways in BOTH.items()}
    cuts = [(random.randrange(2), begin, begin + random.randrange(1, 250)) for begin in range(UP + 200, 9000, 900)]
    shown = play(engine, requests, 25_000, cuts if cut else ())
    for board, asked in requests.items():
        assert (shown[f"{board}_repeated"][-1] > 5) == cut
        agrees(answers(shown, board, len(asked)), expected(asked, 1))


def test_request_to_offline_or_unknown_board_fails_in_time(engine):
    """Only requests for it fail, and in time; the middle board keeps answering, and sends nothing back for the board
    that does not exist."""
    asked = [(0, 1, 0, 0, 1, 2), (0, 1, 0, 0, 1, 1), (0, 1, 0, 0, 1, 7), (0, 1, 0, 0, 0, 0)] * 8
    shown = play(engine, {"first": asked}, 20_000, [(1, UP - 1, 15_000)])
    assert [status for status, _ in answers(shown, "first", len(asked))] == [UNREACHABLE, DONE, UNREACHABLE, DONE] * 8
    shown = play(engine, {"first": asked}, 20_000)
    assert [status for status, _ in answers(shown, "first", len(asked))] == [DONE, DONE, UNREACHABLE, DONE] * 8
