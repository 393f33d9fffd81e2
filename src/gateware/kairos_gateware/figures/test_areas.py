"""The area of PHYs and of whole boards, as the pages have it, is what yosys finds."""

import re
from pathlib import Path

import pytest

from kairos_gateware.figures import __main__ as figures
from kairos_gateware.figures.whole import CHIPS, WHOLE, describe_whole

PAGES = Path(__file__).parents[4] / "docs" / "gateware"
PAGE = PAGES / "phys.md"
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


@pytest.mark.long
@pytest.mark.parametrize("name", WHOLE)
def test_row_of_a_board_has_the_measured_numbers(name):
    rows = (PAGES / "pulse.md").read_text().splitlines()
    line = next(line for line in rows if line.startswith(f"| `{name}`"))
    area, chip = figures._synthesised(name)[1], CHIPS[describe_whole(name)["target"]]
    taken = [(getattr(area, key), getattr(chip, key)) for key in ("lut", "ff", "bram", "dsp")]
    *columns, levels = [[int(number) for number in re.findall(r"\d+", cell)] for cell in line.split("|")[2:7]]
    assert columns == [list(pair) for pair in taken]
    assert levels == [area.depth]
