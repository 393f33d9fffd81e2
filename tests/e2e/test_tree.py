"""Eight boards in a tree: one kernel, one timeline, kernels on all of them, and links shared by
all."""

from pathlib import Path

import pytest

from tests.support.boards import System
from tests.support.gateware import built, database
from tests.support.waveforms import pulses_of_vcd

EXPERIMENT = Path(__file__).with_name("experiments") / "tree.py"
PRINTED = "11 12 13\n14 15 16 17\n"
OUTPUTS = [f"{board}ttl4" for board in ("", "fork1_", "fork1_a_", "fork1_b_", "fork2_", "fork2_a_", "fork2_b_", "sat_")]

pytestmark = pytest.mark.long
"""The gateware of two more boards takes minutes to build."""


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    built("fork", "satellite")
    return database("tree", tmp_path_factory.mktemp("tree"))


def test_pins_of_all_boards_change_together_reproducibly(kairos, devices):
    waveforms = []
    for name in ("a.vcd", "b.vcd"):
        done = kairos("run", EXPERIMENT, "--vcd", name, device_db=devices)
        assert done.returncode == 0 and done.stdout.startswith(PRINTED), done.stdout + done.stderr
        waveforms.append((kairos.directory / name).read_text())
    assert waveforms[0] == waveforms[1]
    pulses = pulses_of_vcd(waveforms[0])
    first = pulses["ttl4"]
    assert [end - start for start, end in first] == [1003, 2003, 3003]
    assert {name: pulses[name] for name in OUTPUTS} == dict.fromkeys(OUTPUTS, first)


def test_all_traffic_types_share_one_link(kairos, devices):
    """Kernels of three boards, four clients of management, monitor and analyzer: more than eight
    streams."""
    device = System(kairos.directory, "tree")
    try:
        for board in range(1, 8):
            device.until_logged(f"destination {board}: Kairos satellite")
        (kairos.directory / "device_db.py").write_text(
            devices.read_text() + f"\ndevice_db['core']['arguments']['host'] = '{device.host}:{device.ports[1381]}'\n"
        )
        services = {"management": 1380, "analyzer": 1382, "monitor": 1383}
        arguments = [f"{name}={device.ports[port]}" for name, port in services.items()]
        done = kairos("run", EXPERIMENT, *arguments, device_db=kairos.directory / "device_db.py")
        log = device.uart()
    finally:
        device.close()
    assert done.returncode == 0 and done.stdout.startswith(PRINTED), done.stdout + done.stderr + log
    # Three pulses per pin
    assert int(done.stdout.split("events ")[1].split()[0]) >= len(OUTPUTS) * 6, done.stdout
