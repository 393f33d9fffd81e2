"""The process of one run: builds an experiment and executes its stages on request.

Both sides send lines of PYON. The process receives ``{"stage": NAME, "values": {...}}``, and
answers with ``{"end": HOW, "data": ...}``: ``completed``, ``paused``, ``terminated``, or ``failed``
with the text of the exception. Meanwhile it requests services from its worker, ``{"ask": NAME,
"args": ..., "kwargs": ...}``, and waits for each reply, which has the form of a controller's reply.
"""

import logging
import os
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from .. import compat, emulator, pyon
from ..cli.experiments import choose_class, import_file
from ..cli.report import user_code
from ..controllers.wire import result, written
from ..devices import DeviceDB, DeviceError, DeviceManager
from ..errors import KairosError
from ..experiment.arguments import ArgumentError, DefaultMissing
from ..experiment.datasets import DatasetDB, DatasetManager
from ..experiment.environment import ProcessArgumentManager, is_public_experiment
from ..experiment.examination import ExamineDatasetMgr, ExamineDeviceMgr, TraceArgumentManager
from ..experiment.hdf5 import write_hdf5
from ..language.core import TerminationRequested, set_watchdog_factory
from ..runs import NUMBERED

__all__ = ["main"]

_PERIOD = 0.1
"""Seconds between two broadcasts of a dataset that is mutated in place."""


class _Worker:
    """The connection to the worker, which commands this process and serves its requests."""

    def __init__(self, connection: socket.socket):
        self._lines = connection.makefile("rwb")
        self._one = threading.Lock()

    def receive(self) -> dict:
        """Receive the next command; EOFError at the end of the connection."""
        line = self._lines.readline()
        if not line:
            raise EOFError
        return pyon.decode(line.decode())

    def send(self, **message):
        """Send a line."""
        self._lines.write(written(message))
        self._lines.flush()

    def ask(self, service, *args, **kwargs):
        """Call a service and return its result; raises its exceptions."""
        with self._one:
            self.send(ask=service, args=args, kwargs=kwargs)
            return result(self.receive(), "scheduler")


class _Scheduler:
    """The device ``scheduler`` of this run."""

    def __init__(self, worker: _Worker, rid, pipeline_name, expid, priority):
        self._worker = worker
        self.rid, self.pipeline_name, self.expid, self.priority = rid, pipeline_name, expid, priority

    def submit(self, pipeline_name=None, expid=None, priority=None, due_date=None, flush=False) -> int:
        """Submit an experiment, by default with this run's settings; returns the number of the new
        run."""
        own = self.pipeline_name, self.expid, self.priority
        given = (pipeline_name, expid, priority)
        chosen = [mine if value is None else value for value, mine in zip(given, own, strict=True)]
        return self._worker.ask("scheduler.submit", *chosen, due_date, flush)

    def delete(self, rid):
        """Stop a run immediately."""
        return self._worker.ask("scheduler.delete", rid)

    def request_termination(self, rid):
        """Request the termination of a run."""
        return self._worker.ask("scheduler.request_termination", rid)

    def get_status(self) -> dict:
        """Return all runs, by number."""
        return self._worker.ask("scheduler.get_status")

    def check_pause(self, rid=None) -> bool:
        """Return whether a run, this one by default, should pause or terminate."""
        return self._worker.ask("scheduler.check_pause", self.rid if rid is None else rid)

    def check_termination(self, rid=None) -> bool:
        """Return whether a run, this one by default, should terminate."""
        return self._worker.ask("scheduler.check_termination", self.rid if rid is None else rid)

    def pause(self):
        """Let waiting runs of higher priority go first; TerminationRequested if this run should
        terminate."""
        if not self.check_termination() and self.check_pause():
            self._worker.send(end="paused")
            if self._worker.receive()["stage"] == "terminate":
                raise SystemExit
        if self.check_termination():
            raise TerminationRequested


class _Commands:
    """The device ``ccb``."""

    def __init__(self, worker: _Worker):
        self._worker = worker

    def issue(self, service, *args, **kwargs):
        """Broadcast a command to user interfaces."""
        self._worker.ask("ccb.issue", service, *args, **kwargs)


class _Datasets(DatasetDB):
    """The broadcast datasets, held by the worker; `data` has those that this run has set."""

    def __init__(self, worker: _Worker):
        super().__init__()
        self._worker = worker
        self._sent: dict[str, float] = {}
        self._unsent: set[str] = set()

    def get(self, key):
        return super().get(key) if key in self.data else self._worker.ask("datasets.get", key)

    def get_metadata(self, key):
        return super().get_metadata(key) if key in self.data else self._worker.ask("datasets.get_metadata", key)

    def set(self, key, value, persist=None, metadata=None):
        super().set(key, value, persist, metadata)
        self._send(key)

    def _send(self, key):
        persist, value, metadata = self.data[key]
        self._worker.ask("datasets.set", key, value, persist, metadata)
        self._sent[key] = time.monotonic()
        self._unsent.discard(key)

    def delete(self, key):
        self.data.pop(key, None)
        self._unsent.discard(key)
        self._worker.ask("datasets.delete", key)

    def changed(self, key):
        if key in self.data:
            self._unsent.add(key)
            if time.monotonic() - self._sent[key] >= _PERIOD:
                self._send(key)

    def close_db(self):
        for key in list(self._unsent):
            self._send(key)


class _DeviceDB(DeviceDB):
    """The worker's device database, fetched on first use."""

    def __init__(self, worker: _Worker):
        self.path = "device database of the scheduler"
        self._worker = worker
        self._entries: dict | None = None

    @property
    def entries(self) -> dict:
        if self._entries is None:
            self._entries = self._worker.ask("device_db.get_device_db")
        return self._entries


class _Run:
    """The experiment of this process, from ``build`` on."""

    def __init__(self, worker: _Worker, rid, pipeline_name, file, expid, priority, folder):
        self._rid, self._expid, self._started = rid, expid, time.time()
        file = Path(file).resolve()
        if folder is not None:
            # Files written by the experiment itself belong next to its datasets.
            os.chdir(folder)
        self._devices = DeviceManager(
            _DeviceDB(worker),
            {"scheduler": _Scheduler(worker, rid, pipeline_name, expid, priority), "ccb": _Commands(worker)},
        )
        self._datasets = DatasetManager(_Datasets(worker))
        arguments = ProcessArgumentManager(expid.get("arguments") or {})
        cls = choose_class(import_file(str(file)), expid.get("class_name"))
        self._name = cls.__name__
        with user_code(plain=(DeviceError, ArgumentError, DefaultMissing)):
            self._experiment = cls((self._devices, self._datasets, arguments, {}))
            arguments.check_unprocessed_arguments()

    def prepare(self):
        with user_code(plain=(DeviceError,)):
            self._experiment.prepare()

    def run(self):
        try:
            with user_code(plain=(DeviceError, TerminationRequested)):
                self._experiment.run()
                self._devices.notify_run_end()
        except BaseException:
            self._write()  # the data measured so far may be all there will be
            raise
        finally:
            self._datasets.ddb.close_db()
            self._devices.close_devices()

    def analyze(self):
        try:
            with user_code():
                self._experiment.analyze()
        finally:
            self._datasets.ddb.close_db()
            self._write()

    def _write(self):
        run = {
            "artiq_version": compat.names.VERSION,
            "rid": self._rid,
            "start_time": self._started,
            "run_time": time.time(),
            "expid": pyon.encode(self._expid),
        }
        write_hdf5(NUMBERED.format(rid=self._rid, name=self._name), self._datasets, run)


def _examine(worker: _Worker, file) -> dict:
    """Return the requirements of the experiments in a file, by class name."""
    found = {}
    for name, cls in vars(import_file(file)).items():
        if not is_public_experiment(cls):
            continue
        arguments, scheduling = TraceArgumentManager(), {}
        with user_code():
            cls((ExamineDeviceMgr(), ExamineDatasetMgr(_Datasets(worker)), arguments, scheduling))
        found[name] = {
            "name": ((cls.__doc__ or "").strip().splitlines() or [name])[0].strip().removesuffix("."),
            "arginfo": {
                key: (processor.describe(), group, tooltip)
                for key, (processor, group, tooltip) in arguments.requested_args.items()
            },
            "argument_ui": getattr(cls, "argument_ui", None),
            "scheduler_defaults": scheduling,
        }
    return found


def _stages(worker: _Worker):
    """Execute the worker's commands until the connection closes or it sends ``terminate``."""
    run = None
    while True:
        command = worker.receive()
        stage, values = command["stage"], command["values"]
        if stage == "terminate":
            return
        data = None
        try:
            if stage == "build":
                run = _Run(worker, **values)
            elif stage == "examine":
                data = _examine(worker, **values)
            else:
                getattr(run, stage)()
        except KairosError as error:
            ended = isinstance(error.__cause__, TerminationRequested)
            worker.send(end="terminated" if ended else "failed", data=str(error))
        else:
            worker.send(end="completed", data=data)


def _watchdog(worker: _Worker):
    """Return the implementation of ``with watchdog(seconds)`` in this process: the worker enforces
    it."""

    @contextmanager
    def watched(seconds):
        number = worker.ask("watchdog.start", seconds)
        try:
            yield
        finally:
            worker.ask("watchdog.stop", number)

    return watched


def main(descriptor: int):
    """Serve the worker at the other end of the socket `descriptor`."""
    logging.basicConfig(format="%(levelname)s: %(message)s")
    worker = _Worker(socket.socket(fileno=descriptor))
    set_watchdog_factory(_watchdog(worker))
    # As an exception, so that devices are closed and the measured data are written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        _stages(worker)
    except (EOFError, ConnectionError, KeyboardInterrupt):
        pass  # the run has no receiver any more
    finally:
        emulator.shutdown_all()


if __name__ == "__main__":
    main(int(sys.argv[1]))
