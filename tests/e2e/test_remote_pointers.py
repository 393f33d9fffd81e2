"""Kernels load and store words of another board's memory with ordinary instructions; failures are
exceptions."""

from pathlib import Path

from tests.support.boards import MEMORY_PAIR
from tests.support.databases import REMOTE_MEMORY, two_boards
from tests.support.gateware import built

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_memory.py"
PRINTED = """\
nothing is exported refused
a load done
a store refused
a store done
beyond refused
from the master 123456
from the satellite -5
list True
a load takes True
copied True
a copy refused
another 4
to the master 42 41
refused on the satellite
a load of a lost link
a store of a lost link
back 77
"""


def test_kernels_of_both_boards_access_exported_memory_only(kairos, tmp_path):
    built("memory", "store")
    system = tmp_path / "system.toml"
    system.write_text(MEMORY_PAIR)
    database = tmp_path / "device_db.py"
    database.write_text(two_boards(f"emulator://{system}") + REMOTE_MEMORY)
    done = kairos("run", EXPERIMENT, device_db=database)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "RemoteMemoryError" in done.stderr
    assert "destination 1 does not export 0x0fe02000 of its memory for this access" in done.stderr, done.stderr
