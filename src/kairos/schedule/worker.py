"""A run's worker: the process in which an experiment is built and run, stage by stage, and the services that it
requests."""

import asyncio
import inspect
import itertools
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .. import pyon
from ..controllers.wire import LINE_LIMIT, described, written
from ..errors import KairosError

__all__ = ["Worker", "WorkerError", "WorkerInternalException", "WorkerTimeout", "WorkerWatchdogTimeout"]


class WorkerError(KairosError):
    """A run has failed, or its process has."""


class WorkerTimeout(WorkerError):
    """A stage has taken too long."""


class WorkerWatchdogTimeout(WorkerError):
    """A watchdog of the experiment has expired."""


class WorkerInternalException(WorkerError):
    """The experiment raised an exception; the text shows it with the experiment's own lines."""


class Terminated(WorkerError):
    """The experiment was terminated on request."""


class Worker:
    """The process of one run, which is started with the first stage.

    `handlers`: by name, the functions (also coroutines) that experiments may have called:
    ``scheduler.submit`` and the other methods of a scheduler, ``ccb.issue``,
    ``device_db.get_device_db``, ``datasets.get``, ``get_metadata``, ``set`` and ``delete``. Every
    stage raises WorkerInternalException for what the experiment raised, WorkerTimeout if it has not
    ended `timeout` seconds later, WorkerWatchdogTimeout, and WorkerError if the process has died.
    """

    def __init__(self, handlers: dict[str, Callable] | None = None, grace: float = 2.0):
        self._grace = grace
        self._numbers = itertools.count()
        self._watchdogs: dict[int, float] = {}
        """By number, when each expires."""
        self._handlers = {
            **(handlers or {}),
            "watchdog.start": self._start_watchdog,
            "watchdog.stop": self._watchdogs.pop,
        }
        self._process: asyncio.subprocess.Process | None = None
        self._own_folder: tempfile.TemporaryDirectory | None = None

    async def build(self, rid, pipeline_name, wd, expid, priority, timeout=15.0, folder=None):
        """Build the experiment of `expid`: its ``file``, in the directory `wd` unless that is None,
        or its ``content``; its ``class_name`` and ``arguments``. `folder`: where its files go; by
        default the working directory."""
        values = {"rid": rid, "pipeline_name": pipeline_name, "expid": expid, "priority": priority, "folder": folder}
        if "content" in expid:
            self._own_folder = tempfile.TemporaryDirectory(prefix="kairos-run-")
            file = Path(self._own_folder.name, "experiment.py")
            file.write_text(expid["content"])
        else:
            file = Path(wd or ".", expid["file"]).resolve()
        await self._stage("build", timeout, file=str(file), **values)

    async def prepare(self):
        """The experiment's ``prepare``."""
        await self._stage("prepare")

    async def run(self) -> bool:
        """Its ``run``. True at the end; False where the experiment pauses: `resume` goes on."""
        return await self._stage("run") is not False

    async def resume(self) -> bool:
        """Go on after a pause, as `run`."""
        return await self._stage("resume") is not False

    async def analyze(self):
        """Its ``analyze``; the run's HDF5 file is written then."""
        await self._stage("analyze")

    async def examine(self, rid, file, timeout=20.0) -> dict:
        """What the experiments in a file ask for: by class, ``name``, ``arginfo``, ``argument_ui`` and
        ``scheduler_defaults``."""
        return await self._stage("examine", timeout, file=str(file))

    async def close(self, term_timeout: float | None = None, rid=None):
        """End the process: by request, and after a grace period by force."""
        if self._own_folder is not None:
            self._own_folder.cleanup()
        process, self._process = self._process, None
        if process is None:
            return
        grace = self._grace if term_timeout is None else term_timeout
        try:
            self._writer.write(written({"stage": "terminate", "values": {}}))
            self._writer.close()
        except (OSError, RuntimeError):
            pass  # it has gone already
        for force in (process.terminate, process.kill, lambda: None):
            try:
                await asyncio.wait_for(process.wait(), grace)
                return
            except TimeoutError:
                # It may end in this very moment, which the next wait sees
                with suppress(ProcessLookupError):
                    force()

    async def _start(self):
        ours, its = socket.socketpair()
        with its:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "kairos.schedule.process", str(its.fileno()), pass_fds=[its.fileno()]
            )
        self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=LINE_LIMIT)

    async def _stage(self, stage, timeout=None, **values):
        """Have a stage done; what it gives, or False where it pauses."""
        if self._process is None:
            await self._start()
        deadline = None if timeout is None else asyncio.get_running_loop().time() + timeout
        self._writer.write(written({"stage": stage, "values": values}))
        while True:
            message = await self._line(stage, deadline)
            match message:
                case {"ask": service, "args": args, "kwargs": kwargs}:
                    self._writer.write(written(await self._served(service, args, kwargs)))
                case {"end": "completed", "data": data}:
                    return data
                case {"end": "paused"}:
                    return False
                case {"end": "terminated"}:
                    raise Terminated("the experiment was terminated on request")
                case {"end": "failed", "data": text}:
                    raise WorkerInternalException(text)

    async def _line(self, stage, deadline) -> dict:
        """The next line of the process, if it comes before anything expires."""
        ends = [end for end in (deadline, *self._watchdogs.values()) if end is not None]
        left = min(ends) - asyncio.get_running_loop().time() if ends else None
        try:
            line = await asyncio.wait_for(self._reader.readline(), left)
        except TimeoutError:
            if deadline is not None and deadline == min(ends):
                raise WorkerTimeout(f"{stage} did not finish in time") from None
            raise WorkerWatchdogTimeout(f"a watchdog has expired during {stage}") from None
        except OSError:
            line = b""
        if not line:
            code = await self._process.wait()
            raise WorkerError(f"the worker process died during {stage} (exit code {code})")
        return pyon.decode(line.decode())

    async def _served(self, service, args, kwargs) -> dict:
        """The reply to a question."""
        handler = self._handlers.get(service)
        try:
            if handler is None:
                raise KairosError(f"this run has no {service}: its worker has no handler of that name")
            value = handler(*args, **kwargs)
            reply = {"status": "ok", "ret": await value if inspect.isawaitable(value) else value}
            written(reply)
            return reply
        except Exception as error:
            return described(error)

    def _start_watchdog(self, seconds) -> int:
        number = next(self._numbers)
        self._watchdogs[number] = asyncio.get_running_loop().time() + seconds
        return number
