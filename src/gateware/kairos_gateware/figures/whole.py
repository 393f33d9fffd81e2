"""Complete boards of system descriptions, as large as they get: what yosys makes of all logic of a chip at once."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import description
from ..boards.zynq import generate
from ..build import hardware_board
from .synthesis import Area, synthesise_files

__all__ = ["CHIPS", "WHOLE", "Chip", "describe_whole", "synthesise_whole"]


@dataclass(frozen=True)
class Chip:
    """What a chip has. Source: AMD, Zynq-7000 SoC Data Sheet: Overview (DS190), table 1."""

    name: str
    lut: int
    ff: int
    bram: int
    """Of 36 Kbit."""
    dsp: int


CHIPS = {
    "kasli_soc": Chip("XC7Z030", 78_600, 157_200, 265, 400),
    "zc706": Chip("XC7Z045", 218_600, 437_200, 545, 900),
}
WHOLE = ("pulse8_kasli", "pulse8_zc706")
"""Descriptions, in the folder of this package's descriptions."""


def describe_whole(name: str) -> dict:
    """Return a description of `WHOLE`; its `target` is a key of `CHIPS`."""
    return description.load(Path(description.__file__).parent / f"{name}.json")


def synthesise_whole(name: str, cache: Path | None = None) -> Area:
    """Return what the board of a description of `WHOLE` takes. cache, errors: as of `synthesise`."""
    described = describe_whole(name)
    board = hardware_board(described["target"])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        generate(board, description.make_variant(described), folder)
        files = {path.name: path.read_text() for path in [*folder.glob("*.v"), *folder.glob("*.init")]}
    return synthesise_files(files, board.build_name, name, cache)
