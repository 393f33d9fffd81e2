"""The firmware of two boards on a link: a satellite is discovered and managed through the master."""

import runpy
from pathlib import Path
from random import Random

import pytest

from kairos.compat.clients import CommMgmt
from tests.support import sd_card
from tests.support.board_registers import Board
from tests.support.boards import MEMORY_PAIR, System
from tests.support.command import run_kairos
from tests.support.databases import REMOTE_MEMORY, two_boards
from tests.support.gateware import built
from tests.support.paths import BUILD, EXAMPLES, ROOT
from tests.support.raw_management import Management
from tests.support.waiting import let_pass, until
from tests.support.waveforms import pulses_of_trace

ABOVE = "destination 1: Kairos satellite"
"""The master's log message about a known satellite."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A master and a satellite with an established link."""
    built("pair", "satellite")
    device = System(tmp_path_factory.mktemp("pair"), "pair")
    try:
        device.until_logged(ABOVE)
        yield device
    finally:
        device.close()


def test_master_reports_state_of_the_satellite_link(pair):
    (link,) = pair.links()
    assert link["destination"] == 1 and not link["upstream"]
    assert link["line"] and link["up"] and link["rtio"]
    assert link["board"].startswith("satellite;")
    assert link["firmware"].startswith("Kairos satellite ")
    assert link["channels"] > 0 and link["delay_cycles"] > 125
    assert link["malformed"] == link["dropped"] == 0
    table = run_kairos("links", "-D", pair.address).stdout.splitlines()
    assert table[0].split()[:3] == ["destination", "board", "state"]
    assert table[1].split()[:3] == ["1", "satellite", "up"]
    assert link["words"] == {"ended": 0, "corrected": 0, "retransmitted": 0, "dropped": 0, "space": 504}


@pytest.mark.parametrize(("delay_ns", "phase_ps"), [(1003, 6000), pytest.param(1005, 2000, marks=pytest.mark.long)])
def test_fine_clock_phase_is_reported(tmp_path, delay_ns, phase_ps):
    """Sum of both directions, as measured by the logic, to 1/64 of a cycle; an unknown value is not
    shown."""
    built("pair", "satellite")
    description = (ROOT / "src/emulator/src/host/pair.toml").read_text()
    (tmp_path / "system.toml").write_text(description.replace("delay_ns = 1000", f"delay_ns = {delay_ns}"))
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged(ABOVE)
        until(lambda: device.links()[0]["rtio"], device.uart)
        (link,) = device.links()
        assert abs(link["phase_ps"] - phase_ps) <= 125, link
        head, row = run_kairos("links", "-D", device.address, "--plot", tmp_path / "links.svg").stdout.splitlines()
        assert f"cycles  {link['phase_ps']} ps  " in row and "  phase  " in head
        assert f"phase {link['phase_ps']} ps" in (tmp_path / "links.svg").read_text()
        device.control("link", to="satellite", plugged=False)
        (link,) = until(lambda: [link for link in device.links() if not link["rtio"]], device.uart)
        assert "phase_ps" not in link
        assert "cycles  –  " in run_kairos("links", "-D", device.address).stdout
    finally:
        device.close()


def test_links_are_drawn_or_format_is_refused(pair, tmp_path):
    done = run_kairos("links", "-D", pair.address, "--plot", str(tmp_path / "links.svg"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "links.svg").read_text().startswith("<?xml")
    refused = run_kairos("links", "-D", pair.address, "--plot", str(tmp_path / "links.txt"))
    assert refused.returncode == 2 and "links.txt" in refused.stderr


def test_satellite_is_managed_through_master(pair):
    log = pair.manage("satellite", "log")
    assert log.returncode == 0, log.stderr
    assert "Kairos runtime" not in log.stdout
    host, port = pair.address.split(":")
    assert CommMgmt(host, int(port), drtio_dest=1).get_log() == log.stdout
    # It has no card
    done = pair.manage("satellite", "config", "read", "-s", "ip")
    assert done.returncode == 1 and "no such key, or no card" in done.stderr
    assert pair.manage("satellite", "log", "clear").returncode == 0
    assert pair.manage("satellite", "log").stdout == ""
    missing = run_kairos("device", "-D", pair.address, "--board", "9", "log")
    assert missing.returncode == 1 and "there is no such board, or its link is down" in missing.stderr
    unknown = run_kairos("device", "-D", pair.address, "--board", "elsewhere", "log")
    assert unknown.returncode == 1
    assert "this device has no board 'elsewhere' on its links; available: satellite" in unknown.stderr
    # As a variable of a script that has not been set: not the master
    empty = pair.manage("", "log", "clear")
    assert empty.returncode == 1 and "this device has no board '' on its links" in empty.stderr


def test_restarted_satellite_reconnects_and_is_managed(pair):
    before = pair.uart().count(ABOVE)
    assert pair.manage("satellite", "reboot").returncode == 0
    pair.until_logged(ABOVE, before + 1)
    (link,) = pair.links()
    assert link["up"]
    log = pair.manage("satellite", "log").stdout
    assert "Kairos satellite " in log and "upstream board has assigned destination 1" in log


def test_device_database_has_channels_of_both_boards(pair, tmp_path):
    path = tmp_path / "device_db.py"
    done = run_kairos("devices", "--from", pair.address, "--host", "emulator://pair", "-o", path)
    assert done.returncode == 0, done.stderr
    built_with = runpy.run_path(str(BUILD / "gateware" / "pair" / "device_db.py"))
    assert runpy.run_path(str(path))["device_db"] == built_with["device_db"]


def test_satellite_restart_raises_in_waiting_kernel(pair, tmp_path):
    database = tmp_path / "device_db.py"
    host = f"{pair.host}:{pair.ports[1381]}"
    database.write_text(
        (EXAMPLES / "device_db.py").read_text() + f'\ndevice_db["core"]["arguments"]["host"] = "{host}"\n'
    )
    experiment = Path(__file__).with_name("experiments") / "satellite_restart.py"
    done = run_kairos("run", experiment, "--device-db", database, f"management={pair.ports[1380]}")
    assert done.stdout.startswith("sum 3\nlost\nsum 7\n"), done.stdout + done.stderr
    assert done.returncode == 1
    assert "SubkernelError: Lost communication with satellite: destination 1 does not answer" in done.stderr


def test_satellite_restarts_with_pending_interrupt(tmp_path):
    """The gateware keeps running, so nobody clears it before the firmware is up again."""
    built("memory", "store")
    (tmp_path / "system.toml").write_text(MEMORY_PAIR)
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged(ABOVE)
        database = tmp_path / "device_db.py"
        database.write_text(two_boards(f"{device.host}:{device.ports[1381]}") + REMOTE_MEMORY)
        experiment = Path(__file__).with_name("experiments") / "satellite_interrupts.py"
        done = run_kairos("run", experiment, "--device-db", database)
        assert done.stdout.startswith("copied\n"), done.stdout + done.stderr
        with Board(device, 1) as satellite:
            assert satellite.batch(("bulk_interrupt", 1), ("bulk_notification",)) == [1]
        assert device.manage("1", "reboot").returncode == 0
        device.until_logged(ABOVE, 2)
    finally:
        device.close()


@pytest.mark.parametrize("cut", [pytest.param(False, marks=pytest.mark.long), True])
def test_restarted_satellite_keeps_gateware_state(tmp_path, cut):
    """Outputs received over the link are executed independently of its processors, even if the link
    is lost meanwhile."""
    built("pair", "satellite")
    device = System(tmp_path, "pair")
    try:
        device.until_logged(ABOVE)
        (database := tmp_path / "device_db.py").write_text(two_boards(f"{device.host}:{device.ports[1381]}"))
        experiment = Path(__file__).with_name("experiments") / "satellite_keeps.py"
        arguments = [f"management={device.ports[1380]}", f"socket='{device.control_socket}'", f"cut={cut}"]
        done = run_kairos("run", experiment, "--device-db", database, *arguments)
        assert done.stdout.startswith("edges 40\nand again 41\n"), done.stdout + done.stderr + device.uart()
        assert device.uart().count("comms::chip): Kairos satellite ") == 2
    finally:
        device.close()


def test_outputs_lost_in_flight_are_reported_after_wait(tmp_path):
    """The next output to that board is refused. It was posted, so the wait for its time reports it."""
    built("pair", "satellite")
    description = (ROOT / "src/emulator/src/host/pair.toml").read_text()
    cut = 3_000_000_000
    line = f"delay_ns = 260_000\nunplugged_ns = [[{cut}, {cut + 1_000_000}]]"
    (tmp_path / "system.toml").write_text(description.replace("delay_ns = 1000", line))
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged(ABOVE)
        (database := tmp_path / "device_db.py").write_text(two_boards(f"{device.host}:{device.ports[1381]}"))
        experiment = Path(__file__).with_name("experiments") / "satellite_in_flight.py"
        done = run_kairos("run", experiment, "--device-db", database, f"cut_ns={cut}")
        assert done.stdout.startswith("unreachable\nreached\n"), done.stdout + done.stderr + device.uart()
        assert "RTIO busy error involving channel 0x10005:sat_ttl5" in device.manage("0", "log").stdout
    finally:
        device.close()


def test_outputs_lost_by_gateware_reload_are_reported(tmp_path):
    """As when a loader boots it. The kernel is informed at its next request, and the log has the
    number of outputs."""
    built("pair", "satellite")
    description = (ROOT / "src/emulator/src/host/pair.toml").read_text()
    text = description.replace('name = "satellite"', 'name = "satellite"\nreloads = true', 1)
    assert text != description
    (tmp_path / "system.toml").write_text(text)
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged(ABOVE)
        (database := tmp_path / "device_db.py").write_text(two_boards(f"{device.host}:{device.ports[1381]}"))
        experiment = Path(__file__).with_name("experiments") / "satellite_reloaded.py"
        arguments = [f"management={device.ports[1380]}", f"socket='{device.control_socket}'"]
        done = run_kairos("run", experiment, "--device-db", database, *arguments)
        assert done.stdout.startswith("reported\ntaken\ntaken\npulses 3\n"), done.stdout + done.stderr + device.uart()
        log = device.manage("0", "log").stdout
        assert "satellite 1 has not executed up to 42 outputs: its gateware was restarted" in log, log
        assert "RTIO busy error involving channel 0x10005:sat_ttl5" in log, log
        (link,) = device.links()
        assert link["lost_outputs"] == 42 and link["rtio"]
    finally:
        device.close()


@pytest.mark.parametrize(
    "recorded", [False, pytest.param(True, marks=pytest.mark.long)], ids=["outputs", "a recording"]
)
def test_satellite_reset_reports_dropped_master_outputs(pair, tmp_path, recorded):
    """By a reset of its board's RTIO core: reported for the channel, as for late events."""
    (database := tmp_path / "device_db.py").write_text(two_boards(f"{pair.host}:{pair.ports[1381]}"))
    assert pair.manage("0", "log", "clear").returncode == 0
    experiment = Path(__file__).with_name("experiments") / "satellite_drops.py"
    done = run_kairos("run", experiment, "--device-db", database, f"recorded={recorded}")
    assert done.stdout.startswith("done\n"), done.stdout + done.stderr + pair.uart()
    assert done.stderr == "WARNING: busy error(s) reported during kernel execution\n"
    errors = [line for line in pair.manage("0", "log").stdout.splitlines() if "RTIO busy error" in line]
    assert len(errors) == 1 and errors[0].endswith("involving channel 0x10005:sat_ttl5"), errors


def test_master_reset_drops_all_pending_outputs(pair, tmp_path):
    """All pending outputs, on every board and of every kernel, silently, as on one board, since it
    was requested. A running subkernel's subsequent requests are executed; one that waits for an
    input is informed.
    """
    (database := tmp_path / "device_db.py").write_text(two_boards(f"{pair.host}:{pair.ports[1381]}"))
    assert pair.manage("0", "log", "clear").returncode == 0
    begin = pair.control("status")["time_ns"]
    experiment = Path(__file__).with_name("experiments") / "master_resets.py"
    done = run_kairos("run", experiment, "--device-db", database)
    assert done.returncode == 0 and done.stdout.startswith("reported\n"), done.stdout + done.stderr + pair.uart()
    assert done.stderr == "" and "busy error" not in pair.manage("0", "log").stdout
    pulses = pulses_of_trace(pair.control("trace", **{"from": 0}))
    lengths = {
        channel: [end - start for start, end in pulses.get(channel, []) if start > begin]
        for channel in (4, 1 << 16 | 4, 1 << 16 | 5, 1 << 16 | 6)
    }
    assert lengths == {4: [444], 1 << 16 | 4: [444], 1 << 16 | 5: [444], 1 << 16 | 6: [333]}


def test_link_is_unplugged_at_described_time(tmp_path):
    built("pair", "satellite")
    description = (ROOT / "src/emulator/src/host/pair.toml").read_text()
    (tmp_path / "system.toml").write_text(description + "unplugged_ns = [[1_000_000_000, 1_003_000_000]]\n")
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        device.until_logged(ABOVE)
        let_pass(device, 1)
        (link,) = until(lambda: [link for link in device.links() if link["up"] and link["rtio"]], device.uart)
        assert link["words"]["ended"] == 1
    finally:
        device.close()


def test_unplugged_link_causes_no_late_events(tmp_path):
    """The boards' logic may be at different times when the link is pulled: the emulator reports if
    a word arrives in the past of a board, after which runs are no longer reproducible."""
    built("pair", "satellite")
    device, random = System(tmp_path, "pair"), Random(1)
    try:
        device.until_logged(ABOVE)
        with Management(device):
            for plugged in 50 * [False, True]:
                device.control("link", to="satellite", plugged=plugged)
                assert device.control("links")["links"][0]["plugged"] == plugged
                device.pass_time(random.random() * random.choice([2e-6, 2e-4, 2e-3]))
        (link,) = until(lambda: [link for link in device.links() if link["up"] and link["rtio"]], device.uart)
        assert link["words"]["ended"] == 50
        assert device.errors() == ""
    finally:
        device.close()


ALONE = """from artiq.experiment import *


class Alone(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sat_ttl4")

    @subkernel(destination=1)
    def pulses(self, a: TInt32) -> TInt32:
        self.sat_ttl4.pulse(1 * us)
        return 2 * a

    @kernel
    def run(self):
        self.core.reset()
        subkernel_preload(self.pulses)
        self.core.break_realtime()
        delay(5 * ms)
        self.pulses(21)
        print("alone", subkernel_await(self.pulses))
        self.core.wait_until_mu(now_mu() + 5000)
"""


def finished(log):
    return log if "startup kernel: finished" in log else None


def test_startup_kernel_runs_subkernels_and_prints(kairos, tmp_path):
    path = kairos.write(ALONE, "", "alone.py")
    done = kairos("compile", path, device_db=EXAMPLES / "two_boards_device_db.py")
    assert done.stdout == f"wrote {path.with_suffix('.tar')}\n", done.stderr
    card = sd_card.make(tmp_path / "card", [(b"CONFIG  TXT", b"")])
    description = (ROOT / "src/emulator/src/host/pair.toml").read_text()
    (tmp_path / "system.toml").write_text(description.replace("[[board]]", f'[[board]]\nsd = "{card.name}"', 1))
    device = System(tmp_path, tmp_path / "system.toml")
    try:
        written = path.with_suffix(".tar")
        done = run_kairos("device", "-D", device.address, "config", "write", "-f", "startup_kernel", written)
        assert done.returncode == 0, done.stderr
        assert run_kairos("device", "-D", device.address, "reboot").returncode == 0
        # Time advances while the log is requested.
        log = until(lambda: finished(run_kairos("device", "-D", device.address, "log").stdout), device.uart)
        assert "alone 42" in log
        trace = device.control("trace", **{"from": 0})
        (pad,) = [pad["index"] for pad in trace["pads"] if pad["name"] == "sat_ttl4"]
        times = [when for when, index, _ in trace["events"] if index == pad]
        assert times[-1] - times[-2] == 1000
    finally:
        device.close()


def test_satellite_errors_name_board_and_channel(pair, tmp_path):
    """Its own with its destination; those of the core device, whose names it lacks, as unknown."""
    (database := tmp_path / "device_db.py").write_text(two_boards(f"{pair.host}:{pair.ports[1381]}"))
    assert pair.manage("1", "log", "clear").returncode == 0
    experiment = Path(__file__).with_name("experiments") / "satellite_names.py"
    done = run_kairos("run", experiment, "--device-db", database)
    assert "WARNING: collision(s) reported during kernel execution" in done.stderr
    assert "RTIO destination unreachable, output, at" in done.stderr, done.stdout + done.stderr + pair.uart()
    assert "channel 0x0004:unknown" in done.stderr, done.stderr

    def reported():
        let_pass(pair, 0.1)
        return "RTIO collision involving channel 0x10000:sat_ttl0" in pair.manage("1", "log").stdout

    until(reported, pair.uart)
