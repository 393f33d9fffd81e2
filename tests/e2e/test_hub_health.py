"""Health of devices through the hub: subsystems, the health service, metrics, logs, the service
manager's watchdog."""

import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

import pytest

import kairos.hub
from kairos.hub import HubError
from tests.support import TIMEOUT
from tests.support.command import run_kairos
from tests.support.connection import Closed
from tests.support.hub import Hub, demo_hub, demo_lab, device_client
from tests.support.kernels import kernel, run_empty
from tests.support.paths import EXAMPLES
from tests.support.raw_session import Session

SUBSYSTEMS = {"clock", "kernel_core", "links", "memory", "rtio", "sensors", "watchdog"}


@pytest.fixture(scope="module")
def hub(device, tmp_path_factory):
    with demo_hub(device, tmp_path_factory.mktemp("hub"), ("--log-format", "json")) as hub:
        yield hub


@pytest.fixture
def lab(hub):
    with demo_lab(hub) as lab:
        yield lab


def test_health_of_every_subsystem_is_reported(lab):
    found = lab["demo"].health()
    assert found.keys() == SUBSYSTEMS
    assert {name: each.condition for name, each in found.items() if each.condition not in ("good", "absent")} == {}
    sensors, memory = found["sensors"].values, found["memory"].values
    assert 0 < sensors["temperature_celsius"] < 85 and 0.94 < sensors["vccint_volts"] < 1.06
    assert found["clock"].values["rtio_hertz"] == 125_000_000
    assert 1000 < memory["stack_used_bytes"] < memory["stack_size_bytes"]
    assert found["watchdog"].values["uptime_seconds"] > 0
    with pytest.raises(HubError, match="away at 127.0.0.1:9 does not answer"):
        lab["away"].health()


def test_each_subsystem_has_an_entry_in_the_health_service(lab):
    def status(service):
        (method,) = (m for m in lab._pool.FindServiceByName("grpc.health.v1.Health").methods if m.name == "Check")
        request = kairos.hub.client.GetMessageClass(method.input_type)(service=service)
        reply = kairos.hub.client.GetMessageClass(method.output_type)
        call = lab._channel.unary_unary(
            "/grpc.health.v1.Health/Check", type(request).SerializeToString, response_deserializer=reply.FromString
        )
        return call(request, timeout=10).status

    assert [status(f"device/demo/{name}") for name in ("clock", "rtio", "memory", "kernel_core")] == [1, 1, 1, 1]


def test_metrics_include_every_device_and_call(lab):
    lab["demo"].read("rtio/outputs")
    lines = lab.metrics().splitlines()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    for line in lines:
        assert re.fullmatch(r'# TYPE [a-z_]+ (gauge|counter)|[a-z_]+\{([a-z]+="[^"]*",?)+\} -?[0-9.e+-]+', line), line
    assert samples['kairos_device_up{device="demo"}'] == "1" and samples['kairos_device_up{device="away"}'] == "0"
    assert samples['kairos_subsystem_good{device="demo",subsystem="rtio"}'] == "1"
    assert 0 < float(samples['kairos_sensors_temperature_celsius{device="demo"}']) < 85
    calls = samples['kairos_hub_calls_total{method="/kairos.hub.v1.Registers/Read",code="0"}']
    with pytest.raises(HubError):
        lab["demo"].read("no/such")
    lab["demo"].read("rtio/outputs")
    later = dict(line.rsplit(" ", 1) for line in lab.metrics().splitlines() if not line.startswith("#"))
    assert int(later['kairos_hub_calls_total{method="/kairos.hub.v1.Registers/Read",code="0"}']) == int(calls) + 1
    assert later['kairos_hub_calls_total{method="/kairos.hub.v1.Registers/Read",code="5"}'] == "1"


def make_log_line(device):
    """Let the device log a line, "no heap on core 0"."""
    with device_client(device) as management:
        management.debug_allocator()


def test_command_line_shows_health_metrics_and_log(hub, lab):
    def run(*words):
        return run_kairos("hub", *words, "--hub", hub.address)

    done = run("health", "demo", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["demo"].keys() == SUBSYSTEMS, done.stderr
    table = run("health")
    assert table.returncode == 1 and "does not answer" in table.stdout and "rtio_hertz 1.25e+08" in table.stdout
    assert "kairos_device_up" in run("metrics").stdout
    assert "gateware: demo" in run("log", "demo").stdout
    entries = [json.loads(line) for line in run("log", "demo", "--json").stdout.splitlines()]
    assert any("gateware: demo" in entry["message"] and entry["level"] == "INFO" for entry in entries)


def test_registers_are_watched_from_the_command_line(hub):
    """One line of JSON per reading, without delay, until Ctrl-C."""
    names = ["demo/rtio/outputs", "demo/rtio/counter"]
    command = [sys.executable, "-m", "kairos", "hub", "watch", *names, "--period", "0.02", "--json"]
    with subprocess.Popen([*command, "--hub", hub.address], stdout=subprocess.PIPE, text=True) as process:
        readings = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
    assert all(reading.keys() == {"time", "rtio/outputs", "rtio/counter"} for reading in readings)
    times = [reading["time"] for reading in readings]
    assert times == sorted(times) and len(set(times)) == 3


def test_terminal_shows_one_table_of_watched_devices(hub, lab):
    """Updated in place, with the time of each value's last change."""
    terminal, other = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    lab["demo"].registers["scratch/word"].write(5)
    command = [sys.executable, "-m", "kairos", "hub", "watch", "demo/scratch/word", "--period", "0.02"]
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen([*command, "--hub", hub.address], stdout=other, env=environment) as process:
        os.close(other)
        seen = ""

        def sees(text):
            nonlocal seen
            while not re.search(text, seen):
                seen += os.read(terminal, 4096).decode()

        sees(r"scratch/word +5 +0x5")
        lab["demo"].registers["scratch/word"].write(77)
        sees(r"\x1b\[4Fregister[^\n]*\n-[^\n]*\nscratch/word +77 +0x4d +\d\d:\d\d:\d\d\.\d{3}\x1b\[K")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
    os.close(terminal)


def test_json_log_has_one_object_per_line(hub, lab):
    lines = [json.loads(line) for line in (hub.folder / "hub.log").read_text().splitlines()]
    assert any(line["message"] == "connected" and line["device"] == "demo" for line in lines), lines


def test_log_is_followed_by_many_clients(lab, device):
    """All receive the stored lines and new ones; the stored ones can be read at any time, too."""
    followers = [lab["demo"].log(follow=True) for _ in range(2)]
    for lines in followers:
        assert any("Kairos runtime" in next(lines) for _ in range(100))
    make_log_line(device)
    for lines in followers:
        assert any("no heap on core 0" in next(lines) for _ in range(1000))
    text = list(lab["demo"].log())
    assert any("Kairos runtime" in line for line in text) and any("no heap on core 0" in line for line in text)
    for lines in followers:
        lines.close()


def test_fault_of_a_kernel_is_counted_in_health(device, lab):
    before = lab["demo"].health()["kernel_core"].values["faults_total"]
    with Session(device) as session:
        assert session.load(kernel("scribble")) is None
        session.run()
        with pytest.raises(Closed):
            session.until_end()
    assert lab["demo"].health()["kernel_core"].values["faults_total"] == before + 1
    with Session(device) as session:
        run_empty(session)
    assert lab["demo"].health()["kernel_core"].condition == "good"


def test_service_manager_is_notified_by_live_hub(tmp_path, monkeypatch):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(20)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", "600000")
    # An unreachable device and a plugin that exits immediately do not end the hub.
    protocol = EXAMPLES / "hub" / "plugins" / "pll.proto"
    plugin = f"[[plugin]]\nname = 'ill'\nlayer = 'access'\ncommand = ['false']\nprotocol = '{protocol}'\n"
    hub = Hub(tmp_path, {"away": "127.0.0.1:9"}, entries=plugin)
    try:
        said = [manager.recv(100) for _ in range(4)]
        assert said == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1", b"WATCHDOG=1"]
        # A stopped process is silent.
        hub.process.send_signal(signal.SIGSTOP)
        os.waitpid(hub.process.pid, os.WUNTRACED)
        manager.setblocking(False)
        try:
            while manager.recv(100):
                pass
        except BlockingIOError:
            pass
        time.sleep(1)
        with pytest.raises(BlockingIOError):
            manager.recv(100)
        hub.process.send_signal(signal.SIGCONT)
    finally:
        hub.close()
        manager.close()
