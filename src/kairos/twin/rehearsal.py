"""A rehearsal: an experiment with its arguments, run on the twin of its laboratory, and what was found.

The experiment runs as in `kairos run`, on an emulated device that was just switched on; what it
writes to persistent datasets or into the working directory is discarded. It is stopped when it takes
longer than allowed; what was found until then is reported.
"""

import logging
import os
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from pathlib import Path

from .. import emulator
from ..cli import report
from ..cli.experiments import ENDED, Experiment
from ..devices import DeviceDB
from ..emulator.bench_warnings import bench_warnings
from ..emulator.control import processor_s
from ..errors import CompileError, KairosError
from ..experiment.datasets import DatasetDB
from ..scratch import ScratchFolder
from ..waveform import Recording
from .interlocks import Rule, Violation, violations
from .lost import Lost, places_of
from .slack import KEPT, Line, Places, lines_of
from .standins import DefaultAnswers, NoStandIn, TwinDevices, twin_database

__all__ = ["PATIENT", "Failure", "Rehearsal", "Twin", "in_a_line"]

SETTLING = 10.0
"""Seconds for the queued outputs of a run that was stopped."""
COPIED, COPIES = 1 << 20, 256
"""Files of the working directory that an experiment may read: the largest in bytes, and how many."""
PATIENT = {"host_wait_ms": 10_000_000}
"""Settings of the emulator with which its time never follows the clock of the wall, however long this computer takes to
answer: what a twin finds must not depend on the load."""


AGAIN = 0.2
"""Seconds after which a rehearsal is stopped again, if the experiment has caught the exception."""


STUBBORN = 10.0
"""Seconds after which an experiment that still catches that exception is ended with its process."""


class TimeUp(KairosError):
    """A rehearsal has taken longer than allowed."""


@dataclass(frozen=True)
class Failure:
    """Why a rehearsal did not reach its end."""

    kind: str
    """Name of the exception; ``NoStandIn``: the rest cannot be rehearsed."""
    message: str
    text: str
    """Complete, with the traceback."""
    file: str | None = None
    line: int | None = None
    at_pass: int | None = None
    """Of an output: how often its line was reached, by a function that was called from the same places."""
    called: Places = ()
    """Where the function was called from, innermost first."""

    @property
    def place(self) -> str:
        """File and line; empty if there is none."""
        return "" if self.file is None else f"{Path(self.file).name}:{self.line}"


@dataclass
class Rehearsal:
    """What a rehearsal has found."""

    name: str
    """Class of the experiment."""
    file: str
    wall_s: float = 0.0
    device_ns: int = 0
    """Time on the device from the first kernel to the last output."""
    points: int = 0
    """Changes of the dataset that was appended to, or changed in place, most often."""
    lines: list[Line] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    """Outputs that the device could not produce."""
    violations: list[Violation] = field(default_factory=list)
    """Of the interlocks."""
    stopped: bool = False
    """It took longer than allowed, so that only its beginning is known."""
    failure: Failure | None = None
    printed: str = ""
    """What the experiment has printed."""
    warnings: list[str] = field(default_factory=list)
    """Of the parts of the bench."""
    channels: dict[int, str] = field(default_factory=dict)
    """Names of RTIO channels."""
    recording: Recording | None = None
    datasets: dict = field(default_factory=dict)
    metadata: dict[str, dict] = field(default_factory=dict)
    """Of the datasets, by key."""
    provenance: dict[str, str] = field(default_factory=dict)
    """What it depends on, if that was asked for."""

    @property
    def least(self) -> Line | None:
        """The line with the least slack."""
        timed = [line for line in self.lines if line.slack_ns is not None]
        return min(timed, key=lambda line: line.slack_ns) if timed else None

    @property
    def incomplete(self) -> bool:
        """Whether the rest cannot be rehearsed."""
        return self.failure is not None and self.failure.kind == NoStandIn.__name__

    @property
    def passed(self) -> bool:
        """Whether nothing was found that would fail."""
        return not (self.lost or self.violations) and (self.failure is None or self.incomplete)


class _Borrowed(DatasetDB):
    """Broadcast datasets of a rehearsal: those of a laboratory, until they are set."""

    def __init__(self, beneath: DatasetDB):
        super().__init__()
        self._beneath = beneath

    def check(self):
        self._beneath.check()

    def get(self, key):
        return super().get(key) if key in self.data else self._beneath.get(key)

    def get_metadata(self, key):
        return super().get_metadata(key) if key in self.data else self._beneath.get_metadata(key)

    def delete(self, key):
        if key in self.data:
            super().delete(key)

    def close_db(self):
        self._beneath.close_db()


class Twin:
    """The emulated device of a laboratory; ends with `close`, or a ``with`` statement.

    `url`: its device, ``emulator://VARIANT``, if the core device of `ddb` is not emulated. `bench`:
    file with the wiring of its pins. `settings`: timing parameters of the emulator. `device`: one that
    has just booted with all that; by default one is started. `rules`: interlocks. UsageError, EmulatorError.
    """

    def __init__(
        self,
        ddb: DeviceDB,
        bench: str | None = None,
        url: str | None = None,
        settings: dict | None = None,
        device: emulator.Emulator | None = None,
        rules: Sequence[Rule] = (),
    ):
        self.ddb = twin_database(ddb, url)
        self.bench = None if bench is None else os.path.abspath(bench)
        self.device = None
        self._rules = rules
        self._statistics = None
        self._wanted, self._provenance = False, {}
        host = self.ddb.arguments("core").get("host")
        if host is not None and device is not None:
            self.device = device
            emulator.adopt(device)
        elif host is not None:
            settings = {**PATIENT, **(settings or {})}
            options = emulator.Options(bench=bench, entries=self.ddb.entries, settings=settings)
            self.device = emulator.acquire(host, options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stop the device."""
        if self.device is not None:
            self.device.stop()

    def rehearse(
        self,
        path: str,
        class_name: str | None = None,
        arguments: list[str] | dict = (),
        datasets: DatasetDB | None = None,
        within_s: float | None = None,
        cls: type | None = None,
        thoroughly: bool = True,
        provenance: bool = False,
        longest_s: float | None = None,
        folder: str | Path | None = None,
        expid: dict | None = None,
        rid: int = 0,
    ) -> Rehearsal:
        """Rehearse an experiment, and return what was found.

        arguments: texts ``KEY=VALUE``, or values. datasets: the broadcast datasets that it may read.
        within_s: seconds after which it is stopped. `cls`: its class, if it is imported already.
        thoroughly: examine outputs and pins; otherwise only datasets, points and the time on the device.
        provenance: note what it depends on. longest_s: with it, `within_s` is processor time, of this process and of
        the device, and this is the time in all: for one that gives way to other processes. folder: working directory in
        which it may write; by default one that is deleted, with copies of the small files of this one. expid: as it is
        submitted, by default as it would be. rid: the number of the run that it thinks it is.
        UsageError for arguments that it does not take.
        """
        started, printed = time.monotonic(), StringIO()
        found = Rehearsal(class_name or "", str(path), printed="")
        path = str(Path(path).absolute())
        with _elsewhere() if folder is None else _within(folder, os.getcwd()), redirect_stdout(printed):
            devices: list[TwinDevices] = []
            try:
                experiment = Experiment(
                    path,
                    class_name,
                    arguments,
                    self.ddb,
                    _Borrowed(datasets or DatasetDB()),
                    cls=cls,
                    bench=self.bench,
                    devices=lambda *more: devices.append(TwinDevices(*more)) or devices[-1],
                    note=_Points(found),
                    traced=provenance,
                    answers=DefaultAnswers,
                    rid=rid,
                    expid=expid or _expid(path, class_name, arguments),
                )
            except BaseException as error:
                for each in devices:
                    each.close_devices()  # with the stand-ins that were started
                if not isinstance(error.__cause__, NoStandIn):
                    raise
                found.name, found.file = found.name or ("" if cls is None else cls.__name__), path
                found.failure, found.wall_s = _failure(error, path, []), time.monotonic() - started
                return found
            found.name, found.file, self._wanted = experiment.name, path, provenance
            error = self._execute(experiment, within_s, longest_s)
        found.printed = printed.getvalue()
        found.stopped = isinstance(error, TimeUp)
        if error is not None and not found.stopped:
            found.failure = _failure(error, path, [])  # its pass follows from what is examined
        found.datasets, found.provenance = dict(experiment.datasets.local), self._provenance
        records = experiment.datasets.groups()["datasets"]
        found.metadata = {key: dict(record.metadata) for key, record in records.items()}
        self._examine(found, experiment, thoroughly)
        if error is not None and not found.stopped:
            found.failure = _failure(error, path, found.lines)
        found.wall_s = time.monotonic() - started
        return found

    def _execute(self, experiment: Experiment, within_s: float | None, longest_s: float | None) -> BaseException | None:
        """Run an experiment to its end; returns what has ended it before."""
        try:
            with _limited(within_s, longest_s, self._used) as limit:
                experiment.perform()
        except SystemExit:
            pass
        except KairosError as error:
            # Wherever the exception of the limit arrived, something may have raised another one from it.
            if limit.is_up and not isinstance(error, TimeUp):
                return TimeUp(str(error))
            if not isinstance(error.__cause__, ENDED[1]):
                return error
        finally:
            self._statistics = experiment.statistics()
            self._provenance = experiment.provenance() if self._wanted else {}
            experiment.devices.close_devices()
        return None

    def _used(self) -> float:
        """Return the processor time so far."""
        return time.process_time() + (0.0 if self.device is None else processor_s(self.device.pid))

    def _examine(self, found: Rehearsal, experiment: Experiment, thoroughly: bool):
        """Add what the device has recorded."""
        device, statistics = self.device, self._statistics
        if device is None or statistics is None or not statistics.kernels or not device.is_alive():
            return
        sources = device.sources()
        if len(sources.outputs):
            # Not the device's time, which depends on when this computer disconnects.
            found.device_ns = int(sources.outputs["time_ns"].max()) - device.trace_start_ns
        if not thoroughly:
            return
        found.channels = self.ddb.channel_names()
        device.wait_idle(timeout=SETTLING, clocks=self.ddb.free_running)
        found.recording = device.recording(found.channels)
        found.lines = lines_of(sources, found.recording.origin_ns)
        if device.has_bench:
            state = device.control.request("bench")
            others = bench_warnings(device, state, found.channels, self.ddb.channels_of("TTLInOut"))
            found.warnings = [text for _, text, _ in (*state["warnings"], *state["unfinished"], *others)]
        ended = not found.stopped and not found.incomplete
        found.violations = violations(self._rules, found.recording, device, sources, self.ddb, ended)
        # The last, since it makes the device do more.
        found.lost = places_of(device.lost_outputs(), sources, found.channels)


class _Points:
    """Counts the changes of datasets."""

    def __init__(self, found: Rehearsal):
        self._found = found
        self._counts: dict[str, int] = {}

    def __call__(self, operation, key, value=None, more=None):
        if operation in ("append", "assign"):
            self._counts[key] = self._counts.get(key, 0) + 1
            self._found.points = max(self._found.points, self._counts[key])


@contextmanager
def _elsewhere():
    """Context of a working directory that is deleted, with copies of the small files of this one."""
    before = os.getcwd()
    scratch = ScratchFolder("kairos-rehearsal-")
    try:
        small = (entry for entry in os.scandir(before) if entry.is_file() and entry.stat().st_size <= COPIED)
        for entry in islice(small, COPIES):
            with suppress(OSError):
                shutil.copyfile(entry.path, scratch.path / entry.name)
        with _within(scratch.path, before):
            yield
    finally:
        scratch.close()


@contextmanager
def _within(folder, before: str):
    """Context of a working directory."""
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@dataclass
class _Limit:
    up_at: float | None = None
    """When `TimeUp` was raised first."""

    @property
    def is_up(self) -> bool:
        """Whether `TimeUp` was raised."""
        return self.up_at is not None


@contextmanager
def _limited(seconds: float | None, longest: float | None = None, used: Callable[[], float] = time.monotonic):
    """Context, a `_Limit`, in which TimeUp is raised after this time. Only for the main thread. `longest`: the time in
    all, and `seconds` are those that `used` counts."""
    limit = _Limit()
    if seconds is None:
        yield limit
        return
    begun, first = time.monotonic(), used()

    def expired(_number, _frame):
        if longest is not None:
            left = min(seconds - (used() - first), longest - (time.monotonic() - begun))
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, max(left, AGAIN), AGAIN)
                return
        now = time.monotonic()
        limit.up_at = limit.up_at or now
        if now - limit.up_at > STUBBORN:
            why = f"it takes longer than {seconds:g} s, and catches every exception that would stop it"
            os.write(2, f"kairos: the rehearsal and its process were ended: {why}\n".encode())
            os._exit(1)
        raise TimeUp(f"the rehearsal takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), AGAIN)
    try:
        yield limit
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _expid(path: str, class_name: str | None, arguments: list[str] | dict) -> dict:
    """Return how an experiment would be submitted."""
    given = arguments if isinstance(arguments, dict) else {}
    return {"file": path, "class_name": class_name, "arguments": given, "log_level": logging.WARNING}


def _failure(error: BaseException, path: str, lines: list[Line]) -> Failure:
    """Return what has ended a rehearsal, with its place in the user's files."""
    cause = error.__cause__ if isinstance(error, report.UserCodeError) and error.__cause__ is not None else error
    (file, line), *called = _places(cause) or [(None, None)]
    found = next((own for own in lines if own.file == file and own.line == line), None)
    is_output = type(cause).__name__ == "RTIOUnderflow"
    # The very first output may not have been recorded.
    known = sum(own.outputs for own in lines) < KEPT
    passes = None if found is None else found.passes_from(tuple(called)) or found.passes
    at_pass = (passes or 1) if is_output and known else None
    return Failure(type(cause).__name__, _message(cause), str(error), file, line, at_pass, tuple(called))


def in_a_line(error: BaseException, path: str) -> str:
    """Return why an experiment of the file `path` cannot be rehearsed: of an exception of its code the place."""
    if not isinstance(error, report.UserCodeError):
        return " ".join(str(error).split())
    found = _failure(error, path, [])
    return f"{found.place}: {found.kind}: {' '.join(found.message.split())}".removeprefix(": ")


def _message(error: BaseException) -> str:
    core = getattr(error, "artiq_core_exception", None)
    if core is not None:
        return core.message
    if isinstance(error, CompileError):
        return str(error.diagnostic.message)
    return str(error)


def _places(error: BaseException) -> list[tuple[str, int]]:
    """Return the lines of user code that have not returned, innermost first."""
    core = getattr(error, "artiq_core_exception", None)
    if core is not None:
        frames = core.traceback[-1]
        own = [(file, line) for file, line, *_ in frames if file.endswith(".py") and report.is_user_file(file)]
        if own:  # not the firmware's own
            return own
    if isinstance(error, CompileError) and error.diagnostic.place is not None:
        return [(error.diagnostic.place.file, error.diagnostic.place.start[0] + 1)]
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if report.is_user_file(frame.filename)]
    users = [frame for frame in own if f"{os.sep}site-packages{os.sep}" not in frame.filename]
    return [(frame.filename, frame.lineno) for frame in reversed(users or own)]
