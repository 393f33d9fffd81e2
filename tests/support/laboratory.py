"""A laboratory in a folder of its own: started, killed, started again."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from kairos.labclient import connect

from . import TIMEOUT
from .prepared import Popen
from .waiting import until

__all__ = ["EXPERIMENTS", "Laboratory"]

SETTINGS = """
[ports]
notify = 0
control = 0
logging = 0
broadcast = 0
controllers = 0
"""

EXPERIMENTS = '''"""Experiments of a laboratory without devices."""
import logging
import os
import time
from pathlib import Path
from artiq.experiment import *

HOME = Path(__file__).parents[1]


class Quick(EnvExperiment):
    """Quick scan."""

    def build(self):
        self.setattr_argument("n", NumberValue(3, precision=0, step=1, type="int"), "group", "tip")
        self.setattr_device("scheduler")

    def run(self):
        begun(self)
        self.set_dataset("points", [], broadcast=True, unit="ms", scale=1e-3)
        for number in range(self.n):
            self.append_to_dataset("points", number)
        print("printed")
        logging.getLogger("scan").warning("two\\nlines")

    def analyze(self):
        self.set_dataset("total", sum(self.get_dataset("points")), broadcast=True, persist=True)


def begun(experiment):
    with (HOME / "begun").open("a") as file:
        print(experiment.scheduler.rid, file=file)


class Patient(EnvExperiment):
    """Runs until told otherwise."""

    def build(self):
        self.setattr_device("scheduler")
        self.setattr_argument("name", StringValue("patient"))

    def run(self):
        begun(self)
        self.set_dataset(self.name, [], broadcast=True)
        count = 0
        while not (HOME / f"end-{self.name}").exists():
            self.append_to_dataset(self.name, count)
            count += 1
            with (HOME / f"count-{self.name}").open("ab") as file:
                file.write(b".")
            self.scheduler.pause()
            time.sleep(0.01)
        self.set_dataset("count", count)


class Stubborn(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")

    def run(self):
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        begun(self)
        self.set_dataset("measured", 5, broadcast=True)
        while True:
            time.sleep(1)


class Broken(EnvExperiment):
    def run(self):
        self.set_dataset("measured", 5)
        raise ValueError("of the user")


class Asks(EnvExperiment):
    def run(self):
        with self.interactive("Which one?") as more:
            more.setattr_argument("power", NumberValue(1.0, unit="mW"))
        self.set_dataset("power", more.power, broadcast=True)


class Submits(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")
        self.setattr_device("ccb")

    def run(self):
        own = self.scheduler
        rid = own.submit(expid={**own.expid, "class_name": "Quick", "arguments": {"n": 1}}, priority=own.priority + 1)
        self.set_dataset("submitted", [rid, own.check_pause(rid)], broadcast=True)
        self.ccb.issue("create_applet", "plot", "${artiq_applet}plot_xy points", group="a")


class Watched(EnvExperiment):
    def run(self):
        with watchdog(30):
            pass
        with watchdog(0.2):
            time.sleep(60)
'''


class Laboratory:
    """A laboratory; `start` it, and `close` it in the end. Attributes that it lacks are methods of
    its service."""

    def __init__(self, folder: Path, settings: str = "", device_db: str = "device_db = {}\n"):
        self.folder = folder
        self.process: subprocess.Popen | None = None
        self._client = None
        (folder / "repository").mkdir(exist_ok=True)
        (folder / "repository" / "lab.py").write_text(EXPERIMENTS)
        (folder / "device_db.py").write_text(device_db)
        (folder / "lab.toml").write_text(settings + SETTINGS)

    def start(self, program=("-m", "kairos.lab")):
        """Start it, and wait until it answers."""
        (self.folder / ".kairos" / "address.json").unlink(missing_ok=True)
        self.output = (self.folder / "output").open("ab")
        command = [sys.executable, *program, str(self.folder)]
        self.process = Popen(command, stdout=self.output, stderr=self.output, start_new_session=True)
        until(self._is_up, self._said)
        self._client = None
        return self

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self._said()
        return (self.folder / ".kairos" / "address.json").exists()

    def _said(self) -> str:
        return (self.folder / "output").read_text()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self._client is None:
            self._client = connect(self.folder)
            self._client.set_timeout(TIMEOUT)
        return getattr(self._client, name)

    @property
    def ports(self) -> dict:
        return json.loads((self.folder / ".kairos" / "address.json").read_text())

    def kill(self):
        """Kill the laboratory, not its runs."""
        self.process.kill()
        self.process.wait(TIMEOUT)

    def end(self):
        """End the laboratory as with Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(TIMEOUT) == 0, self._said()

    def close(self):
        """End the laboratory and all its runs."""
        if self.process is not None and self.process.poll() is None:
            for rid in [run["rid"] for run in self.queue()]:
                self.terminate(rid, force=True)
            until(lambda: not self.queue())
            self.end()
        for pid in self.pids().values():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        if self.process is not None:
            self.output.close()
        if self._client is not None:
            self._client.close_rpc()

    def pids(self) -> dict[int, int]:
        """Return the process of each run that has one."""
        found = {}
        for lock in (self.folder / ".kairos" / "runs").glob("*/lock"):
            try:
                text = lock.read_text().strip()
            except FileNotFoundError:  # it has ended meanwhile
                continue
            if text and Path(f"/proc/{text}").exists():
                found[int(lock.parent.name)] = int(text)
        return found

    def expid(self, class_name, **arguments) -> dict:
        return {"file": "lab.py", "class_name": class_name, "arguments": arguments, "repo_rev": None, "log_level": 30}

    def run_of(self, class_name, *, pipeline="main", priority=0, **arguments) -> int:
        """Submit an experiment."""
        return self.submit(self.expid(class_name, **arguments), pipeline, priority)

    def status_of(self, rid) -> str | None:
        """Return the status of a run in the queue."""
        return next((run["status"] for run in self.queue() if run["rid"] == rid), None)

    def counted(self, name) -> int:
        """Return how many points a patient run has appended, as it has noted itself."""
        path = self.folder / f"count-{name}"
        return path.stat().st_size if path.exists() else 0

    def release_run(self, name):
        """Let a patient run end."""
        (self.folder / f"end-{name}").touch()

    def begun(self) -> list[int]:
        """Return the numbers of the runs whose `run` was called, in order."""
        path = self.folder / "begun"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def file_of(self, rid) -> Path:
        """Return the HDF5 file of a finished run."""
        return self.folder / "results" / self.run(rid)["results"]

    def ends(self, rid) -> dict:
        """Wait for the end of a run, and return what is known of it."""
        deadline = time.monotonic() + TIMEOUT
        while self.status_of(rid) is not None:
            assert time.monotonic() < deadline, self.queue()
            time.sleep(0.02)
        return self.run(rid)
