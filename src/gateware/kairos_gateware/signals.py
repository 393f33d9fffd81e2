"""The signals of the gateware's interfaces: `python -m kairos_gateware.signals CLASS ...` prints name, width and
direction of each public signal of the classes, above it what their documentation says about them.

Public are attributes without a leading underscore that are a `Signal`, a `Record` or a stream. Width and direction
come from elaborated designs: a signal that a statement of the module or of one inside it assigns, or an instance
drives, is an output, any other an input. A record may have both.
"""

import argparse
import inspect
import sys
from collections import defaultdict
from dataclasses import dataclass

from migen import Record, Signal
from migen.fhdl.tools import list_targets

from .boards.emulator import KairosSim
from .variants import VARIANTS

__all__ = ["DESIGNS", "Port", "main", "ports_of_designs"]

DESIGNS = ("pulse", "reach", "lab", "servo")
"""Variants that contain most of the blocks."""


@dataclass(frozen=True)
class Port:
    """direction: "in", "out" or, of a record, "both"."""

    name: str
    width: int
    direction: str


def _driven(module) -> set[Signal]:
    """The signals that a finalized module or one inside it drives."""
    fragment = module.get_fragment() if not module.get_fragment_called else module._fragment
    statements = [fragment.comb, *fragment.sync.values()]
    driven = {signal for part in statements for signal in list_targets(part)}
    for special in fragment.specials:
        driven |= {signal for signal in special.list_ios(False, True, True) if isinstance(signal, Signal)}
    return driven


def _modules(module):
    """The module and all those inside it."""
    yield module
    for _, inner in module._submodules:
        yield from _modules(inner)


def _ports(module, driven: set) -> list[Port]:
    ports = []
    for name, value in vars(module).items():
        if name.startswith("_") or not isinstance(value, Signal | Record):
            continue
        signals = value.flatten() if isinstance(value, Record) else [value]
        kinds = {"out" if signal in driven else "in" for signal in signals}
        width = sum(len(signal) for signal in signals)
        ports.append(Port(name, width, kinds.pop() if len(kinds) == 1 else "both"))
    return ports


def ports_of_designs(names=DESIGNS) -> dict[type, list[Port]]:
    """The ports of one module of each class in the variants `names`, on the emulator's board."""
    ports = {}
    for name in names:
        top = KairosSim(VARIANTS[name])
        top.finalize()
        for module in _modules(top):
            if type(module) not in ports:
                ports[type(module)] = _ports(module, _driven(module))
    return ports


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="kairos_gateware.signals", description="Prints the signals of interfaces.")
    parser.add_argument("names", nargs="+", metavar="CLASS", help="name of a class, such as OutputNetwork")
    wanted = parser.parse_args(arguments).names
    classes = defaultdict(list)
    for cls, ports in ports_of_designs().items():
        classes[cls.__name__].append((cls, ports))
    for name in wanted:
        if name not in classes:
            print(f"no variant of {', '.join(DESIGNS)} contains a module of class {name}", file=sys.stderr)
            return 1
        for cls, ports in classes[name]:
            print(f"{cls.__module__}.{name}\n\n{inspect.cleandoc(cls.__doc__ or '')}\n")
            for port in ports:
                print(f"  {port.name:24} {port.width:4} {port.direction}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
