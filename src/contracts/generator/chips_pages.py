"""Tables of chips for the manual: a page for each, and their list."""

from pathlib import Path
from textwrap import wrap

from . import chips
from .facts import Subject

__all__ = ["files"]

FOLDER = "docs/chips"
WIDTH = 100
"""Columns of prose."""


def files(_subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each page by its path."""
    known = chips.load(root / "src" / "contracts" / "chips")
    pages = {f"{FOLDER}/{chip.file}.md": _page(chip) for chip in known}
    return pages | {f"{FOLDER}/README.md": _list(known)}


def _note(source: str) -> str:
    return f"<!-- Generated from src/contracts/chips/{source} by `make contracts`: do not edit. -->"


def _list(known: list[chips.Chip]) -> str:
    rows = [f"| [{chip.name}]({chip.file}.md) | {chip.doc} |" for chip in known]
    head = ["# Chips: registers", "", _note("*.toml"), ""]
    text = "Registers of each chip, as used by the drivers. Use: [Registers as data](../registers.md)."
    return "\n".join([*head, text, "", "| Chip | Description |", "|---|---|", *rows]) + "\n"


def _page(chip: chips.Chip) -> str:
    lines = [f"# {chip.name}", "", _note(f"{chip.file}.toml"), "", f"{chip.doc} Source: {chip.source}."]
    if chip.constants:
        lines += ["", "| Constant | Value | Description |", "|---|---|---|"]
        lines += [f"| `{name}` | {_number(each.value)} | {each.doc} |" for name, each in chip.constants.items()]
    for table in chip.tables:
        lines += ["", table.doc, "", f"| | {' | '.join(table.columns)} |", "|---" * (len(table.columns) + 1) + "|"]
        lines += [f"| {n} | {' | '.join(f'{value:.10g}' for value in row)} |" for n, row in enumerate(table.rows)]
    for register in chip.registers:
        lines += ["", *_register(register)]
    if chip.absent:
        lines += ["", "## Not covered", "", *wrap(chip.absent, WIDTH)]
    return "\n".join(lines) + "\n"


def _register(register: chips.Register) -> list[str]:
    place = ""
    if register.address is not None:
        last = f" to 0x{register.address + register.count - 1:02x}" if register.count > 1 else ""
        place = f"address 0x{register.address:02x}{last}, "
    reset = "" if register.reset is None else f", reset value 0x{register.reset:0{(register.width + 3) // 4}x}"
    lines = [f"## {register.name}", "", f"{register.doc}: {place}{register.width} bits{reset}.", ""]
    lines += ["| Bits | Field | Description | Values |", "|---|---|---|---|"]
    ordered = sorted(register.fields, key=lambda each: -each.low)
    return lines + [f"| {_bits(each)} | `{each.name}` | {each.doc} | {_numbers(each)} |" for each in ordered]


def _bits(each: chips.Field) -> str:
    bits = f"{each.high}:{each.low}" if each.high > each.low else f"{each.low}"
    return f"{bits} ({each.count} of {each.width})" if each.count > 1 else bits


def _numbers(each: chips.Field) -> str:
    parts = [f"{number} {name}" for name, number in each.values.items()]
    if each.range:
        parts.append(f"{each.range[0]} to {each.range[1]}")
    if each.unit:
        parts.append(f"{each.steps:.10g} in a {each.unit}" if each.steps != 1 else f"in {each.unit}")
    if each.signed:
        parts.append("two's complement")
    return ", ".join(parts)


def _number(value: float) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value) if value < 10 or value % 1000 == 0 else f"0x{value:x}"
