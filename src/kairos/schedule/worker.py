"""A run's worker: the process in which an experiment is built and run, stage by stage, and the services that it
requests."""

import asyncio
import inspect
import itertools
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .. import pyon
from ..controllers.wire import LINE_LIMIT, described, written
from ..errors import KairosError
from ..scratch import ScratchFolder

__all__ = ["Worker", "WorkerError", "WorkerInternalException", "WorkerTimeout", "WorkerWatchdogTimeout"]


class WorkerError(KairosError):
    """A run or its process has failed."""


class WorkerTimeout(WorkerError):
    """A stage has exceeded its time limit."""


class WorkerWatchdogTimeout(WorkerError):
    """A watchdog of the experiment has expired."""


class WorkerInternalException(WorkerError):
    """The experiment raised an exception; the text shows it with the experiment's own lines."""


class Terminated(WorkerError):
    """The experiment was terminated on request."""


class Worker:
    """The process of one run, which is started with the first stage.

    `handlers`: by name, the functions (also coroutines) that experiments may call:
    ``scheduler.submit`` and the other methods of a scheduler, ``ccb.issue``,
    ``device_db.get_device_db``, ``datasets.get``, ``get_metadata``, ``set`` and ``delete``. Every
    stage raises WorkerInternalException for exceptions of the experiment, WorkerTimeout if it has
    not ended after `timeout` seconds, WorkerWatchdogTimeout, and WorkerError if the process has
    died.
    """

    def __init__(self, handlers: dict[str, Callable] | None = None, grace: float = 2.0):
        self._grace = grace
        self._numbers = itertools.count()
        self._watchdogs: dict[int, float] = {}
        """Expiry time of each watchdog, by number."""
        self._handlers = {
            **(handlers or {}),
            "watchdog.start": self._start_watchdog,
            "watchdog.stop": self._watchdogs.pop,
        }
        self._process: asyncio.subprocess.Process | None = None
        self._own_folder: ScratchFolder | None = None

    async def build(self, rid, pipeline_name, wd, expid, priority, timeout=15.0, folder=None):
        """Build the experiment of `expid`: its ``file``, in the directory `wd` if given, or its
        ``content``; its ``class_name`` and ``arguments``. `folder`: directory of its output files;
        by default the working directory.
        """
        values = {"rid": rid, "pipeline_name": pipeline_name, "expid": expid, "priority": priority, "folder": folder}
        if "content" in expid:
            self._own_folder = ScratchFolder("kairos-run-")
            file = self._own_folder.path / "experiment.py"
            file.write_text(expid["content"])
        else:
            file = Path(wd or ".", expid["file"]).resolve()
        await self._stage("build", timeout, file=str(file), **values)

    async def prepare(self):
        """Run the experiment's ``prepare``."""
        await self._stage("prepare")

    async def run(self) -> bool:
        """Run the experiment's ``run``. Returns True at its end, False if it pauses: continue with
        `resume`."""
        return await self._stage("run") is not False

    async def resume(self, termination: bool = False) -> bool:
        """Continue after a pause, as `run`; with `termination` the run is asked to terminate."""
        return await self._stage("resume", termination=termination) is not False

    async def analyze(self):
        """Run the experiment's ``analyze``; then the run's HDF5 file is written."""
        await self._stage("analyze")

    async def examine(self, rid, file, timeout=20.0) -> dict:
        """Return the requirements of the experiments in a file: by class, ``name``, ``arginfo``,
        ``argument_ui`` and ``scheduler_defaults``."""
        return await self._stage("examine", timeout, file=str(file))

    async def close(self, term_timeout: float | None = None, rid=None):
        """End the process: by request, and after a grace period by force."""
        if self._own_folder is not None:
            self._own_folder.close()
        process, self._process = self._process, None
        if process is None:
            return
        grace = self._grace if term_timeout is None else term_timeout
        try:
            self._writer.write(written({"stage": "terminate", "values": {}}))
            self._writer.close()
        except (OSError, RuntimeError):
            pass  # the process has exited already
        for force in (process.terminate, process.kill, lambda: None):
            try:
                await asyncio.wait_for(process.wait(), grace)
                return
            except TimeoutError:
                # It may exit at this very moment, which the next wait detects
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
        """Execute a stage; returns its data, or False if it pauses."""
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
        """Receive the next line of the process before any deadline expires."""
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
        """Serve a request and return the reply."""
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
