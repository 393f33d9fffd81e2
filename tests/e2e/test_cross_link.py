"""A link beside the tree between two satellites: what they store and copy goes by it, not through the master."""

from pathlib import Path

import pytest

from tests.support.board_registers import DONE, REFUSED, Board
from tests.support.boards import MEMORY_RING, System
from tests.support.command import run_kairos
from tests.support.databases import memories
from tests.support.gateware import built, database
from tests.support.waiting import until

EXPERIMENT = Path(__file__).with_name("experiments") / "cross_link.py"
BOARDS = {"master": 0, "first": 1, "second": 2}
PRINTED = """\
plugged 100 by the master False True across True
back 1720
refused 0 by the master False True across False
unplugged 300 by the master True False across False
nothing for the master
again 400 by the master False True across True
cut in the middle of copies: some fail True
after the cuts 500 by the master False True across True
"""
MEMORY = 0x0FF8_0000
"""Memory that the firmware does not use: `STREAM` of src/contracts/memory.toml."""

pytestmark = pytest.mark.long
"""The gateware of the boards takes minutes to build."""


def test_kernels_of_two_satellites_copy_by_their_own_link_while_it_is_plugged_in(kairos, tmp_path):
    built("ring", "peer")
    (tmp_path / "system.toml").write_text(MEMORY_RING)
    devices = database("ring", tmp_path)
    devices.write_text(devices.read_text() + memories(tmp_path / "system.toml", BOARDS))
    done = kairos("run", EXPERIMENT, device_db=devices)
    assert done.stdout.startswith(PRINTED) and done.returncode == 0, done.stdout + done.stderr


def test_boards_report_where_their_cross_link_leads(tmp_path):
    built("ring", "peer")
    (tmp_path / "system.toml").write_text(MEMORY_RING)
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged("destination 1: Kairos satellite")
        device.until_logged("destination 2: Kairos satellite")
        (cross,) = until(lambda: [link for link in device.links() if link.get("cross") and link["up"]], device.uart)
        assert (cross["from"], cross["destination"], cross["line"]) == (1, 2, True)
        assert (cross["across"]["from"], cross["across"]["destination"]) == (2, 1)
        assert cross["words"]["ended"] == 0 and cross["refused"] == {"accesses": 0, "packets": 0}
        with Board(device, 1) as first, Board(device, 2) as second:
            assert first.batch(("cross1_destination",)) == [24 + 2]
            second.batch(("exports1_first", MEMORY), ("exports1_last", MEMORY + 7), ("exports1_rights", 3))
            second.batch(("exports1_set", 1))
            assert across(first, MEMORY, 7) == DONE and across(first, MEMORY + 8, 8) == REFUSED
            assert second.batch(("exports1_refused",)) == [1]
        shown = run_kairos("links", "-D", device.address, "--plot", tmp_path / "links.svg").stdout
        assert "cross link 1 – 2" in (tmp_path / "links.svg").read_text()
        assert ["1", "–", "2", "cross", "link", "up"] in [row.split()[:6] for row in shown.splitlines()], shown
        device.control("link", to="second", plugged=False, **{"from": "first"})
        (cross,) = until(
            lambda: [link for link in device.links() if link.get("cross") and link["destination"] and not link["line"]],
            device.uart,
        )
        assert (cross["up"], cross["destination"], cross["words"]["ended"]) == (False, 2, 1)
        doctor = run_kairos("device", "-D", device.address, "doctor")
        assert "its cross link to board 2 is down" in doctor.stdout, doctor
    finally:
        device.close()


def across(board, address, value):
    """Store a word by a board's cross link; returns the status."""
    steps = [("remote1_address", address), ("remote1_data", value), ("remote1_store", 1), ("remote1_state", 0, 2)]
    (state,) = board.batch(*steps, ("remote1_state",))
    return state >> 3
