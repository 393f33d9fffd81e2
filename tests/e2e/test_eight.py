"""Eight boards, the maximum of a tree, in a chain and in a star: one timeline, and a kernel on the
last one.

A chain has the maximum number of consecutive links, a star the maximum at one board.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kairos_gateware.device_db import render
from kairos_gateware.variants import VARIANTS

from tests.support.boards import System
from tests.support.command import run_kairos
from tests.support.gateware import built, built_as
from tests.support.waveforms import pulses_of_trace

EXPERIMENT = Path(__file__).with_name("experiments") / "eight.py"
LAST = 7

pytestmark = pytest.mark.long
"""The gateware of up to eight boards takes minutes to build."""


def satellite(number, *downstream):
    """Return the variant of board `number`, which has the channels of `satellite`."""
    alone = VARIANTS["satellite"]
    channels = tuple(replace(spec, name=spec.name.replace("sat_", f"sat{number}_")) for spec in alone.channels)
    return replace(
        alone, name=f"eight_{number}" if downstream else alone.name, channels=channels, satellites=downstream
    )


def chain():
    """Return (master, boards by destination, number of each one's upstream board)."""
    boards = [satellite(LAST)]
    for number in reversed(range(1, LAST)):
        boards.insert(0, satellite(number, boards[0]))
    return boards[:1], boards, range(LAST)


def star():
    """As `chain`."""
    boards = [satellite(number) for number in range(1, LAST + 1)]
    return boards, boards, [0] * LAST


def description(boards, upstream, delays):
    """Return the emulator's description, with ns of fibre from the upstream board to each board but
    the first."""
    firmware = ["runtime.elf", *["satman.elf"] * LAST]
    parts = [
        f'[[board]]\nname = "board{n}"\nvariant = "{board.name}"\nfirmware = "{firmware[n]}"\n'
        for n, board in enumerate(boards)
    ]
    parts += [
        f'[[link]]\nfrom = "board{upstream[n]}"\nto = "board{n + 1}"\ndelay_ns = {delay}\n'
        for n, delay in enumerate(delays)
    ]
    return "\n".join(parts)


@pytest.fixture(scope="module", params=[chain, star], ids=["chain", "star"])
def boards(request, tmp_path_factory):
    """Eight connected boards; `upstream`: the number of each one's upstream board; their device database."""
    downstream, others, upstream = request.param()
    master = replace(VARIANTS["pair"], name=f"eight_{request.param.__name__}", satellites=tuple(downstream))
    built("satellite")
    for variant in [master, *others]:
        if variant.satellites:
            built_as(variant)
    folder = tmp_path_factory.mktemp("eight")
    delays = [200, 1000, 208, 400, 2600, 800, 600]
    (folder / "system.toml").write_text(description([master, *others], upstream, delays))
    device = System(folder, folder / "system.toml")
    try:
        for board in range(1, LAST + 1):
            device.until_logged(f"destination {board}: Kairos satellite")
        device.upstream, device.devices = list(upstream), folder / "device_db.py"
        device.devices.write_text(render(master, f"{device.host}:{device.ports[1381]}"))
        yield device
    finally:
        device.close()


def test_eight_boards_change_pins_together(boards, kairos):
    done = kairos("run", EXPERIMENT, device_db=boards.devices)
    assert done.returncode == 0 and done.stdout.startswith("42\n"), done.stdout + done.stderr + boards.uart()
    pulses = pulses_of_trace(boards.control("trace", **{"from": 0}))
    first = pulses[4]
    assert [end - start for start, end in first] == [1003, 2003, 3003]
    assert [pulses[board << 16 | 4] for board in range(LAST + 1)] == [first] * (LAST + 1)
    ((start, end),) = pulses[LAST << 16 | 5]
    assert end - start == 777 and start > first[-1][1]


def test_link_table_lists_all_boards(boards):
    links = boards.links()
    assert [(link["from"], link["destination"]) for link in links] == list(
        zip(boards.upstream, range(1, 8), strict=True)
    )
    for link in links:
        assert link["line"] and link["up"] and link["rtio"] and link["words"]["ended"] == 0, json.dumps(link)
        # Its own channels, without those of boards behind it
        assert link["channels"] == len(VARIANTS["satellite"].channels)
    rows = [row.split() for row in run_kairos("links", "-D", boards.address).stdout.splitlines()[1:]]
    assert [(row[0], row[2]) for row in rows] == [(str(board), "up") for board in range(1, LAST + 1)]


def test_every_board_is_managed_through_master(boards):
    for board in range(1, LAST + 1):
        log = boards.manage(str(board), "log")
        assert log.returncode == 0 and f"upstream board has assigned destination {board}" in log.stdout, log.stderr
