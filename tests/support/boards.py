"""Several emulated boards, managed through the first one."""

import json
import select

from . import TIMEOUT
from .command import run_kairos
from .device import Emulated
from .paths import BUILD
from .waiting import let_pass, until

__all__ = ["MEMORY_CHAIN", "MEMORY_PAIR", "MEMORY_MESH", "MEMORY_RING", "System", "pair_description"]

PORTS = (1380, 1381, 1382, 1383)


def pair_description(master, satellite, delay_ns=1000):
    """Return the emulator's description of two boards with the gateware of these variants, `master`
    and `satellite`, joined by nanoseconds of fibre."""
    return f"""
[[board]]
name = "master"
variant = "{master}"
firmware = "runtime.elf"

[[board]]
name = "satellite"
variant = "{satellite}"
firmware = "satman.elf"

[[link]]
from = "master"
to = "satellite"
delay_ns = {delay_ns}
"""


MEMORY_PAIR = pair_description("memory", "store")
"""Two boards that access each other's memory."""
MEMORY_CHAIN = """
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
"""Three boards that access each other's memory, two of them through the third."""


def described(master, satellites, crosses, delay_ns=1000):
    """Return the emulator's description of a master with the gateware of this variant and satellites that are a `peer`
    each, with a cross link between each of these pairs, all with so many nanoseconds of fibre."""
    boards = [("master", master, "runtime.elf"), *((name, "peer", "satman.elf") for name in satellites)]
    links = [("master", name, "false") for name in satellites] + [(*pair, "true") for pair in crosses]
    text = [f'[[board]]\nname = "{name}"\nvariant = "{of}"\nfirmware = "{image}"\n' for name, of, image in boards]
    text += [
        f'[[link]]\nfrom = "{one}"\nto = "{other}"\ncross = {cross}\ndelay_ns = {delay_ns}\n'
        for one, other, cross in links
    ]
    return "\n".join(text)


MEMORY_RING = described("ring", ["first", "second"], [("first", "second")])
"""A master and two satellites, which access each other's memory by a link of their own, too."""
MEMORY_MESH = described("memory_star", ["b1", "b2", "b3"], [("b1", "b2"), ("b2", "b3"), ("b1", "b3")])
"""A master and three satellites, each with a link to both others."""


class System(Emulated):
    """The boards of a system that the emulator knows by name, or of a description. `ports` and
    `address` (of management) are those of the board with the network on this host."""

    def __init__(self, folder, system):
        forwards = [part for port in PORTS for part in ("--forward", f"0:{port}")]
        super().__init__(folder, "--system", system, "--build", BUILD, *forwards)
        readable, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
        line = self.process.stdout.readline() if readable else ""
        assert line, self.errors() + self.uart()
        self.attach()
        forwarded = json.loads(line)["forwards"]
        self.host, self.ports = "127.0.0.1", {port: int(forwarded[str(port)]) for port in PORTS}
        self.address = f"{self.host}:{self.ports[1380]}"

    def close(self):
        """Also check that no word arrived in a board's past, which would make runs irreproducible."""
        super().close()
        assert "had been reached" not in self.errors(), self.errors()

    def until_logged(self, text, count=1):
        """Let time pass until the boards have printed a text `count` times."""

        def has_logged():
            let_pass(self, 0.02)
            return self.uart().count(text) >= count

        until(has_logged, self.uart)

    def links(self):
        """Return the output of `kairos links`."""
        done = run_kairos("links", "-D", self.address, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def manage(self, board, *arguments):
        """Run `kairos device` for one of the boards."""
        return run_kairos("device", "-D", self.address, "--board", board, *arguments)
