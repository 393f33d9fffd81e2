"""The rows of CONTRIBUTING.md name all files that a change needs: each change is made in a copy of the tree, in exactly
those files, and the copy is checked as a contributor would check it.

Those that the compiler checks are in `test_sufficient_rust.py`, those of the page in `test_sufficient_page.py`.
"""

import pytest

from tests.structure.copies import ROOT, add_driver, only_named


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


@pytest.mark.long
def test_phy_needs_only_named_files(tree):
    tree.append(
        "src/contracts/descriptor.toml", "pulse = ", 'toggle = { value = 19, doc = "Toggles with each event." }'
    )
    tree.add("src/gateware/kairos_gateware/phy/toggle.py", TOGGLE)
    tree.add(
        "src/contracts/cards/toggle.toml",
        'name = "Toggle"\ndoc = "Toggle."\n\n[channels]\ntoggle = { drivers = ["ttl.TTLOut"] }\n',
    )
    tree.python("src/contracts/generate.py")
    tree.python("-m", "kairos_gateware.docs")
    tree.test("src/gateware/kairos_gateware/phy/test_kinds.py", "src/gateware/kairos_gateware/test_docs.py")
    only_named(tree, "a PHY", "toggle")


@pytest.mark.long
def test_driver_needs_only_named_files(tree):
    add_driver(tree)
    tree.test(
        "tests/structure/test_changes.py", "tests/host/test_contracts.py", "-k", "manual or contracts or generated"
    )
    only_named(tree, "a driver", "ad0000")


@pytest.mark.long
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


@pytest.mark.long
def test_example_needs_only_named_files(tree):
    tree.add(
        "examples/ad0000.py",
        '"""Prints a greeting, with no device."""\n\nfrom artiq.experiment import *\n\n\n'
        'class Greeting(EnvExperiment):\n    """Greeting."""\n\n    def run(self):\n        print("hello")\n',
    )
    command = ("-m", "kairos", "run", "examples/ad0000.py", "--device-db", "examples/device_db.py")
    assert "hello" in tree.python(*command, KAIROS_BUILD=str(ROOT / "build"))
    only_named(tree, "an example", "ad0000")


CALL = """
import asyncio
from pathlib import Path
from types import SimpleNamespace

import grpc

from kairos.lab.rpc.protocol import message
from kairos.lab.rpc.server import RpcServer

async def greeting():
    laboratory = SimpleNamespace(broadcaster=SimpleNamespace(watchers=[]))
    server = RpcServer(laboratory, Path("."))
    await server.start()
    async with grpc.aio.insecure_channel("unix:rpc.sock") as channel:
        coders = type(message("GreetRequest")).SerializeToString, type(message("GreetResponse")).FromString
        call = channel.unary_unary("/kairos.lab.v1.Laboratory/Greet", *coders)
        print((await call(message("GreetRequest"))).text)
    await server.stop()

asyncio.run(greeting())
"""


@pytest.mark.long
def test_laboratory_method_needs_only_named_files(tree):
    protocol = "src/hub/proto/kairos/lab/v1/lab.proto"
    tree.change(
        protocol,
        "service Laboratory {\n",
        "service Laboratory {\n  // Returns a greeting.\n"
        "  rpc Greet(GreetRequest) returns (GreetResponse) {\n    option (kairos.hub.v1.role) = ROLE_LOOK;\n  }\n",
    )
    tree.change(
        protocol,
        "\n// Request of Laboratory.Status.\n",
        "\n// Request of Laboratory.Greet.\nmessage GreetRequest {}\n\n// Response of Laboratory.Greet.\n"
        "message GreetResponse {\n  // The greeting.\n  string text = 1;\n}\n\n// Request of Laboratory.Status.\n",
    )
    tree.python("src/hub/protocol.py")
    tree.python("-c", CALL, code=1)  # it does not start without the method
    tree.change(
        "src/kairos/lab/rpc/methods.py",
        "    async def experiments_scan(",
        "    async def laboratory_greet(self, request):\n"
        '        return message("GreetResponse", text="hello")\n\n    async def experiments_scan(',
    )
    assert tree.python("-c", CALL) == "hello\n"
    tree.test("tests/host/test_hub_protocol.py")
    only_named(tree, "a method of the laboratory", "lab")


@pytest.mark.long
def test_benchmark_figure_needs_only_named_files(tree):
    bench = "tests/bench/__main__.py"
    tree.change(
        bench,
        "\n\ndef compile_figures(",
        '\n\ndef greeting_figures(figures: Figures):\n    """Length of a greeting."""\n'
        '    figures.add("greeting.letters", len("hello"), "letters", target=5, source="its text")\n\n\n'
        "def compile_figures(",
    )
    tree.change(bench, "\nGROUPS = [\n", '\nGROUPS = [\n    (greeting_figures, ("greeting.",), "greetings", "1 s"),\n')
    assert "met" in tree.python("-m", "tests.bench", "greeting.")
    tree.test("tests/bench/test_selection.py")
    only_named(tree, "a benchmark figure", "greeting")
