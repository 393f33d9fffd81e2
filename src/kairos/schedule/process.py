"""The process of one run: builds an experiment and executes its stages on request.

Both sides send lines of PYON. The process receives ``{"stage": NAME, "values": {...}}``, and
answers with ``{"end": HOW, "data": ...}``: ``completed``, ``paused``, ``terminated``, or ``failed``
with the text of the exception. Meanwhile it requests services from its worker, ``{"ask": NAME,
"args": ..., "kwargs": ...}``, and waits for each reply, which has the form of a controller's reply.
"""

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
from ..devices import DeviceError, DeviceManager
from ..errors import KairosError
from ..experiment.arguments import ArgumentError, DefaultMissing
from ..experiment.datasets import DatasetDB, DatasetManager
from ..experiment.environment import ProcessArgumentManager
from ..experiment.hdf5 import write_hdf5
from ..language.core import TerminationRequested, set_watchdog_factory
from ..runs import NUMBERED
from ..terminal_text import log_plainly
from .services import AskedCommands, AskedDeviceDB, AskedScheduler, examined

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

    def pause(self) -> bool:
        """Let other runs go first; returns whether the run should terminate."""
        self.send(end="paused")
        command = self.receive()
        if command["stage"] == "terminate":
            raise SystemExit
        return bool(command["values"].get("termination"))


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


class _Run:
    """The experiment of this process, from ``build`` on."""

    def __init__(self, worker: _Worker, rid, pipeline_name, file, expid, priority, folder):
        self._rid, self._expid, self._started = rid, expid, time.time()
        file = Path(file).resolve()
        if folder is not None:
            # Files written by the experiment itself belong next to its datasets.
            os.chdir(folder)
        self._devices = DeviceManager(
            AskedDeviceDB(worker.ask),
            {
                "scheduler": AskedScheduler(worker.ask, worker.pause, rid, pipeline_name, expid, priority),
                "ccb": AskedCommands(worker.ask),
            },
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
                data = examined(values["file"], _Datasets(worker))
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
    log_plainly("%(levelname)s: %(message)s")
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
