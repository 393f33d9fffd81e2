"""The area of PHYs, as docs/gateware/phys.md has it, is what yosys finds."""

import re
from pathlib import Path

import pytest

from kairos_gateware.figures import __main__ as figures

PAGE = Path(__file__).parents[4] / "docs" / "gateware" / "phys.md"
ROWS = {
    "grabber, 1 / 16 regions, receiver included": ["grabber_1", "grabber"],
    "Phaser, with oscillators / with pulses": ["phaser", "phaser_miqro"],
    "Songbird with one tone, with its samples": ["songbird_1"],
    "SU-Servo with its channels, one Urukul / two": ["suservo", "suservo_8"],
}
"""Blocks of rows of its table."""


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS)
def test_row_of_the_area_table_has_the_measured_numbers(row):
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith(f"| {row} |"))
    columns = [[int(number) for number in re.findall(r"\d+", cell.split(",")[0])] for cell in line.split("|")[2:5]]
    areas = [figures._synthesised(name)[1] for name in ROWS[row]]
    assert columns == [[area.lut for area in areas], [area.ff for area in areas], [area.depth for area in areas]]
