"""Memory of a board behind another one: loads and stores are forwarded by the board between."""

from pathlib import Path

import pytest

from tests.support.board_registers import DONE, REFUSED, Board
from tests.support.boards import MEMORY_CHAIN, System
from tests.support.databases import chain_memory
from tests.support.gateware import built, database

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_chain.py"
PRINTED = """\
before refused
10 11 12
beyond refused
list True
a load takes True
99 41 42
pointers 42
copied True
to the neighbour True
from afar True 1
a copy refused
a copy over a lost link
cut refused
before it done
back 12
"""


@pytest.mark.long
def test_loads_and_stores_pass_through_a_board(kairos, tmp_path):
    """The gateware of three boards takes minutes to build."""
    built("span", "reach", "store")
    (tmp_path / "system.toml").write_text(MEMORY_CHAIN)
    devices = database("span", tmp_path)
    devices.write_text(devices.read_text() + chain_memory(tmp_path / "system.toml"))
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "destination 2 does not export 0x0fe02000 of its memory for this access" in done.stderr, done.stderr


MEMORY = 0x0FF8_0000
"""Memory that the firmware does not use: `STREAM` of src/contracts/memory.toml."""


@pytest.mark.long
def test_comms_cores_access_memory_behind_other_boards(tmp_path):
    """The first and the last board each access words of the other, through one whose own words are
    unaffected."""
    built("span", "reach", "store")
    (tmp_path / "system.toml").write_text(MEMORY_CHAIN)
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged("destination 1: Kairos satellite")
        device.until_logged("destination 2: Kairos satellite")
        boards = [Board(device, destination) for destination in range(3)]
        first, last = boards[0], boards[2]
        for board in boards:
            board.export(MEMORY, 0x1000, 3)
        assert first.store(MEMORY, 1) == [DONE]
        for asker, number in [(first, 2), (last, 0)]:
            asker.name(number)
            assert asker.store(MEMORY, 10 + number) == [DONE] and asker.load(MEMORY) == (DONE, 10 + number)
            assert asker.load(MEMORY + 0x1000)[0] == REFUSED
        first.name(None)
        assert first.load(MEMORY) == (DONE, 1)
        last.name(None)
        boards[1].batch(("exports1_first", MEMORY), ("exports1_last", MEMORY + 7), ("exports1_rights", 1))
        boards[1].batch(("exports1_set", 1))
        assert last.load(MEMORY) == (DONE, 1)
    finally:
        device.close()
