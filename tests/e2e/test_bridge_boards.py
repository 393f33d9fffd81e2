"""Kernels use a block in the logic of another board through a bridge."""

from pathlib import Path

from tests.support.gateware import built
from tests.support.paths import EXAMPLES

EXPERIMENT = Path(__file__).with_name("experiments") / "bridge.py"
PRINTED = """\
identity True
sums True
interrupt 1
beyond the block refused
a store of a sum refused
a load takes True its latency True
on the satellite 261
from the satellite
a load of a lost link refused
a store of a lost link refused
levels of a lost link 0 False
back 1
after the reset 0 1
"""


def test_kernel_uses_a_block_of_another_board_through_the_bridge(kairos):
    built("bridge", "block")
    done = kairos("run", EXPERIMENT, device_db=EXAMPLES / "bridge" / "device_db.py")
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    said = "bus error at 0x00005000 on destination 1: a bridge leads there, to a block or pages and no other memory"
    assert said in done.stderr, done.stderr


def test_vectors_of_unequal_length_are_refused(kairos):
    built("bridge", "block")
    done = kairos("run", EXPERIMENT, "unequal=True", device_db=EXAMPLES / "bridge" / "device_db.py")
    assert done.returncode == 1
    assert "vectors must be equally long, and have at most 1024 numbers" in done.stderr, done.stderr


def test_remote_adder_example_adds(kairos):
    built("bridge", "block")
    done = kairos("run", EXAMPLES / "bridge" / "remote_adder.py", device_db=EXAMPLES / "bridge" / "device_db.py")
    assert done.stdout.startswith("100 sums, 0 wrong, after "), done.stdout + done.stderr


def test_scattered_pages_of_a_satellite_are_one_range_for_the_master(kairos):
    built("bridge", "pages")
    database = EXAMPLES / "bridge" / "device_db.py"
    done = kairos("run", EXAMPLES / "bridge" / "shared_pages.py", device_db=database, env={"SYSTEM": "pages.toml"})
    lines = done.stdout.splitlines()
    assert lines[:2] == ["range True", "pages 9 16"], done.stdout + done.stderr
    assert 2500 < int(lines[2].split()[3]) < 4000, lines[2]
    assert lines[3:7] == [
        "read only True True",
        "not shown True beyond True",
        "the kernel core's image is not shown True",
        "hidden True True",
    ], done.stdout + done.stderr
