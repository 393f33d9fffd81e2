"""Satellites on separate links: events at one link do not affect the others."""

import itertools
import re
from pathlib import Path

import pytest

from tests.support.boards import System
from tests.support.gateware import built, database
from tests.support.waveforms import pulses_of_trace

EXPERIMENT = Path(__file__).with_name("experiments") / "two_links.py"
PERIOD, PULSES = 400_000, 5000
"""Parameters of the subkernel that runs on the second satellite while the link of the first is cut.
"""

PRINTED = """\
edge 0
edge 0
cut
first unreachable
playback unreachable
distributed lost
edge 0
plugged
train 5000
"""

pytestmark = pytest.mark.long
"""The gateware of a master with several links takes a minute to build."""


def test_link_cut_does_not_affect_other_link(kairos, tmp_path):
    built("star", "satellite")
    device = System(tmp_path, "star")
    try:
        for board in (1, 2, 3):
            device.until_logged(f"destination {board}: Kairos satellite")
        devices = database("star", tmp_path)
        host = f"{device.host}:{device.ports[1381]}"
        devices.write_text(devices.read_text() + f"\ndevice_db['core']['arguments']['host'] = '{host}'\n")
        done = kairos("run", EXPERIMENT, f"socket='{device.control_socket}'", device_db=devices)
        log = device.uart()
        pulses = pulses_of_trace(device.control("trace", **{"from": 0}))
        links = device.links()
    finally:
        device.close()
    assert done.returncode == 0, done.stdout + done.stderr + log
    assert re.sub(r"^(cut|plugged) \d+$", r"\1", done.stdout, flags=re.MULTILINE).startswith(PRINTED), done.stdout
    cut, plugged = (int(re.search(rf"^{name} (\d+)$", done.stdout, re.MULTILINE)[1]) for name in ("cut", "plugged"))

    # Pins of all three boards, before and after the cut; those of the second also during it
    master, first, second = (pulses[board << 16 | 4] for board in range(3))
    assert [end - start for start, end in master] == [1003, 1003] and first == master
    assert [end - start for start, end in second] == [1003, *[2005] * 5, 1003] and [second[0], second[-1]] == master
    assert cut < second[1][0] and second[-2][1] < plugged

    # Recordings
    first, second = (pulses[board << 16 | 6] for board in (1, 2))
    before = [(start, end) for start, end in second if end < cut]
    assert [end - start for start, end in before] == [101] * 10 + [307] and first[:11] == before
    assert [end - start for start, end in second if start > cut][-2:] == [509, 307] and first[-1] == second[-1]

    # The kernel of the second is unaffected
    train = pulses[2 << 16 | 5]
    assert len(train) == PULSES and train[0][0] < cut < plugged < train[-1][0]
    assert {end - start for start, end in train} == {1000}
    assert {later - start for (start, _), (later, _) in itertools.pairwise(train)} == {PERIOD}
    assert [link["words"]["ended"] for link in links] == [1, 0, 0] and all(link["up"] for link in links)
