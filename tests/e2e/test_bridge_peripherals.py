"""Kernels use peripherals and on-chip memory of another board's processing system through a bridge."""

from pathlib import Path

from tests.support.databases import entry, two_boards
from tests.support.gateware import built

EXPERIMENT = Path(__file__).with_name("experiments") / "bridge_peripherals.py"
SYSTEM = """
[[board]]
name = "master"
variant = "bridge"
firmware = "runtime.elf"

[[board]]
name = "satellite"
variant = "peripherals"
firmware = "satman.elf"

[[link]]
from = "master"
to = "satellite"
delay_ns = 1000
"""
BRIDGE = entry("bridge", "Bridge", destination=1) | {"module": "kairos.coredevice.bridge"}
PRINTED = """\
identity True
read only True not listed True
said True
memory True True
a load takes True """


def test_kernel_uses_peripherals_of_another_board_that_its_description_lists(kairos, tmp_path):
    built("bridge", "peripherals")
    (system := tmp_path / "system.toml").write_text(SYSTEM)
    (devices := tmp_path / "device_db.py").write_text(
        two_boards(f"emulator://{system}") + f"device_db['there'] = {BRIDGE}\n"
    )
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
