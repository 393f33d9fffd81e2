"""Kernels load and store words of another board's memory with ordinary instructions; what fails is an exception."""

from pathlib import Path

from tests.support.boards import MEMORY_PAIR
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

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
DEVICES = """
device_db["core"]["arguments"]["host"] = {host!r}
for name, destination in [("master", 0), ("satellite", 1)]:
    device_db[name] = {{
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteMemory",
        "arguments": {{"destination": destination}},
    }}
"""


def test_kernels_of_both_boards_and_what_they_are_refused(kairos, tmp_path):
    built("memory", "store")
    (tmp_path / "system.toml").write_text(MEMORY_PAIR)
    pair = EXAMPLES / "two_boards_device_db.py"
    database = tmp_path / "device_db.py"
    text = pair.read_text().replace("__file__", repr(str(pair)))
    database.write_text(text + DEVICES.format(host=f"emulator://{tmp_path / 'system.toml'}"))
    done = kairos("run", EXPERIMENT, device_db=database)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "RemoteMemoryError" in done.stderr
    assert "destination 1 does not export 0x0fe02000 of its memory for this" in done.stderr, done.stderr
