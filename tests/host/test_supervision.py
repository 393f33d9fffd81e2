"""Supervision of controllers: processes of a device database, kept running, and managed at a port."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from types import SimpleNamespace

import pytest

from kairos.controllers import AsyncClient, BestEffortClient, Client, ControllerError, Supervisor, Times
from kairos.devices import DeviceDB
from kairos.errors import UsageError
from tests.support import TIMEOUT
from tests.support.command import run_kairos
from tests.support.ports import free_port
from tests.support.waiting import until

PROGRAM = textwrap.dedent(
    """
    import argparse
    from sipyco import common_args
    from sipyco.pc_rpc import simple_server_loop

    class Counter:
        calls = 0
        def count(self):
            self.calls += 1
            return self.calls
        def ping(self):
            return True
        def fall_over(self):
            import os
            os._exit(3)
        def hang(self):
            import time
            time.sleep(1000)

    parser = argparse.ArgumentParser()
    common_args.simple_network_args(parser, 3333)
    common_args.verbosity_args(parser)
    args = parser.parse_args()
    common_args.init_logger_from_args(args)
    print("counting at", args.port, flush=True)
    simple_server_loop({"counter": Counter()}, common_args.bind_address_from_args(args), args.port)
    """
)
"""A typical controller of a laboratory, based on sipyco."""


@pytest.fixture
def database(tmp_path):
    """A database with one controller; its port is free."""
    program = tmp_path / "counter.py"
    program.write_text(PROGRAM)
    port = free_port()
    command = f"{sys.executable} -m kairos.compat {program} -p {{port}} --no-localhost-bind --bind {{bind}}"
    entries = {
        "counter": {"type": "controller", "host": "127.0.0.1", "port": port, "command": command},
        "far": {"type": "controller", "host": "192.0.2.1", "port": 1, "command": "false"},
        "by_hand": {"type": "controller", "host": "127.0.0.1", "port": 1},
    }
    path = tmp_path / "device_db.py"
    path.write_text(f"device_db = {entries!r}\n")
    return path, entries["counter"]


def test_ended_controller_process_is_restarted(database):
    path, entry = database
    log = path.with_name("log")
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kairos", "controllers", "--port", "0", "--device-db", path],
            stderr=output,
            stdout=output,
        )
    laser = BestEffortClient(entry["host"], entry["port"], retry=0.1)
    until(lambda: laser.count() == 1, lambda: "no controller")
    laser.fall_over()
    until(lambda: laser.count() == 1, lambda: "no controller's second life")
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 0
    assert laser.count() is None
    laser.close_rpc()
    text = log.read_text()
    assert text.count("counter: counting at") == 2 and "ended with exit code 3" in text and "far" not in text


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("python3 -c 'import not_there_at_all'", "code 1 (ModuleNotFoundError: No module named 'not_there_at_all')"),
        ("sh -c 'echo cannot open /dev/laser >&2; exit 2'", "code 2 (cannot open /dev/laser)"),
        ("sh -c 'kill -9 $$'", "was ended by SIGKILL"),
        ("true", "ended with exit code 0; it is started again"),
    ],
)
def test_ended_controller_warning_gives_the_reason(database, command, end):
    path, entry = database
    path.write_text(f"device_db = {dict(counter={**entry, 'retry_timer': 1000, 'command': command})!r}\n")
    process, _ = manager_of(path)
    log = path.with_name("log")
    until(lambda: "it is started again" in log.read_text(), log.read_text)
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 0 and end in log.read_text()


PROXY = {"type": "controller", "host": "::1", "port": 1384, "port_proxy": 1383}


def test_command_fields_are_filled_from_entry():
    command = "aqctl_moninj_proxy --port-proxy {port_proxy} --port-control {port} --bind {bind} 192.0.2.1"
    (proxy,) = Supervisor({"core_moninj": PROXY | {"command": command}, "alias": "core_moninj"}).controllers
    assert proxy.command[1:7] == ["--port-proxy", "1383", "--port-control", "1384", "--bind", "::1"]


@pytest.mark.parametrize(
    "entry, text",
    [
        (PROXY | {"command": "proxy {porto}"}, "'core_moninj': its command uses 'porto'"),
        ({"type": "controller", "host": "::1", "command": "proxy"}, "'core_moninj': 'port' is missing in its entry"),
    ],
)
def test_incomplete_entry_is_reported_in_one_line(tmp_path, entry, text):
    path = tmp_path / "device_db.py"
    path.write_text(f"device_db = {dict(core_moninj=entry)!r}\n")
    done = run_kairos("controllers", "--list", "--device-db", path)
    assert done.returncode == 1 and text in done.stderr and len(done.stderr.splitlines()) == 1


def test_missing_program_is_reported_once(caplog):
    (proxy,) = Supervisor({"core_moninj": PROXY | {"command": "aqctl_that_is_not_there {port}"}}).controllers

    async def kept():
        task = asyncio.create_task(proxy.keep())
        await asyncio.sleep(0.2)
        task.cancel()

    asyncio.run(kept())
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        "core_moninj: there is no program aqctl_that_is_not_there here; it is not started"
    ]


def test_missing_proxy_of_the_core_device_is_no_error(caplog):
    caplog.set_level("INFO")
    (proxy,) = Supervisor({"core_moninj": PROXY | {"command": "aqctl_moninj_proxy {port}"}}).controllers

    async def kept():
        task = asyncio.create_task(proxy.keep())
        while "there is no program aqctl_moninj_proxy" not in caplog.text:
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(kept())
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_unresponsive_controller_process_is_restarted(database):
    path, entry = database

    async def supervise():
        supervisor = Supervisor(
            DeviceDB.load(path).entries, times=Times(retry_timer=0.05, ping_timer=0.5, ping_timeout=0.5)
        )
        (controller,) = supervisor.controllers
        task = asyncio.ensure_future(supervisor.run())
        async with asyncio.timeout(TIMEOUT):
            await controller.running.wait()
            client = AsyncClient()
            await client.connect_rpc(entry["host"], entry["port"])
            with pytest.raises(ControllerError):
                await client.hang()
            while controller.starts < 2:
                await asyncio.sleep(0.05)
            await controller.running.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(supervise())
    with pytest.raises(ControllerError):
        Client(entry["host"], entry["port"])


def test_controllers_command_lists_state_or_reports_none(database):
    path, entry = database
    listed = subprocess.run(
        [sys.executable, "-m", "kairos", "controllers", "--list", "--device-db", path],
        capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    assert listed.returncode == 1 and listed.stdout.startswith("counter ") and "is it running?" in listed.stdout
    path.write_text("device_db = {}\n")
    empty = subprocess.run(
        [sys.executable, "-m", "kairos", "controllers", "--port", "0", "--device-db", path],
        capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    assert empty.returncode != 0 and "has no controller for this computer" in empty.stderr
    assert os.linesep not in empty.stderr.strip()


def manager_of(path):
    """Start `kairos controllers` at a port that the system chooses; returns the process, and that port."""
    log = path.with_name("log")
    command = [sys.executable, "-m", "kairos", "controllers", "--port", "0", "--device-db", path]
    with log.open("w") as output:
        process = subprocess.Popen(command, stderr=output, stdout=output)
    said = re.compile(r"managed at port (\d+)")
    return process, int(until(lambda: said.search(log.read_text()), log.read_text)[1])


def test_manager_retries_failed_controller_and_ends_on_terminate(database):
    path, entry = database
    path.write_text(f"device_db = {dict(counter={**entry, 'retry_timer': 1000, 'command': 'false'})!r}\n")
    process, port = manager_of(path)
    log = path.with_name("log")
    until(lambda: "ended with exit code 1" in log.read_text())
    for host in ("127.0.0.1", "::1"):
        manager = Client(host, port)
        assert manager.get_rpc_id()[0] == ["ctlmgr"]
        before = log.read_text().count("starting false")
        assert manager.retry_now("counter") is None
        until(lambda before=before: log.read_text().count("starting false") > before)
        with pytest.raises(KeyError, match="there is no controller"):
            manager.retry_now("other")
        manager.close_rpc()
    manager = Client("::1", port, "ctlmgr")
    assert manager.terminate() is None and process.wait(TIMEOUT) == 0


def test_second_manager_at_the_same_port_is_refused_in_a_line(database):
    path, _ = database
    process, port = manager_of(path)
    done = run_kairos("controllers", "--port", str(port), "--device-db", path)
    process.terminate()
    assert process.wait(TIMEOUT) == 0
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert f"port {port} for the controller manager cannot be opened" in done.stderr


def test_controller_ends_with_a_manager_that_is_killed(database):
    path, entry = database
    process, _ = manager_of(path)
    laser = BestEffortClient(entry["host"], entry["port"], retry=0.1)
    until(lambda: laser.count() == 1, lambda: "no controller")
    laser.close_rpc()
    process.kill()
    process.wait()

    def is_gone():
        try:
            Client(entry["host"], entry["port"]).close_rpc()
        except ControllerError:
            return True
        return False

    until(is_gone)


def test_fields_of_an_entry_set_times_and_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ARTIQ_SSL_DIR", "/certificates")
    entry = {**PROXY, "command": "proxy {ARTIQ_SSL_DIR}/key", "environment": {"LASER": 5}, "ping_timer": 3}
    (proxy,) = Supervisor({"proxy": entry}, times=Times(ping_timeout=7)).controllers
    assert proxy.command == ["proxy", "/certificates/key"] and proxy.environment["LASER"] == "5"
    assert (proxy.times.ping_timer, proxy.times.ping_timeout, proxy.times.retry_timer) == (3, 7, 5)


@pytest.mark.parametrize(
    "field, value",
    [("ping_timer", "soon"), ("retry_timer", -1), ("environment", ["A=1"]), ("command", 5), ("command", "'a")],
)
def test_unusable_field_of_an_entry_is_named_and_costs_no_other_controller(field, value):
    entries = {"good": {**PROXY, "command": "proxy"}, "bad": {**PROXY, "command": "proxy", field: value}}
    with pytest.raises(UsageError, match=f"controller 'bad': .*{field}"):
        Supervisor(entries)
    refused = []
    assert [each.name for each in Supervisor(entries, refused=refused.append).controllers] == ["good"]
    assert len(refused) == 1


def test_delay_grows_with_each_failure_and_retry_resets_it(monkeypatch):
    times = Times(retry_timer=0.01, retry_timer_backoff=3.0)
    (proxy,) = Supervisor({"proxy": {**PROXY, "command": "false"}}, times=times).controllers
    begun = []

    async def live():
        begun.append(asyncio.get_running_loop().time())
        raise OSError("it does not start")

    monkeypatch.setattr(proxy, "_live", live)

    async def kept():
        task = asyncio.create_task(proxy.keep())
        while len(begun) < 5:
            await asyncio.sleep(0.01)
        proxy.retry_now()
        while len(begun) < 8:
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(kept())
    waited = [after - before for before, after in zip(begun, begun[1:], strict=False)]
    least = [0.01, 0.03, 0.09, 0.27]
    assert all(each >= bound for each, bound in zip(waited, least, strict=False)), waited
    assert waited[4] < 0.8, "it did not wait: 0.81 s come next"


def test_newest_database_counts_however_long_an_older_one_takes(monkeypatch):
    supervisor, read = Supervisor({}), threading.Event()

    def slow(entries):
        if "old" in entries:
            read.wait(0.2)
        return {name: SimpleNamespace(entry=entry) for name, entry in entries.items()}

    async def started():
        pass

    async def both():
        await asyncio.gather(supervisor.update({"old": 1}), supervisor.update({"new": 1}))

    monkeypatch.setattr(supervisor, "_of", slow)
    monkeypatch.setattr(supervisor, "_start", started)
    asyncio.run(both())
    assert list(supervisor._controllers) == ["new"]
