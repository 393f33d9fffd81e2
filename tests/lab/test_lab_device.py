"""A laboratory on an emulated device, which outlives a killed laboratory as hardware does."""

import asyncio
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import h5py
import pytest

from kairos.devices import DeviceDB
from kairos.lab.device import Devices
from kairos.labclient import connect
from tests.support import TIMEOUT
from tests.support.gateware import built
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.processes import keepers
from tests.support.waiting import until

KERNEL = """
import time
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


class Pulses(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")

    @kernel
    def pulse(self, n: TInt32) -> TInt32:
        self.core.break_realtime()
        self.ttl4.pulse(1 * us)
        self.append_to_dataset("pulses", n)
        return n

    def run(self):
        self.set_dataset("pulses", [], broadcast=True)
        n = 0
        while not (HOME / "end").exists():
            n = self.pulse(n) + 1
            with (HOME / "count-pulses").open("ab") as file:
                file.write(b".")
            time.sleep(0.02)
"""


@pytest.fixture
def lab(tmp_path):
    built("demo")
    laboratory = Laboratory(tmp_path, device_db=(EXAMPLES / "device_db.py").read_text())
    (tmp_path / "repository" / "pulses.py").write_text(KERNEL)
    laboratory.start()
    yield laboratory
    laboratory.close()


def test_device_that_ends_while_a_laboratory_connects_is_started_again(tmp_path):
    built("demo")
    (tmp_path / "device_db.py").write_text((EXAMPLES / "device_db.py").read_text())
    entries = DeviceDB.load(tmp_path / "device_db.py").entries
    path = tmp_path / "device-0.sock"

    def end(listening):
        connection, _ = listening.accept()
        path.unlink()
        listening.close()
        connection.close()

    async def work(listening):
        ending = asyncio.create_task(asyncio.to_thread(end, listening))
        devices = Devices(tmp_path, lambda _: None)
        await asyncio.wait_for(devices.start(tmp_path / "device_db.py", entries), TIMEOUT)
        await ending
        resolved = devices.resolved(entries)["core"]["arguments"]["host"]
        await devices.stop()
        return resolved

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    assert asyncio.run(work(listening)).startswith("127.0.0.1:")


def test_kernels_of_a_run_go_on_while_the_laboratory_is_killed_and_started(lab):
    (keeper,) = keepers(lab.folder)
    rid = lab.submit({"file": "pulses.py", "class_name": "Pulses", "repo_rev": None})
    until(lambda: lab.counted("pulses") > 3)
    lab.kill()
    before = lab.counted("pulses")
    until(lambda: lab.counted("pulses") > before + 3)
    lab.start()
    assert keepers(lab.folder) == [keeper], "it is the same device"
    (lab.folder / "end").touch()
    record = lab.ends(rid)
    assert (record["status"], record["error"]) == ("completed", None)
    with h5py.File(lab.file_of(rid)) as file:
        assert file["datasets/pulses"][()].tolist() == list(range(lab.counted("pulses")))
    lab.end()
    until(lambda: not keepers(lab.folder), lambda: "it ends when nobody uses it any more")


def test_pin_that_several_people_override_at_once_is_confirmed_to_each(lab):
    def overrides(levels):
        client = connect(lab.folder)
        for level in levels:
            client.override("core", "ttl4", level)
        client.close_rpc()

    lab.override("core", "ttl4", False)
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(overrides, levels) for levels in ([True, None] * 10, [None, False] * 10, [False] * 20)]
        for each in done:
            each.result(TIMEOUT)


def test_run_fails_with_its_device_and_the_next_one_finds_it_started_again(lab):
    (keeper,) = keepers(lab.folder)
    expid = {"file": "pulses.py", "class_name": "Pulses", "repo_rev": None}
    rid = lab.submit(expid)
    until(lambda: lab.counted("pulses") > 1)
    os.kill(keeper, signal.SIGKILL)
    record = lab.ends(rid)
    assert record["status"] == "failed" and record["error"]
    until(lambda: [pid for pid in keepers(lab.folder) if pid != keeper])
    (lab.folder / "end").touch()
    until(lambda: lab.ends(lab.submit(expid))["status"] == "completed")
