"""Words that a pulse core fetches are in the memory of the kernel's board: cores of other boards are refused."""

import pytest

from tests.support.command import Kairos
from tests.support.gateware import built
from tests.support.paths import EXAMPLES, ROOT

EXPERIMENT = ROOT / "tests/e2e/experiments/pulse_streams.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    built("pulse_pair", "pulse_satellite")
    kairos = Kairos(tmp_path_factory.mktemp("streams"))
    database = EXAMPLES / "two_board_gate_device_db.py"
    return lambda *arguments: kairos("run", EXPERIMENT, "--no-table", *arguments, device_db=database)


def test_streams_reach_cores_of_the_kernels_board_alone(run):
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused\nthere 3\ndone\n" in done.stdout


def test_stream_to_another_board_names_its_replacement(run):
    done = run("caught=False")
    assert done.returncode == 1
    text = (
        "ValueError: stream_from is for pulse cores of the board on which the kernel runs, not for one on "
        "destination 1: use send, or a subkernel there"
    )
    assert [line for line in done.stderr.splitlines() if text in line], done.stderr
