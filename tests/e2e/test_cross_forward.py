"""A board behind the far end of a link beside the tree: what is stored or copied there goes across, and by the tree
while the link is lost."""

from pathlib import Path

import pytest
from kairos_gateware.device_db import render

from tests.support.databases import memories
from tests.support.gateware import described_system

EXPERIMENT = Path(__file__).with_name("experiments") / "cross_forward.py"
BOARDS = {
    "master": {"base": "master", "satellites": ["first.json", "second.json"]},
    "first": {"base": "satellite", "remote_memory": True, "cross_links": [2]},
    "second": {"base": "satellite", "satellites": ["third.json"], "remote_memory": True, "cross_links": [1]},
    "third": {"base": "satellite", "remote_memory": True},
}
"""By name, in the order of their destinations."""
LINKS = [
    ("master", "first", False),
    ("master", "second", False),
    ("second", "third", False),
    ("first", "second", True),
]
PRINTED = """\
refused 0
plugged 499 by the master False True across True
back 40 2 by the master False True
only one 5 0
copied 7 7 by the master False True across True
unplugged 1499 by the master True False across False
copied 8 8 by the master True False across False
again 2499 by the master False True across True
cut in the middle of stores: failed 0
faster across True
"""


@pytest.mark.long
def test_boards_behind_the_far_end_of_a_cross_link_are_reached_across_it(kairos, tmp_path):
    """The gateware of the boards takes minutes to build."""
    text, master = described_system(tmp_path, "forwarded", BOARDS, LINKS)
    system = tmp_path / "system.toml"
    system.write_text(text)
    (devices := tmp_path / "device_db.py").write_text(
        render(master, f"emulator://{system}")
        + memories(system, {name: destination for destination, name in enumerate(BOARDS)})
    )
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED) and done.returncode == 0, done.stdout + done.stderr
