"""Runs of a scheduler on an emulated device: kernels, pauses between them, a crash of the process."""

import asyncio
import runpy

from kairos.experiment.datasets import DatasetDB
from kairos.schedule import RIDCounter, Scheduler
from tests.support import TIMEOUT
from tests.support.paths import EXAMPLES

EXPERIMENT = """
from artiq.experiment import *


class Pulses(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("scheduler")
        self.setattr_argument("n", NumberValue(2, precision=0, step=1, type="int"))

    @kernel
    def some(self, n: TInt32) -> TInt32:
        self.core.reset()
        for i in range(n):
            self.ttl4.pulse(1 * us)
            delay(1 * us)
            self.append_to_dataset("points", i)
        return n

    @kernel
    def room(self) -> TBool:
        return self.scheduler.check_pause()

    def run(self):
        self.set_dataset("points", [], broadcast=True)
        self.set_dataset("pulses", self.some(self.n), broadcast=True)
        self.set_dataset("pause", bool(self.room()), broadcast=True)
        self.core.close()
        self.scheduler.pause()
        self.set_dataset("again", self.some(1), broadcast=True)

    @kernel
    def fail(self):
        raise ValueError("of the kernel")


class Fails(Pulses):
    def run(self):
        self.fail()
"""


def test_scheduled_experiments_run_kernels_and_failures_are_logged(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    datasets = DatasetDB()
    entries = runpy.run_path(str(EXAMPLES / "device_db.py"))["device_db"]
    handlers = {
        "device_db.get_device_db": lambda: entries,
        **{f"datasets.{name}": getattr(datasets, name) for name in ("get", "get_metadata", "set", "delete")},
    }

    async def whole():
        scheduler = Scheduler(RIDCounter(), handlers)
        scheduler.start()
        scheduler.submit("main", {"content": EXPERIMENT, "class_name": "Pulses", "arguments": {"n": 3}})
        scheduler.submit("main", {"content": EXPERIMENT, "class_name": "Fails", "arguments": {}})
        await asyncio.wait_for(scheduler.wait(), TIMEOUT)

    asyncio.run(whole())
    assert {key: entry.value for key, entry in datasets.data.items()} == {
        "points": [0, 1, 2, 0],
        "pulses": 3,
        "pause": False,
        "again": 1,
    }
    (failed,) = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert "run 1 has failed while running: the kernel ended with an exception" in failed
    assert "Core Device Traceback" in failed and "ValueError: of the kernel" in failed
