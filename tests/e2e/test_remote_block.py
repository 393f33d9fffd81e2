"""A block in the logic of a board that a region of its remote memory shows: kernels of all boards use it."""

from pathlib import Path

from tests.support.boards import MEMORY_CHAIN
from tests.support.databases import chain_memory
from tests.support.gateware import built, database

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_block.py"
PRINTED = """\
beyond 4
not shown refused
sums True
sums True
copied True
from the board between 44
at home 83156 77
no register refused
a store of a sum refused
a copy to sums
a part 41
read only refused
not shown refused
a copy refused
fetched 41
only 42
not for the board between
"""


def test_block_of_a_board_is_used_by_kernels_of_all_boards(kairos, tmp_path):
    built("span", "reach", "store")
    (tmp_path / "system.toml").write_text(MEMORY_CHAIN)
    devices = database("span", tmp_path)
    devices.write_text(devices.read_text() + chain_memory(tmp_path / "system.toml"))
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "the adder takes 1 to 1024 numbers" in done.stderr, done.stderr
