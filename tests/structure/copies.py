"""Copies of the tree, for tests that make the changes of CONTRIBUTING.md."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIES = Path(os.environ.get("KAIROS_COPIES", ROOT / "build" / "copies"))
"""Where cargo builds copies, so that they replace nothing that the tree has built. `KAIROS_COPIES=build` saves the
time for their dependencies."""


class Tree:
    """A copy of the tracked files at `path`, and the files that were `edited` in it."""

    def __init__(self, path: Path):
        self.path = path
        self.edited: set[str] = set()
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            source, target = ROOT / name, path / name
            if source.exists() and not name.startswith("vendor/"):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        (path / "vendor").symlink_to(ROOT / "vendor")
        for library in (ROOT / "src" / "kairos").glob("_native*.so"):
            (path / "src" / "kairos" / library.name).symlink_to(library)

    def add(self, name: str, text: str):
        """Write a new file."""
        assert not (self.path / name).exists(), name
        (self.path / name).write_text(text)
        self.edited.add(name)

    def change(self, name: str, before: str, after: str):
        """Replace the first occurrence of a text in a file."""
        text = (self.path / name).read_text()
        assert before in text, f"{name} has no {before!r}"
        (self.path / name).write_text(text.replace(before, after, 1))
        self.edited.add(name)

    def append(self, name: str, row_before: str, row: str):
        """Insert a line after the one that begins with `row_before`."""
        text = (self.path / name).read_text()
        (line,) = [line for line in text.splitlines() if line.startswith(row_before)]
        self.change(name, line + "\n", f"{line}\n{row}\n")

    def run(self, *command, code=0, **environment) -> str:
        """Run a command in the copy, with its own Python packages; returns its output."""
        places = os.pathsep.join(str(self.path / place) for place in ("src", "src/gateware", "."))
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.path,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": places} | environment,
        )
        assert done.returncode == code, f"{command}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def python(self, *command, **options) -> str:
        return self.run(sys.executable, *command, **options)

    def test(self, *tests):
        """Run tests of the copy."""
        self.python("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests)

    def cargo(self, *words):
        """Run cargo for the host."""
        self.run("scripts/rust-env", "cargo", *words, CARGO_TARGET_DIR=str(COPIES / "cargo-host"))

    def cargo_arm(self, *words):
        """Run cargo for the firmware."""
        self.run("scripts/cargo-arm", *words, CARGO_TARGET_DIR=str(COPIES / "cargo-firmware"))


def rows() -> dict[str, str]:
    """Return the second cell of each row of the table, by the first."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where a change belongs\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1] for row in cells}


def named(row: str, name: str) -> set[str]:
    """Return the files that a row names, with NAME replaced."""
    return {file.replace("NAME", name) for file in re.findall(r"`([\w/.-]+\.\w+)`", rows()[row])}


def only_named(tree: Tree, row: str, name: str):
    """Assert that the row names every file that was edited."""
    assert tree.edited <= named(row, name), f"CONTRIBUTING.md does not name {sorted(tree.edited - named(row, name))}"


def add_driver(tree):
    """Add a driver in the files of the row "a driver"."""
    tree.add(
        "src/contracts/chips/ad0000.toml",
        '[chip]\nname = "AD0000"\ndoc = "A made-up attenuator: one word of 8 bits."\nsource = "none"\n'
        'languages = ["python"]\n\n[[register]]\nname = "SETTING"\nwidth = 8\nreset = 0\ndoc = "Shift register"\n'
        'fields = [{ name = "att", bits = "7:0", doc = "attenuation in steps" }]\n',
    )
    tree.add(
        "src/kairos/coredevice/ad0000.py",
        '"""AD0000: a made-up attenuator on an SPI bus."""\n\nfrom ..language import kernel\n'
        'from .chips.ad0000 import SETTING\nfrom .parts.spi import Transfer\n\n__all__ = ["AD0000"]\n\n\n'
        'class AD0000:\n    """The attenuator on the SPI bus `spi_device`."""\n\n'
        '    kernel_invariants = {"bus", "core"}\n\n    setting = Transfer(length=SETTING.width, div=5, cs=1)\n\n'
        '    def __init__(self, dmgr, spi_device, core_device="core"):\n'
        "        self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)\n\n"
        '    @kernel\n    def set(self, att):\n        """Set the attenuation in steps."""\n'
        "        self.setting.send(att)\n",
    )
    tree.append("docs/experiments.md", "| `ad9834.AD9834`, ", "| `ad0000.AD0000` | a made-up attenuator |")
    tree.python("src/contracts/generate.py")
