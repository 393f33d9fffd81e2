"""Writes the tables of registers and of kinds of channels into the pages of docs/gateware/: `python
-m kairos_gateware.docs`.

A page marks the place with a line `<!-- registers of PREFIX -->` or `<!-- kinds of channels -->`,
and `<!-- end -->` after the table.
"""

import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from .contracts.descriptor import ChannelKind
from .contracts.registers import BLOCKS
from .phy.kinds import KINDS
from .soc.clock import ClockControl
from .soc.soc import Soc
from .variants import VARIANTS, ChannelSpec

__all__ = ["PAGES", "kinds_table", "register_tables", "render", "main"]

PAGES = Path(__file__).parents[3] / "docs" / "gateware"
_TABLE = re.compile(r"(<!-- registers of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_KINDS = re.compile(r"(<!-- kinds of channels -->\n).*?(<!-- end -->)", re.DOTALL)


def kinds_table() -> str:
    """Table of the kinds of channels in Markdown, in the order of their numbers."""
    lines = ["| Kind | Number | Module | Pads, in order | Parameters (default) | Driver |", "|---|---|---|---|---|---|"]
    for channel in ChannelKind:
        kind = KINDS.get(channel.name.lower())
        cells = ["", "", "", ""]
        if kind is not None:
            module = kind.make.__module__.removeprefix(f"{__package__}.").replace(".", "/")
            classes = kind.driver.classes if kind.driver is not None else ()
            driver = ", ".join(f"`{kind.driver.module}.{cls}`" for cls in classes)
            cells = [f"`{module}.py`", kind.pads, ", ".join(map(_parameter, kind.parameters)), driver]
        lines.append(f"| {' | '.join([f'`{channel.name.lower()}`', str(int(channel)), *cells])} |")
    return "\n".join(lines) + "\n"


def _parameter(parameter) -> str:
    default = [] if parameter.default is None else [str(parameter.default)]
    meaning = [parameter.meaning] if parameter.meaning else []
    return f"`{parameter.name}` ({'; '.join(default + meaning)})"


def register_tables() -> dict[str, str]:
    """Table of each block's registers in Markdown, by the prefix of their names. Raises ValueError
    if a register has no description, or a description no register."""
    tables = {}
    for soc in _socs():
        tables = _tables_of(soc, tables) | tables
    return tables


@cache
def _socs() -> list[Soc]:
    """Boards that have all blocks together."""
    pulse = VARIANTS["pulse"]
    channels = (*pulse.channels, ChannelSpec("spi0", "spi_master"))
    links = {"satellites": VARIANTS["pair"].satellites, "uplink": True, "remote": True, "block": "adder"}
    variant = replace(pulse, channels=channels, **links)
    # A link has remote memory or a bridge
    return [
        Soc(variant, clock=ClockControl()),
        Soc(replace(VARIANTS["demo"], cross_links=1)),
        Soc(replace(VARIANTS["pair"], satellites=(replace(VARIANTS["satellite"], drtio=True),))),
        *[Soc(VARIANTS[name]) for name in ("bridge", "block", "pages", "peripherals")],
    ]


def _tables_of(soc, known) -> dict[str, str]:
    """The tables of a board's blocks that are not in `known`."""
    tables = {}
    for prefix, block in soc.register_blocks.items():
        if prefix in known or prefix not in BLOCKS and prefix.rstrip("0123456789") in BLOCKS:
            continue  # another instance of the same block
        uses = dict(type(block).USES)
        lines = ["| Register | Bits | Access | Use |", "|---|---|---|---|"]
        for register in soc.descriptor.registers:
            owner, name = register.name.split("_", 1)
            if owner != prefix:
                continue
            if name not in uses:
                raise ValueError(f"{register.name} is not described in {type(block).__name__}.USES")
            expected = (register.width, "r" * register.readable + "w" * register.writable)
            if BLOCKS[prefix][name][:2] != expected:
                raise ValueError(f"{register.name}: the contract says {BLOCKS[prefix][name][:2]}, the block {expected}")
            access = "read" * register.readable + ", " * (register.readable and register.writable)
            access += "write" * register.writable
            lines.append(f"| `{register.name}` | {register.width} | {access} | {uses.pop(name)} |")
        if uses:
            raise ValueError(f"{type(block).__name__}.USES describes {', '.join(uses)}, which {prefix} does not have")
        tables[prefix] = "\n".join(lines) + "\n"
    return tables


def render(pages: dict[str, str]) -> dict[str, str]:
    """The same pages (text by name) with up-to-date tables. Raises ValueError if a block has no
    table, or a table no block, or if there is no table of the kinds of channels."""
    tables = register_tables()
    places = [prefix for text in pages.values() for _, prefix, _ in _TABLE.findall(text)]
    if sorted(places) != sorted(tables):
        raise ValueError(f"tables of registers are wanted for {sorted(tables)}, but have a place for {sorted(places)}")
    if not any(_KINDS.search(text) for text in pages.values()):
        raise ValueError("the table of kinds of channels has no place")
    kinds = kinds_table()
    pages = {name: _KINDS.sub(lambda m: m[1] + kinds + m[2], text) for name, text in pages.items()}
    return {name: _TABLE.sub(lambda m: m[1] + tables[m[2]] + m[3], text) for name, text in pages.items()}


def main() -> int:
    pages = {path.name: path.read_text() for path in PAGES.glob("*.md")}
    try:
        rendered = render(pages)
    except ValueError as error:
        print(f"docs: {error}", file=sys.stderr)
        return 1
    for name, text in rendered.items():
        if text != pages[name]:
            (PAGES / name).write_text(text)
            print(f"written: docs/gateware/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
