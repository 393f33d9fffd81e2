"""What the logic needs of chips: numbers, addresses, and the order of a word's fields, as modules of
`kairos_gateware.contracts`."""

from pathlib import Path

from . import chips
from .facts import Subject

__all__ = ["files"]

FOLDER = "src/gateware/kairos_gateware/contracts"


def files(_subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each module by its path."""
    known = chips.load(root / "src" / "contracts" / "chips")
    return {f"{FOLDER}/{chip.file}.py": _module(chip) for chip in known if "gateware" in chip.languages}


def _module(chip: chips.Chip) -> str:
    """Constants; tables as lists; of registers `NAME_ADDRESS` where they have one; words without one as a record's
    layout, the lowest field first; the names of their fields' values."""
    entries: list[tuple[str, str, str]] = []
    for name, constant in chip.constants.items():
        entries.append((name, _number(constant.value), constant.doc))
    for table in chip.tables:
        rows = "".join(f"    [{', '.join(map(str, row))}],\n" for row in table.rows)
        entries.append((table.name, f"[\n{rows}]", table.doc.rstrip(".")))
    for register in chip.registers:
        fields = sorted(register.fields, key=lambda field: field.low)
        if register.address is not None:
            entries.append((f"{register.name}_ADDRESS", f"0x{register.address:02X}", register.doc))
        else:
            rows = "".join(f'    ("{name}", {width}),\n' for name, width in _layout(register))
            entries.append((register.name, f"[\n{rows}]", register.doc))
        for field in fields:
            for value, number in field.values.items():
                name = f"{register.name}_{field.name}_{value}".upper()
                entries.append((name, str(number), f"Of its field {field.name}"))
    lines = [
        f'"""{chip.name}: {chip.doc}',
        "",
        f"Generated from src/contracts/chips/{chip.file}.toml by",
        "src/contracts/generate.py: do not edit.",
        '"""',
        "",
    ]
    lines += ["__all__ = [", *[f'    "{name}",' for name, _, _ in entries], "]", ""]
    for name, value, doc in entries:
        lines += [f"{name} = {value}", f'"""{doc[0].upper()}{doc[1:]}."""', ""]
    return "\n".join(lines)


def _layout(register: chips.Register) -> list[tuple[str, int]]:
    """Name and width of each field from the lowest one on, with those of the bits between them."""
    fields = sorted(register.fields, key=lambda field: field.low)
    found, end = [], fields[0].low
    for field in fields:
        if field.low > end:
            found.append((f"reserved_{end}", field.low - end))
        found.append((field.name, field.width * field.count))
        end = field.high + 1
    return found


def _number(value: int | float) -> str:
    return str(value) if isinstance(value, float) or value < 1000 else f"{value:#X}".replace("X", "x")
