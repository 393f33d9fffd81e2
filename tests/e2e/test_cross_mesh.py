"""Three satellites of one master, each with links to both others: a mesh beside the tree."""

from pathlib import Path

import pytest

from tests.support.boards import MEMORY_MESH
from tests.support.databases import memories
from tests.support.gateware import built, database

EXPERIMENT = Path(__file__).with_name("experiments") / "cross_mesh.py"
BOARDS = {"b1": 1, "b2": 2, "b3": 3}
WORDS = 256


@pytest.mark.long
def test_three_boards_copy_to_each_other_at_once_without_the_master(kairos, tmp_path):
    """The gateware of the boards takes minutes to build."""
    built("memory_star", "peer")
    (tmp_path / "system.toml").write_text(MEMORY_MESH)
    devices = database("memory_star", tmp_path)
    devices.write_text(devices.read_text() + memories(tmp_path / "system.toml", BOARDS))
    done = kairos("run", EXPERIMENT, device_db=devices)
    totals = [sum(1000 * other * WORDS + sum(range(WORDS)) for other in range(1, 4) if other != n) for n in range(1, 4)]
    printed = 3 * "True True\n" + f"{totals[0]} {totals[1]} {totals[2]}\n"
    assert done.stdout.startswith(printed) and done.returncode == 0, done.stdout + done.stderr
