"""The process of one run: builds an experiment and executes its stages, whether or not a laboratory is there.

It is forked by :mod:`.forkserver`, and connects to the laboratory as :mod:`.link` describes.
"""

import logging
import os
import queue
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from .. import __version__, emulator
from ..cli.experiments import choose_class, import_file
from ..cli.report import user_code
from ..controllers.sockets import dialled
from ..devices import DeviceError, DeviceManager
from ..errors import KairosError, UsageError
from ..experiment.arguments import ArgumentError, CancelledArgsError, DefaultMissing
from ..experiment.datasets import DatasetDB, DatasetManager
from ..experiment.environment import ProcessArgumentManager
from ..language.core import TerminationRequested, set_watchdog_factory
from ..runs import folder_of
from ..schedule.services import AskedCommands, AskedDeviceDB
from . import clock
from .analysis import KEY, AnalysisDatasets, AnalysisDevices, source_of
from .device_arguments import with_replaced
from .excerpts import OWN
from .journal import PERSIST, RETRY, Journal
from .link import Link
from .origin import Origin
from .output import redirect, write_pending
from .own_scheduler import OwnScheduler
from .recording import Recorder
from .results import stored_name, write_datasets
from .theory import Theory
from .watchdogs import Watchdogs

__all__ = ["main"]

logger = logging.getLogger(__name__)

ALONE = 60.0
"""Seconds after which a run completes its stages by itself if no laboratory answers."""


class _Datasets(DatasetDB):
    """The broadcast datasets, held by the laboratory; `data` has those that this run has set, which
    the laboratory finds in the journal."""

    def __init__(self, link: Link, journal: Journal | None):
        super().__init__()
        self._link, self._journal = link, journal

    def get(self, key):
        return super().get(key) if key in self.data else self._asked("get", key)

    def get_metadata(self, key):
        return super().get_metadata(key) if key in self.data else self._asked("get_metadata", key)

    def propose(self, key, value, metadata, rule):
        """Do nothing: the laboratory finds the value in the journal, and decides."""

    def _asked(self, what, key):
        if self._journal is not None:
            self._journal.flush()  # what this run has set before
        return self._link.ask(f"datasets.{what}", key)


class _Arguments(ProcessArgumentManager):
    """The arguments of a run; interactive ones are requested from whoever supplies them."""

    def __init__(self, unprocessed, link: Link):
        super().__init__(unprocessed)
        self._link = link

    def interactive(self, requests, title):
        described = [(key, processor.describe(), None, None) for key, processor in requests]
        values = self._link.ask("interactive.request", title, described)
        if values is None:
            raise CancelledArgsError
        return {key: processor.process(values[key]) for key, processor in requests}


class _Run:
    """The experiment of this process, from ``build`` on."""

    def __init__(self, link: Link, folder: Path, begin: dict, recorder: Recorder):
        self._link, self._folder, self._begin = link, folder, begin
        self._recorder, self._recorded = recorder, None
        self._results = Path(begin["results"])
        self.journal = Journal(folder / "journal", lambda length: link.send(written=length))
        self._watchdogs = Watchdogs(self._expired)
        self._stage = "build"
        self._how: dict = {}
        self._confirmed = False
        set_watchdog_factory(self._watchdogs.watched)
        self.theory = Theory(lambda key, value, metadata: self._datasets.set(key, value, metadata, broadcast=True))
        link.informed = lambda values: self.theory.receive(values.get("theory"))

    def build(self):
        """Build the experiment."""
        begin, expid = self._begin, self._begin["expid"]
        begin["started"] = clock.now()
        self.journal.note("begin", more=begin)
        logging.getLogger().setLevel(expid.get("log_level", logging.WARNING))
        file = self._source(expid)
        root = begin["directory"]
        if root is not None:
            sys.path.insert(0, root)
        # Files written by the experiment itself belong next to its datasets.
        os.chdir(folder_of(begin["started"], self._results))
        entries = self._link.ask("device_db.get_device_db")
        ddb = AskedDeviceDB(self._link.ask)
        ddb._entries = with_replaced(entries, expid)
        scheduler = OwnScheduler(self._link, self._pause, begin["rid"], begin["pipeline"], expid, begin["priority"])
        devices, datasets = (AnalysisDevices, AnalysisDatasets) if KEY in expid else (DeviceManager, DatasetManager)
        self._devices = devices(ddb, {"scheduler": scheduler, "ccb": AskedCommands(self._link.ask)})
        self._devices.with_variables = True
        if "analyzer" in begin:
            self._devices.inputs_from = tuple(begin["analyzer"])
        self._datasets = datasets(_Datasets(self._link, self.journal), self._note)
        arguments = _Arguments(expid.get("arguments") or {}, self._link)
        self._origin = Origin(begin, file, arguments, self._datasets)
        cls = choose_class(import_file(str(file)), expid.get("class_name"))
        self._name = cls.__name__
        self._how = {
            "class_name": self._name,
            "sources": {
                "kairos_version": __version__,
                "experiment": file.read_text(errors="replace"),
                "device_db": begin.get("device_db") or "",
                "revision": expid.get("repo_rev") or "",
            },
        }
        self.journal.note("stage", "build", more=self._how)
        with user_code(plain=(DeviceError, ArgumentError, DefaultMissing)):
            self._experiment = cls((self._devices, self._datasets, arguments, {}))
            arguments.check_unprocessed_arguments()
        self._origin.refresh()

    def _source(self, expid) -> Path:
        if "content" in expid:
            file = self._folder / OWN
            file.write_text(expid["content"])
            return file
        file = Path(self._begin["directory"] or ".", expid["file"]).resolve()
        if KEY in expid and (text := source_of(self._results / expid["data"])) is not None:
            own = self._folder / file.name
            own.write_text(text)
            sys.path.insert(0, str(file.parent))  # of what it imports
            return own
        return file

    def _note(self, operation, key, value=None, more=None):
        self.journal.note(operation, key, value, more)
        if operation in ("propose", "confirm", "fit", "note") or (operation == "set" and more[0] & PERSIST):
            self.journal.flush()  # a persistent value survives this process
        if self._stage in ("run", "analyze"):
            self.theory.set()

    def devices(self) -> list[str]:
        """Return the names of the devices that the experiment has requested."""
        return sorted({name for name in self._devices.requested if name not in ("scheduler", "ccb")})

    def prepare(self):
        """Prepare the experiment."""
        self._enter("prepare", devices=self.devices())
        with user_code(plain=(DeviceError,)):
            self._experiment.prepare()

    def _enter(self, stage, **more):
        self._stage = stage
        self._how |= more
        self.journal.note("stage", stage, more=more)

    def run(self):
        """Run the experiment."""
        self._enter("run", run_time=clock.now())
        self.journal.sync()  # from now on it has begun, whatever happens
        self.theory.set()
        if "core" in self.devices() and KEY not in self._begin["expid"]:
            self._recorder.begin(self._devices.ddb.arguments("core").get("host"))
        try:
            with user_code(plain=(DeviceError, TerminationRequested)):
                self._confirmed = self._is_still_good()
                if KEY in self._begin["expid"]:
                    self._datasets.load(self._results / self._begin["expid"]["data"])
                elif not self._confirmed:
                    self._experiment.run()
                self._devices.notify_run_end()
        finally:
            if self._origin.note_kernels(self._devices):
                self._recorded = self._recorder.end(self._devices.ddb, self._origin.inputs)
            self._devices.close_devices()

    def _is_still_good(self) -> bool:
        """Return whether this is a calibration that is to check its parameters first, and they are
        still good."""
        asked = self._begin["expid"].get("calibration") or {}
        if not (asked.get("check") and hasattr(self._experiment, "check_calibration")):
            return False
        if not self._experiment.check_calibration():
            return False
        self._datasets.confirm()
        return True

    def analyze(self):
        """Analyze the results."""
        self._enter("analyze")
        if self._confirmed:
            return
        with user_code():
            self._experiment.analyze()

    def _pause(self) -> bool:
        self.journal.flush()
        with self._watchdogs.stopped():
            self._link.ended("run", "paused")
            command = self._link.command()
        if command["stage"] == "terminate":
            raise SystemExit
        return bool(command["values"].get("termination"))

    def _expired(self):
        """End this process: a watchdog has expired."""
        self.close("failed", f"a watchdog has expired during {self._stage}")
        os.kill(os.getpid(), signal.SIGKILL)

    def close(self, status: str, error: str | None = None):
        """Write the datasets, if the run had begun, and close the journal; waits while the disk is
        full."""
        stored = "run_time" in self._how and self._stored(status)
        self.journal.note("end", more={"status": status, "error": error, "stored": stored})
        while True:
            try:
                self.journal.close()
                return write_pending()
            except OSError:  # which the journal has logged
                time.sleep(RETRY)

    def _stored(self, status: str) -> bool:
        """Write the datasets; if that is impossible, they are left to the laboratory, in the journal."""
        begin = self._begin
        try:
            self._datasets.end_fits()
            file = folder_of(begin["started"], self._results) / stored_name(begin["rid"], self._name)
            origin = {**self._origin.values(), "status": status}
            more = {"replay": self._origin.replay, "recorded": self._recorded}
            write_datasets(file, self._datasets, begin, self._how, origin, **more)
        except Exception as error:  # whatever it is: how the run has ended must get into the journal
            logger.error("the datasets cannot be written: %s", str(error) or type(error).__name__)
            return False
        return True


def _served(link: Link, run: _Run):
    """Execute the laboratory's commands to the end of the run. Without a laboratory, complete it."""
    following = {"prepare": "run", "run": "analyze", "analyze": "end"}
    stage, failed = None, None
    while True:
        try:
            command = link.command(timeout=1.0)
        except queue.Empty:
            alone = not link.connected and time.monotonic() - link.lost > ALONE
            # One that has not begun goes back to the queue.
            if not alone or (stage not in ("run", "analyze") and failed is None):
                if alone:
                    return
                continue
            command = {"stage": "end" if failed else following[stage], "values": {}}
        if command["stage"] == "end":
            run.close(*(failed or ("completed", None)))
            link.ended("end", "completed")
            return
        if command["stage"] == "terminate":
            raise SystemExit
        stage = command["stage"]
        if "theory" in command["values"]:
            run.theory.receive(command["values"]["theory"])
        failed = _performed(link, run, stage) or failed


def _performed(link: Link, run: _Run, stage: str) -> tuple[str, str] | None:
    """Execute a stage, write the journal, and report its end; returns status and error if it has failed."""
    link.update(stage=stage, busy=True)
    try:
        _execute(run, stage)
    except KairosError as error:
        terminated = isinstance(error.__cause__, TerminationRequested)
        how = "terminated" if terminated else "failed"
        if not terminated:
            logger.error("%s failed: %s", stage, error)
        text = "it was terminated on request" if terminated else str(error)
        run.journal.flush()
        link.update(busy=False)
        link.ended(stage, how, text)
        return how, text
    run.journal.flush()
    link.update(busy=False)
    link.ended(stage, "completed", run.devices() if stage in ("build", "prepare") else None)
    return None


def _execute(run: _Run, stage: str):
    try:
        getattr(run, stage)()
    except SystemExit as error:
        if _Ending.requested:
            raise
        raise UsageError(f"the experiment has ended itself with sys.exit({error.code!r})") from None


class _Ending:
    """Whether this process was requested to end."""

    requested = False


def _end(*_):
    """Handle SIGTERM: as an exception, so that devices are closed and the measured data are written."""
    _Ending.requested = True
    sys.exit()


def main(folder: str, path: str, begin: dict):
    """Run the experiment described by `begin`, see `laboratory`, with the run's `folder`, whose lock
    this process holds, and the socket `path` of the laboratory."""
    redirect(Path(folder, "output"))
    link = Link(path, begin["rid"], {"stage": None, "busy": False})
    signal.signal(signal.SIGTERM, _end)
    held = []
    for device in begin["devices"]:
        with suppress(OSError):
            held.append(dialled(Path(device)))  # an emulated device lives as long as anybody uses it
    run = _Run(link, Path(folder), begin, Recorder(held))
    try:
        _served(link, run)
    except SystemExit:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        run.close("deleted")
    except BaseException as error:
        run.close("failed", f"{type(error).__name__}: {error}")
        raise
    finally:
        emulator.shutdown_all()
