"""A link that is cut, and a satellite that restarts, at any instant under the load of all clients."""

import re
from pathlib import Path

import pytest

from tests.support.boards import System
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

EXPERIMENT = Path(__file__).with_name("experiments") / "cuts.py"


# A thousand, in parts: each begins with boards that have just started
THOUSAND = [pytest.param(100, seed, marks=pytest.mark.long, id=f"part{seed}") for seed in range(1, 11)]


@pytest.mark.parametrize("rounds, seed", [pytest.param(24, 24, id="few"), *THOUSAND])
def test_what_is_asked_for_is_executed_or_refused(kairos, rounds, seed):
    built("pair", "satellite")
    device = System(kairos.directory, "pair")
    try:
        database = kairos.directory / "device_db.py"
        original = EXAMPLES / "two_boards_device_db.py"
        database.write_text(
            original.read_text().replace("__file__", repr(str(original)))
            + f"\ndevice_db['core']['arguments']['host'] = '{device.host}:{device.ports[1381]}'\n"
        )
        services = {"management": 1380, "analyzer": 1382, "monitor": 1383}
        arguments = [f"{name}={device.ports[port]}" for name, port in services.items()]
        arguments += [f"rounds={rounds}", f"seed={seed}", f"socket='{device.control_socket}'"]
        done = kairos("run", EXPERIMENT, *arguments, device_db=database, timeout=6 * rounds + 120)
        log = device.uart()
    finally:
        device.close()
    assert done.returncode == 0, done.stdout + done.stderr + log
    *kinds, others, wrong = done.stdout.splitlines()[:7]
    assert wrong == "wrong: [] []", done.stdout
    counts = [tuple(map(int, re.findall(r"\d+", line))) for line in kinds]
    assert sum(map(sum, counts)) == rounds
    # Some come through, and some do not, whatever is done.
    assert all(sum(column) for column in zip(*counts, strict=True)), done.stdout
    assert all(map(int, re.findall(r"\d+", others))), others
