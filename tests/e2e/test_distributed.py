"""Distributed DMA: a recording is split among boards, and each plays its part from a common
timestamp."""

from pathlib import Path

import pytest

from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.waveforms import pulses_of_vcd

EXPERIMENT = Path(__file__).with_name("experiments") / "distributed_boards.py"
MORE = EXPERIMENT.with_name("distributed_more.py")

PRINTED = """\
advanced 4040
advanced 4040
advanced 4040
late here
erased
"""


def test_recording_plays_on_both_boards(kairos):
    built("pair", "satellite")
    done = kairos("run", EXPERIMENT, "--vcd", "a.vcd", device_db=EXAMPLES / "two_boards_device_db.py")
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    # From the last one, on the other board
    assert done.returncode == 1
    assert "RTIOUnderflow: RTIO underflow at" in done.stderr and "channel 0x10005:sat_ttl5" in done.stderr
    pulses = pulses_of_vcd((kairos.directory / "a.vcd").read_text(), complete=False)
    assert len(pulses["ttl4"]) == 60 and pulses["sat_ttl4"] == pulses["ttl4"]
    for first in (0, 20, 40):
        start = pulses["ttl4"][first][0]
        assert pulses["ttl4"][first : first + 20] == [(start + 202 * n, start + 202 * n + 101) for n in range(20)]
    assert [end - start for start, end in pulses["sat_ttl5"]] == [50, 60]
    assert [end - start for start, end in pulses["ttl5"]] == [50]
    assert pulses["sat_ttl5"][0][0] == pulses["ttl5"][0][1]


def test_many_recordings_of_master_and_satellite_play(kairos):
    """A hundred are kept. A satellite's kernel plays what it records, and reaches no other board."""
    built("pair", "satellite")
    done = kairos("run", MORE, "--vcd", "a.vcd", device_db=EXAMPLES / "two_boards_device_db.py")
    assert done.returncode == 0 and done.stdout.startswith("out of reach\n"), done.stdout + done.stderr
    pulses = pulses_of_vcd((kairos.directory / "a.vcd").read_text(), complete=False)
    assert [end - start for start, end in pulses["sat_ttl4"]] == [100, 150, 199]
    assert [end - start for start, end in pulses["sat_ttl5"]] == [70]


@pytest.mark.long
def test_long_playback_does_not_time_out(kairos):
    built("pair", "satellite")
    done = kairos("run", MORE, "seconds=11", "--no-table", device_db=EXAMPLES / "two_boards_device_db.py")
    assert done.returncode == 0 and done.stdout.startswith("played\n"), done.stdout + done.stderr
