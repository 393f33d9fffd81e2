"""System descriptions with cross links at the master, and beside bridges: kernels of all boards use them."""

from pathlib import Path

import pytest
from kairos_gateware.device_db import render

from tests.support.databases import memories
from tests.support.gateware import described_system

EXPERIMENT = Path(__file__).with_name("experiments") / "cross_beside.py"
BOARDS = {
    "master": {"base": "master", "satellites": ["near.json", "side.json"], "cross_links": [2]},
    "near": {"base": "satellite", "satellites": ["far.json"], "remote_memory": True, "cross_links": [3]},
    "far": {"base": "satellite", "remote_memory": True, "cross_links": [0]},
    "side": {"base": "satellite", "bridge": {"block": "adder"}, "cross_links": [1]},
}
"""By name, in the order of their destinations."""
LINKS = [
    ("master", "near", False),
    ("near", "far", False),
    ("master", "side", False),
    ("master", "far", True),
    ("near", "side", True),
]
BRIDGES = """
for name, cls, destination in [("adder", "VectorAdder", 3), ("upstream", "Bridge", 0)]:
    device_db[name] = {
        "type": "local",
        "module": "kairos.coredevice.bridge",
        "class": cls,
        "arguments": {"destination": destination},
    }
"""
PRINTED = """\
plugged 100 by the tree False across True [101, -3]
answered 77 42
beside the bridge 85 85 True
beyond 100
unplugged 200 by the tree True across False [201, -3]
again 300 by the tree False across True [301, -3]
alone 0
"""


@pytest.mark.long
def test_cross_links_at_the_master_and_beside_a_bridge_are_used_by_kernels(kairos, tmp_path):
    """The gateware of the boards takes minutes to build."""
    text, master = described_system(tmp_path, "crossed", BOARDS, LINKS)
    system = tmp_path / "system.toml"
    system.write_text(text)
    (devices := tmp_path / "device_db.py").write_text(
        render(master, f"emulator://{system}")
        + memories(system, {name: destination for destination, name in enumerate(BOARDS)})
        + BRIDGES
    )
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "there is no remote memory at the link to destination 1" in done.stderr, done.stderr
