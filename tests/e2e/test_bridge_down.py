"""Kernels of satellites use their upstream board through bridges whose master is the downstream board."""

from pathlib import Path

from kairos_gateware.device_db import render
from kairos_gateware.variants import VARIANTS

from tests.support.gateware import built

EXPERIMENT = Path(__file__).with_name("experiments") / "bridge_down.py"
BOARDS = {"lender": "runtime.elf", "user": "satman.elf", "owner": "satman.elf"}
"""Firmware by name of the board, in the order of their destinations."""
DEVICES = {
    "up": ("bridge", "Bridge", 0),
    "adder": ("bridge", "VectorAdder", 0),
    "user": ("bridge", "Bridge", 1),
    "pages": ("bridge", "SharedPages", 0),
    "shown": ("bridge", "SharedPages", 2),
    "memory": ("remote_memory", "RemoteMemory", 0),
    "beyond": ("bridge", "Bridge", 2),
}
"""Module, class and destination by name."""
PRINTED = """\
sums True
refused 3
a load takes True its latency True
on the satellite 261
from the satellite True
levels of a lost link 0 False
back 259
after the reset 256
pages True 9 16
refused 7
the other way True True
"""


def described(folder):
    """Write the system's description, and its device database; returns the path of that."""
    parts = [
        f'[[board]]\nname = "{name}"\nvariant = "{"borrower" if n else "lender"}"\nfirmware = "{image}"\n'
        for n, (name, image) in enumerate(BOARDS.items())
    ]
    first, *others = BOARDS
    parts += [f'[[link]]\nfrom = "{first}"\nto = "{name}"\ndelay_ns = 1000\n' for name in others]
    (system := folder / "system.toml").write_text("\n".join(parts))
    text = render(VARIANTS["lender"], f"emulator://{system}")
    for name, (module, cls, destination) in DEVICES.items():
        entry = {"type": "local", "module": f"kairos.coredevice.{module}", "class": cls}
        text += f"device_db[{name!r}] = {entry | {'arguments': {'destination': destination}}}\n"
    (path := folder / "device_db.py").write_text(text)
    return path


def test_kernels_of_satellites_use_logic_and_memory_of_the_master(kairos, tmp_path):
    built("lender", "borrower")
    done = kairos("run", EXPERIMENT, device_db=described(tmp_path))
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "bus error at 0x00005000 on destination 0: a bridge leads there" in done.stderr, done.stderr
