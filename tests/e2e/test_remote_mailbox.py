"""Kernels exchange messages through cached memory, which another board stores coherently."""

from pathlib import Path

from tests.support.boards import MEMORY_PAIR
from tests.support.databases import REMOTE_MEMORY, two_boards
from tests.support.gateware import built

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_mailbox.py"
PRINTED = """\
before the export refused
a store done
a copy refused
a load 1
answered True
a store of what may be read refused
still 40
"""


def test_kernels_exchange_messages_while_both_drive_outputs(kairos, tmp_path):
    built("memory", "store")
    system = tmp_path / "system.toml"
    system.write_text(MEMORY_PAIR)
    database = tmp_path / "device_db.py"
    database.write_text(two_boards(f"emulator://{system}") + REMOTE_MEMORY)
    done = kairos("run", EXPERIMENT, device_db=database)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 0
