"""A block in the logic of a board that a region of its remote memory shows: kernels of all boards use it."""

from pathlib import Path

from tests.e2e.test_remote_chain import DEVICES, SYSTEM
from tests.support.gateware import built, database

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_block.py"
ADDERS = """
for name, address in [("adder", 0), ("own_adder", 0x4100_0000)]:
    device_db[name] = {
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteAdder",
        "arguments": {"destination": 2, "address": address},
    }
"""
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
"""


def test_block_of_a_board_is_used_by_kernels_of_all_boards(kairos, tmp_path):
    built("span", "reach", "store")
    (tmp_path / "system.toml").write_text(SYSTEM)
    devices = database("span", tmp_path)
    host = f"emulator://{tmp_path / 'system.toml'}"
    devices.write_text(devices.read_text() + DEVICES.format(host=host) + ADDERS)
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "destination 2 does not export 0x00001000 of its memory for this access" in done.stderr, done.stderr
