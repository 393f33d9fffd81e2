"""Gateware variants for the emulator, built if they are out of date."""

import json

from kairos_gateware import build
from kairos_gateware.description import load, make_variant
from kairos_gateware.verilated import verilate

from .paths import BUILD

__all__ = ["built", "built_as", "built_from", "database", "described_system"]


def built(*variants):
    """Build these variants; returns the directory of the last one."""
    for variant in variants:
        folder = BUILD / "gateware" / variant
        assert build.main(["--variant", variant, "--board", "sim", "--output", str(folder)]) == 0
    return folder


def built_as(variant):
    """Build a `Variant` that does not come with the package; returns its directory, named after it."""
    folder = BUILD / "gateware" / variant.name
    with verilate.building_alone(folder):
        build.build_sim(variant, folder)
    return folder


def built_from(*descriptions):
    """Build what these files describe, in directories named after the variants; returns the `Variant` of the first."""
    variants = [make_variant(load(path)) for path in descriptions]
    for variant in variants:
        built_as(variant)
    return variants[0]


def described_system(folder, prefix, boards, links):
    """Write the description of each board to a file in `folder`, and build its gateware, named after the board with
    this prefix. boards: fields of the descriptions beside those that all have, by names, in the order of their
    destinations. links: (name, name, whether it is a cross link). Returns the emulator's description of the system,
    with fibres of 1 µs, and the `Variant` of the first board."""
    for name, fields in boards.items():
        board = {"target": "kasli_soc", "hw_rev": "v1.1", "variant": f"{prefix}_{name}", "peripherals": []} | fields
        (folder / f"{name}.json").write_text(json.dumps(board))
    master = built_from(*(folder / f"{name}.json" for name in boards))
    firmware = ["runtime.elf", *["satman.elf"] * (len(boards) - 1)]
    parts = [
        f'[[board]]\nname = "{name}"\nvariant = "{prefix}_{name}"\nfirmware = "{image}"\n'
        for name, image in zip(boards, firmware, strict=True)
    ]
    parts += [
        f'[[link]]\nfrom = "{one}"\nto = "{other}"\ncross = {str(cross).lower()}\ndelay_ns = 1000\n'
        for one, other, cross in links
    ]
    return "\n".join(parts), master


def database(variant, folder):
    """Write the device database of a variant to a file in `folder`, with the emulated device as its
    core."""
    path = folder / f"{variant}_db.py"
    text = (built(variant) / "device_db.py").read_text()
    path.write_text(text.replace("'emulator://'", f"'emulator://{variant}'"))
    return path
