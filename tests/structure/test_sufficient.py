"""The rows of CONTRIBUTING.md name all files that a change needs: each change is made in a copy of the tree, in exactly
those files, and the copy is checked as a contributor would check it.

Changes to Rust are checked by the compiler, which takes a minute: those are in `make test-long`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
        """Run cargo, with a folder of its own, so that it replaces nothing that the tree has built."""
        self.run("scripts/rust-env", "cargo", *words, CARGO_TARGET_DIR=str(ROOT / "build" / "cargo-copies"))


def rows() -> dict[str, str]:
    """Return the second cell of each row of the table, by the first."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where a change belongs\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1] for row in cells}


def named(row: str, name: str) -> set[str]:
    """Return the files that a row names, with NAME replaced."""
    return {file.replace("NAME", name) for file in re.findall(r"`([\w/.-]+\.\w+)`", rows()[row])}


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "tree")


def only_named(tree: Tree, row: str, name: str):
    """Assert that the row names every file that was edited."""
    assert tree.edited <= named(row, name), f"CONTRIBUTING.md does not name {sorted(tree.edited - named(row, name))}"


def test_subcommand_needs_only_named_files(tree):
    tree.add(
        "src/kairos/cli/commands/greet.py",
        '"""``kairos greet``: greets."""\n\nfrom ..command import Command\nfrom ..options import JSON\n\n'
        'COMMAND = Command("greet the user", JSON, runs="greet.greet", examples=("kairos greet",))\n',
    )
    tree.add(
        "src/kairos/cli/greet.py",
        '"""``kairos greet``: greets."""\n\n__all__ = ["greet"]\n\n\n'
        'def greet(args):\n    """Greet the user."""\n    print(\'"hello"\' if args.json else "hello")\n',
    )
    (tree.path / "docs/commands.md").write_text(tree.python("-m", "kairos.cli.reference"))
    assert tree.python("-m", "kairos", "greet") == "hello\n"
    tree.test("tests/host/test_commands.py", "-k", "greet or manual")
    only_named(tree, "a subcommand of `kairos`", "greet")


TOGGLE = '''"""Output that changes its level with every event."""

from migen import *

from ..contracts.descriptor import ChannelKind
from ..rtio.link import Channel, OutputLink
from .kind import Kind

__all__ = ["KINDS", "Toggle"]


class Toggle(Module):
    """`channel`, `pads`. Address 0, no data."""

    def __init__(self, number, pad):
        link = OutputLink(data_width=1)
        self.channel, self.pads = Channel(number, output=link), [pad]

        # # #

        level = Signal()
        self.sync += If(link.stb, level.eq(~level))
        self.comb += [pad.o.eq(Replicate(level, 8)), pad.oe.eq(1)]


KINDS = [Kind(ChannelKind.TOGGLE, lambda place: Toggle(place.number, place.pad("")), pads="the pin")]
'''


def test_phy_needs_only_named_files(tree):
    tree.append(
        "src/contracts/descriptor.toml", "pulse = ", 'toggle = { value = 19, doc = "Toggles with each event." }'
    )
    tree.add("src/gateware/kairos_gateware/phy/toggle.py", TOGGLE)
    tree.change("src/gateware/kairos_gateware/phy/kinds.py", "suservo, ttl", "suservo, toggle, ttl")
    tree.change("src/gateware/kairos_gateware/phy/kinds.py", "    ttl,\n", "    ttl,\n    toggle,\n")
    tree.add(
        "src/contracts/cards/toggle.toml",
        'doc = "Toggle."\n\n[channels]\ntoggle = { drivers = ["ttl.TTLOut"] }\n',
    )
    tree.python("src/contracts/generate.py")
    tree.python("-m", "kairos_gateware.docs")
    tree.test("src/gateware/kairos_gateware/phy/test_kinds.py", "src/gateware/kairos_gateware/test_docs.py")
    only_named(tree, "a PHY", "toggle")


def test_driver_needs_only_named_files(tree):
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
    tree.test(
        "tests/structure/test_changes.py", "tests/host/test_contracts.py", "-k", "manual or contracts or generated"
    )
    only_named(tree, "a driver", "ad0000")


def test_board_needs_only_named_files(tree):
    gateware = (tree.path / "src/gateware/kairos_gateware/boards/redpitaya.py").read_text()
    tree.add("src/gateware/kairos_gateware/boards/orange.py", gateware.replace('"redpitaya"', '"orange"'))
    tree.change("src/gateware/kairos_gateware/build.py", '"redpitaya"]', '"redpitaya", "orange"]')
    loader = (tree.path / "src/firmware/chip/src/boards/redpitaya.rs").read_text()
    tree.add("src/firmware/chip/src/boards/orange.rs", loader.replace('name: "redpitaya"', 'name: "orange"'))
    boards = "src/firmware/chip/src/boards/mod.rs"
    tree.change(boards, "mod redpitaya;", "mod orange;\nmod redpitaya;")
    tree.change(boards, "[&Board; 4]", "[&Board; 5]")
    tree.change(boards, "&redpitaya::BOARD]", "&redpitaya::BOARD, &orange::BOARD]")
    tree.append("docs/gateware/boards.md", "| `redpitaya` |", "| `orange` | XC7Z010-1 | made-up | no | 192.168.1.55 |")
    output = tree.path / "build" / "gateware" / "orange"
    tree.python("-m", "kairos_gateware.build", "--board", "orange", "--variant", "demo", "--output", output)
    assert (output / "kairos_orange.v").exists()
    tree.test("tests/structure/test_changes.py", "-k", "board")
    only_named(tree, "a board", "orange")


def test_example_needs_only_named_files(tree):
    tree.add(
        "examples/ad0000.py",
        '"""Prints a greeting, with no device."""\n\nfrom artiq.experiment import *\n\n\n'
        'class Greeting(EnvExperiment):\n    """Greeting."""\n\n    def run(self):\n        print("hello")\n',
    )
    command = ("-m", "kairos", "run", "examples/ad0000.py", "--device-db", "examples/device_db.py")
    assert "hello" in tree.python(*command, KAIROS_BUILD=str(ROOT / "build"))
    only_named(tree, "an example", "ad0000")


@pytest.mark.long
def test_configuration_key_needs_only_named_files(tree):
    tree.append(
        "src/contracts/configuration.toml",
        "netboot_wait = ",
        'greeting = { kind = "number", effect = "at boot", doc = "number of greetings" }',
    )
    tree.change(
        "src/firmware/config/src/keys.rs",
        "pub const NETBOOT_WAIT",
        "pub const GREETING: Setting<u32> = Setting::new(Key::Greeting, settings::number);\npub const NETBOOT_WAIT",
    )
    tree.change("src/firmware/config/src/keys.rs", "NETBOOT_WAIT.key,", "NETBOOT_WAIT.key,\n            GREETING.key,")
    tree.python("src/contracts/generate.py")
    tree.cargo("test", "--release", "-p", "kairos-config", "keys")
    tree.test("tests/host/test_contracts.py")
    only_named(tree, "a configuration key", "greeting")


@pytest.mark.long
def test_peripheral_needs_only_named_files(tree):
    tree.add(
        "src/emulator/src/peripherals/echo.rs",
        "//! A made-up register file.\n\nuse super::storage::Storage;\n\n/// As memory.\npub type Echo = Storage;\n",
    )
    tree.change("src/emulator/src/peripherals/mod.rs", "mod gem;", "mod echo;\nmod gem;")
    tree.change(
        "src/emulator/src/peripherals/mod.rs",
        '    row("QSPI"',
        '    row("Echo", &[at(0xf800_8000, 0x1000)], NONE, |_| Box::<echo::Echo>::default()),\n    row("QSPI"',
    )
    tree.append("docs/emulator.md", "| QSPI |", "| Echo | a register file |")
    tree.cargo("test", "--release", "-p", "kairos-emulator", "--test", "page")
    only_named(tree, "a peripheral of the emulated chip", "echo")


GREETINGS = """// Greetings.
syntax = "proto3";

package kairos.hub.v1;

import "kairos/hub/v1/hub.proto";

// Greetings of the hub.
service Greetings {
  // Returns a greeting.
  rpc Greet(GreetRequest) returns (GreetResponse) {
    option (role) = ROLE_LOOK;
  }
}

// Request of Greetings.Greet.
message GreetRequest {}

// Response of Greetings.Greet.
message GreetResponse {
  // The greeting.
  string text = 1;
}
"""

GREETINGS_SERVICE = """//! A made-up service.

use tonic::{Request, Response, Status};

use crate::service::Service;
use crate::v1::greetings_server::Greetings;
use crate::v1::{GreetRequest, GreetResponse};

#[tonic::async_trait]
impl Greetings for Service {
    async fn greet(&self, _: Request<GreetRequest>) -> Result<Response<GreetResponse>, Status> {
        Ok(Response::new(GreetResponse { text: "hello".into() }))
    }
}
"""


@pytest.mark.long
def test_hub_service_needs_only_named_files(tree):
    tree.add("src/hub/proto/kairos/hub/v1/greetings.proto", GREETINGS)
    tree.add("src/hub/src/greetings.rs", GREETINGS_SERVICE)
    tree.change("src/hub/src/lib.rs", "pub mod health;", "mod greetings;\npub mod health;")
    tree.change(
        "src/hub/src/server.rs",
        "        .add_service(ClocksServer::new(service.clone()))\n",
        "        .add_service(ClocksServer::new(service.clone()))\n"
        "        .add_service(crate::v1::greetings_server::GreetingsServer::new(service.clone()))\n",
    )
    tree.python("src/hub/protocol.py")
    tree.cargo("check", "--release", "-p", "kairos-hub")
    tree.test("tests/host/test_hub_protocol.py")
    only_named(tree, "a service of the hub", "greetings")
