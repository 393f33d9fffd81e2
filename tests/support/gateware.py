"""Gateware variants for the emulator, built if they are out of date."""

from kairos_gateware import build
from kairos_gateware.description import load, make_variant
from kairos_gateware.verilated import verilate

from .paths import BUILD

__all__ = ["built", "built_as", "built_from", "database"]


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


def database(variant, folder):
    """Write the device database of a variant to a file in `folder`, with the emulated device as its
    core."""
    path = folder / f"{variant}_db.py"
    text = (built(variant) / "device_db.py").read_text()
    path.write_text(text.replace("'emulator://'", f"'emulator://{variant}'"))
    return path
