"""A satellite clocked by a Si5324: it works before there is a clock from the upstream board, and
switches to that."""

from dataclasses import replace

import pytest
from kairos_gateware.variants import VARIANTS

from tests.support.boards import System
from tests.support.gateware import built, built_as

SYSTEM = """
[[board]]
name = "master"
variant = "pair"
firmware = "runtime.elf"

[[board]]
name = "satellite"
variant = "satellite_clocked"
firmware = "satman.elf"
set = {{ si5324 = 1, clock_input = {clock_input} }}

[[link]]
from = "master"
to = "satellite"
delay_ns = 1000
"""
UPSTREAM_CLOCK = "RTIO clock: from the upstream board"

pytestmark = pytest.mark.long
"""The gateware of another board takes minutes to build."""


@pytest.fixture(scope="module", autouse=True)
def gateware():
    built("pair")
    synthesiser = VARIANTS["clocked"].synthesiser
    built_as(replace(VARIANTS["satellite"], name="satellite_clocked", synthesiser=synthesiser))


@pytest.mark.parametrize("clock_input", [0, 125_000_000])
def test_satellite_is_managed_with_and_without_upstream_clock(tmp_path, clock_input):
    description = tmp_path / "system.toml"
    description.write_text(SYSTEM.format(clock_input=clock_input))
    device = System(tmp_path, str(description))
    try:
        device.until_logged("destination 1: Kairos satellite")
        if clock_input:
            device.until_logged(UPSTREAM_CLOCK)
        log = device.manage("1", "log")
    finally:
        device.close()
    assert log.returncode == 0, log.stderr
    assert "RTIO clock: link_125, Si5324 ready" in log.stdout
    assert (UPSTREAM_CLOCK in log.stdout) == bool(clock_input) and "ERROR" not in log.stdout, log.stdout
