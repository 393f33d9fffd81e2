"""Two boards on a link, from the user's side: one kernel, one timeline, exact errors."""

from pathlib import Path

import pytest

from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.waveforms import pulses_of_vcd

EXPERIMENT = Path(__file__).with_name("experiments") / "satellite.py"
PRINTED = """\
stamp 1003
stamp 1503
stamp -1
underflow
no such channel
no such board
True True False
unplugged False
no inputs
"""


@pytest.fixture(scope="module")
def pair():
    """The device database of the example, whose gateware is built if it is out of date."""
    built("pair", "satellite")
    return EXAMPLES / "two_boards_device_db.py"


def test_kernel_pulses_both_boards_simultaneously(kairos, pair):
    files = []
    for options in [(), ("--no-skip",)]:
        done = kairos("run", EXAMPLES / "two_boards.py", "--vcd", "a.vcd", *options, device_db=pair)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith("the satellite's edge is stamped 0 ns after its event\n")
        files.append((kairos.directory / "a.vcd").read_text())
    assert files[0] == files[1]
    assert (
        files[0].index("scope module master") < files[0].index("scope module satellite1") < files[0].index("sat_ttl4")
    )
    pulses = pulses_of_vcd(files[0])
    assert pulses["ttl5"] == pulses["sat_ttl6"] and len(pulses["ttl5"]) == 4
    starts = [10_000, 14_001, 19_002, 25_003, 32_004]
    assert pulses["ttl4"] == [(start, start + 1000 * n) for n, start in enumerate(starts, 1)]
    assert pulses["sat_ttl4"] == [(start, start + 1000 * n + 1) for n, start in enumerate(starts, 1)]


def test_satellite_requests_are_executed_or_raise_exact_errors(kairos, pair, tmp_path):
    database = tmp_path / "device_db.py"
    database.write_text(
        pair.read_text().replace("__file__", repr(str(pair)))
        + """
for name, channel in [("sat_missing", 1 << 16 | 40), ("unconnected", 2 << 16)]:
    device_db[name] = copy.deepcopy(device_db["ttl4"])
    device_db[name]["arguments"]["channel"] = channel
"""
    )
    done = kairos("run", EXPERIMENT, "--vcd", "a.vcd", device_db=database)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "RTIOUnderflow: RTIO underflow at" in done.stderr, done.stderr
    assert "channel 0x10004:sat_ttl4" in done.stderr
    pulses = pulses_of_vcd((kairos.directory / "a.vcd").read_text(), complete=False)
    played = pulses["sat_ttl5"][:20]
    assert [(start - played[0][0], end - start) for start, end in played] == [(202 * n, 101) for n in range(20)]
    assert pulses["ttl4"][:20] == played
    widths = [end - start for start, end in pulses["sat_ttl5"]]
    assert 55 not in widths and widths.count(56) == 1
    # The link is back, and the boards agree
    assert pulses["ttl4"][-1] == pulses["sat_ttl5"][-1]
    assert pulses["ttl4"][-1][1] - pulses["ttl4"][-1][0] == 78
