"""A master, a satellite, and another one behind it: one kernel, one timeline, and every board is
reachable."""

import json
from pathlib import Path
from random import Random

import pytest

from tests.support.boards import System
from tests.support.command import run_kairos
from tests.support.gateware import built, database
from tests.support.raw_management import Management
from tests.support.waiting import until
from tests.support.waveforms import pulses_of_vcd

EXPERIMENTS = Path(__file__).with_name("experiments")

pytestmark = pytest.mark.long
"""The gateware of two more boards takes minutes to build."""


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Three boards with established links."""
    built("chain", "relay", "satellite")
    device = System(tmp_path_factory.mktemp("chain"), "chain")
    try:
        device.until_logged("destination 1: Kairos satellite")
        device.until_logged("destination 2: Kairos satellite")
        yield device
    finally:
        device.close()


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    built("relay", "satellite")
    return database("chain", tmp_path_factory.mktemp("devices"))


def test_kernel_drives_pins_and_subkernels_of_all_boards(kairos, devices):
    done = kairos("run", EXPERIMENTS / "chain.py", "--vcd", "a.vcd", device_db=devices)
    assert done.stdout.startswith("0\n0\n0\n7.5 42\n"), done.stdout + done.stderr
    assert done.returncode == 1
    assert "RTIOUnderflow: RTIO underflow at" in done.stderr and "channel 0x20004:sat_ttl4" in done.stderr
    waveform = (kairos.directory / "a.vcd").read_text()
    assert all(f"scope module {board}" in waveform for board in ("master", "satellite1", "satellite2"))
    pulses = {name: found[:3] for name, found in pulses_of_vcd(waveform, complete=False).items()}
    assert [end - start for start, end in pulses["ttl4"]] == [1003, 2003, 3003]
    assert pulses["ttl4"] == pulses["relay_ttl4"] == pulses["sat_ttl4"]


RING = """
[loopback.over_the_relay]
from = "ttl4"
to = "sat_ttl0"

[loopback.up]
from = "sat_ttl4"
to = "relay_ttl0"
delay_ns = 5

[loopback.to_the_master]
from = "relay_ttl4"
to = "ttl0"
jitter_ns = 1
"""


def test_bench_cables_connect_unlinked_boards(kairos, devices):
    bench = kairos.write(RING, head="", name="ring.toml")
    printed = []
    for options in [(), (), ("--no-skip",)]:
        run = ("run", EXPERIMENTS / "chain_bench.py", "--bench", bench, "--no-table", *options)
        done = kairos(*run, device_db=devices)
        assert done.returncode == 0, done.stdout + done.stderr
        printed.append(done.stdout.splitlines()[0])
    assert len(set(printed)) == 1 and printed[0].startswith("8 13 "), printed
    assert int(printed[0].split()[2]) == pytest.approx(8, abs=5)


NESTED = """\
calls 1
calls 4
calls 7
upwards 41
caught 2
errors 111
directly 42
"""


def test_satellite_kernels_start_other_subkernels(kairos, devices):
    done = kairos("run", EXPERIMENTS / "nested.py", device_db=devices)
    assert done.stdout.startswith(NESTED), done.stdout + done.stderr
    assert done.returncode == 1 and "ValueError: odd: 7" in done.stderr
    # The uncaught exception, with the frames of three boards
    frames = [line.split(", in ")[1].split()[0] for line in done.stderr.splitlines() if "nested.py" in line]
    assert frames == [f"nested.Nested.{name}" for name in ("raises", "passes_on", "run")]


def test_every_board_is_managed_through_master(chain, tmp_path):
    links = chain.links()
    assert [(link["from"], link["destination"], link["board"].split(";")[0]) for link in links] == [
        (0, 1, "relay"),
        (1, 2, "satellite"),
    ]
    for link in links:
        assert (
            link["line"] and link["up"] and link["rtio"] and link["downstream"]["up"] and link["downstream"]["upstream"]
        )
    table = run_kairos("links", "-D", chain.address, "--plot", str(tmp_path / "links.svg")).stdout.splitlines()
    assert [line.split()[:3] for line in table[1:]] == [["1", "relay", "up"], ["2", "satellite", "up"]]
    assert table[2].index("satellite") == table[1].index("relay") + 2
    for destination, board in [(1, "relay"), (2, "satellite")]:
        log = chain.manage(board, "log")
        assert log.returncode == 0, log.stderr
        assert f"upstream board has assigned destination {destination}" in log.stdout
    assert chain.manage("3", "log").returncode == 1


def test_boards_of_a_chain_restart_and_reconnect(chain):
    for board, known in [
        ("satellite", "destination 2: Kairos satellite"),
        ("relay", "destination 1: Kairos satellite"),
    ]:
        before = chain.uart().count(known)
        assert chain.manage(board, "reboot").returncode == 0
        chain.until_logged(known, before + 1)
    chain.until_logged("destination 2: Kairos satellite", 3)
    assert [link["up"] for link in chain.links()] == [True, True]
    assert json.dumps(chain.links())


def test_unplugged_links_cause_no_late_events(chain):
    """The promises of an idle board to its neighbour hold while a word is on its way to it."""
    random = Random(1)
    before = [link["words"]["ended"] for link in chain.links()]
    with Management(chain):
        for cut in range(60):
            for plugged in (False, True):
                chain.control("link", to=("relay", "satellite")[cut % 2], plugged=plugged)
                chain.pass_time(random.random() * random.choice([2e-6, 2e-4, 2e-3]))
    links = until(
        lambda: [link for link in chain.links() if link["up"] and link["rtio"]][1:] and chain.links(), chain.uart
    )
    assert [link["words"]["ended"] - count for link, count in zip(links, before, strict=True)] == [30, 30]
    assert chain.errors() == ""
