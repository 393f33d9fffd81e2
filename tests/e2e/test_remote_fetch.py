"""What a kernel fetches from another board by the engine arrives, on a good line and one with bit errors; what is not
exported is refused and changes nothing."""

import pytest

from tests.support.boards import pair_description
from tests.support.command import Kairos
from tests.support.databases import REMOTE_MEMORY, two_boards
from tests.support.gateware import built
from tests.support.paths import ROOT

EXPERIMENT = ROOT / "tests/e2e/experiments/remote_fetch.py"


@pytest.mark.parametrize("bit_errors", [0.0, pytest.param(1e-5, marks=pytest.mark.long)])
def test_fetched_memory_is_that_of_the_other_board(tmp_path, bit_errors):
    built("memory", "store")
    (tmp_path / "system.toml").write_text(pair_description("memory", "store") + f"bit_errors = {bit_errors}\n")
    database = tmp_path / "device_db.py"
    database.write_text(two_boards(f"emulator://{tmp_path / 'system.toml'}") + REMOTE_MEMORY)
    done = Kairos(tmp_path)("run", EXPERIMENT, "--no-table", device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = "wrong 0\nwrong pieces 0\nrefused 5 7\nnot writable\nafter it 400000 400001\n"
    assert shown in done.stdout
