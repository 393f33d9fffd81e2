"""Lists of pieces for the memory of another board: all arrive, on a good line and one with bit errors, and an error
names the first that did not."""

import pytest

from tests.support.boards import pair_description
from tests.support.command import Kairos
from tests.support.databases import REMOTE_MEMORY, two_boards
from tests.support.gateware import built
from tests.support.paths import ROOT

EXPERIMENT = ROOT / "tests/e2e/experiments/remote_pieces.py"


@pytest.mark.parametrize("bit_errors", [0.0, pytest.param(1e-5, marks=pytest.mark.long)])
def test_scattered_pieces_arrive_in_order(tmp_path, bit_errors):
    built("memory", "store")
    (tmp_path / "system.toml").write_text(pair_description("memory", "store") + f"bit_errors = {bit_errors}\n")
    database = tmp_path / "device_db.py"
    database.write_text(two_boards(f"emulator://{tmp_path / 'system.toml'}") + REMOTE_MEMORY)
    done = Kairos(tmp_path)("run", EXPERIMENT, "--no-table", device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = "wrong 0\nrefused\nbefore it 7\nmalformed\nafter it 8\nregions refused 2\none range True\n"
    assert lines in done.stdout
