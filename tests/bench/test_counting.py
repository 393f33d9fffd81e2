"""Figures that are counts of instructions and bytes: no change misses their targets unnoticed."""

from tests.bench.__main__ import DRIVERS, INSTRUCTIONS
from tests.bench.counting import all_counts, image_sizes
from tests.bench.drivers import driver_counts

MISSED = {"rtio.output_instr"}
"""As the changelog says."""


def test_counts_of_the_firmware_meet_their_targets():
    counts = all_counts() | image_sizes()
    assert counts.keys() == INSTRUCTIONS.keys()
    above = {name: count for name, count in counts.items() if count > INSTRUCTIONS[name][1]}
    assert above.keys() == MISSED, above


def test_methods_of_drivers_take_no_more_instructions_than_written_out():
    counts = driver_counts()
    assert counts.keys() == DRIVERS.keys()
    assert {name: count for name, count in counts.items() if count > DRIVERS[name][0]} == {}
