"""Memory of a board behind another one: loads and stores go on through the board between."""

from pathlib import Path

import pytest

from tests.support.gateware import built, database

EXPERIMENT = Path(__file__).with_name("experiments") / "remote_chain.py"
SYSTEM = """
[[board]]
name = "master"
variant = "span"
firmware = "runtime.elf"

[[board]]
name = "relay"
variant = "reach"
firmware = "satman.elf"

[[board]]
name = "satellite"
variant = "store"
firmware = "satman.elf"

[[link]]
from = "master"
to = "relay"
delay_ns = 1000

[[link]]
from = "relay"
to = "satellite"
delay_ns = 400
"""
DEVICES = """
device_db["core"]["arguments"]["host"] = {host!r}
for name, destination in [("master", 0), ("relay", 1), ("satellite", 2), ("nowhere", 9)]:
    device_db[name] = {{
        "type": "local",
        "module": "kairos.coredevice.remote_memory",
        "class": "RemoteMemory",
        "arguments": {{"destination": destination}},
    }}
"""
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
def test_loads_and_stores_through_a_board(kairos, tmp_path):
    """The gateware of three boards takes minutes to build."""
    built("span", "reach", "store")
    (tmp_path / "system.toml").write_text(SYSTEM)
    devices = database("span", tmp_path)
    devices.write_text(devices.read_text() + DEVICES.format(host=f"emulator://{tmp_path / 'system.toml'}"))
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "destination 2 does not export 0x0fe02000 of its memory for this" in done.stderr, done.stderr
