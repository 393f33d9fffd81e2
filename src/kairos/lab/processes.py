"""The laboratory's side of the processes of runs: starting them, finding those that outlived it, their end."""

import asyncio
import fcntl
import inspect
import logging
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .. import pyon
from ..controllers.sockets import unix_socket
from ..controllers.wire import LINE_LIMIT, described
from ..errors import KairosError, UsageError
from .journal import Reader, Record
from .printed import Output, last_line

__all__ = ["Ended", "Process", "Processes", "holder_of", "lock_free", "some"]

logger = logging.getLogger(__name__)

GRACE = 2.0
"""Seconds for a process to end after each of: request, SIGTERM, SIGKILL."""
STARTS = 3
"""Attempts to start a process, if the fork server is killed meanwhile."""
OUTPUT_PERIOD = 0.2
"""Seconds between two looks at what a run has printed."""
TOGETHER = 256
"""Records that are processed before others have their turn."""


class Ended(KairosError):
    """The process of a run has ended. `code`: its exit code, or None if it is unknown."""

    def __init__(self, code: int | None):
        reason = "" if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
        super().__init__(f"the process of the run has ended{reason}")
        self.code = code


def lock_free(folder: Path) -> int | None:
    """Lock the folder of a run, if its process has ended; returns the descriptor of the lock, None
    if the process is alive."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock
    except OSError:
        os.close(lock)
        return None


def holder_of(folder: Path) -> int:
    """Return the number of the process that has locked the folder of a run. UsageError if it cannot be found."""
    text = (folder / "lock").read_text(errors="replace").strip()
    if text.isascii() and text.isdecimal() and int(text):
        return int(text)
    # It has not written its number yet, or the file is damaged.
    number = f":{(folder / 'lock').stat().st_ino}"
    with suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            match line.split():
                case [_, "FLOCK", _, _, pid, place, *_] if place.endswith(number) and int(pid) > 0:
                    return int(pid)
    raise UsageError(f"{folder / 'lock'} is damaged: end the process of this run, and start again")


class Process:
    """The process of a run, or of an examination, whose number is `key`.

    `take`: called with its new records; `printed`: with each record of its log, (level, text).
    """

    def __init__(self, key, folder: Path, pid: int, take=None, printed=None):
        self.key, self.folder, self.pid = key, folder, pid
        self._take, self._printed = take, printed
        self._reader = Reader(folder / "journal")
        self._output = Output(folder / "output")
        self._writer: asyncio.StreamWriter | None = None
        self._results: asyncio.Queue = asyncio.Queue()
        self.stage: str | None = None
        """The stage it executes, or executed last."""
        self.busy = False
        self.greeted = asyncio.Event()
        self.gone = asyncio.Event()
        self.code: int | None = None
        self.code_comes = False
        """Whether its parent, which will tell its exit code, is the fork server of this laboratory."""
        self._changed = asyncio.Event()
        self._descriptor: int | None = None
        loop = asyncio.get_running_loop()
        try:
            self._descriptor = os.pidfd_open(pid)
            loop.add_reader(self._descriptor, self._note_end)
        except ProcessLookupError:
            self.gone.set()
        self._following = loop.create_task(self._follow())

    # Commands

    async def connected(self):
        """Wait until the process has connected. Ended."""
        await self._or_gone(self.greeted.wait(), None)

    async def perform(self, stage: str, timeout: float | None = None, **values):
        """Execute a stage; returns how it has ended, and its data. Ended; TimeoutError."""
        await self._or_gone(self.greeted.wait(), timeout)
        self.stage, self.busy = stage, True
        self._send({"stage": stage, "values": values})
        return await self.result(timeout)

    async def result(self, timeout: float | None = None) -> tuple[str, object]:
        """Return how the stage that it executes has ended, and its data."""
        message = await self._or_gone(self._results.get(), timeout)
        self.busy = message["end"] == "paused"
        return message["end"], message["data"]

    async def _or_gone(self, awaited, timeout):
        """Wait for something, at most until the process has ended."""
        tasks = [asyncio.ensure_future(awaited), asyncio.ensure_future(self.gone.wait())]
        try:
            await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                return tasks[0].result()
            if tasks[1].done():
                raise Ended(self.code)
            raise TimeoutError
        finally:
            for task in tasks:
                task.cancel()

    def inform(self, **values):
        """Send it values while it executes a stage."""
        self._send({"information": values})

    def _send(self, message: dict):
        if self._writer is not None:
            self._writer.write(pyon.encode(message).encode() + b"\n")

    async def stop(self, orderly: bool = True):
        """End the process: if it waits, by request; then by SIGTERM, then by SIGKILL."""
        if orderly and self.greeted.is_set() and not self.busy:
            self._send({"stage": "terminate", "values": {}})
            await self._wait_gone()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.gone.is_set():
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._descriptor, number)
                await self._wait_gone()

    async def _wait_gone(self):
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self.gone.wait()

    async def close(self):
        """Wait for its end, until what it has written is processed, and discard it."""
        await self.gone.wait()
        self._changed.set()
        await self._following
        if self._writer is not None:
            self._writer.close()

    def detach(self):
        """Leave the process alone."""
        self._following.cancel()
        if self._descriptor is not None:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
        if self._writer is not None:
            self._writer.close()

    # What it says

    def greet(self, hello: dict, writer: asyncio.StreamWriter):
        """Note that it has connected."""
        self._writer = writer
        self.stage, self.busy = hello.get("stage"), bool(hello.get("busy"))
        self.greeted.set()
        self._changed.set()

    def note(self, message: dict):
        """Note a message that is no question."""
        if "end" in message:
            self._results.put_nowait(message)
        elif "written" in message:
            self._changed.set()

    def note_code(self, code: int):
        """Note its exit code, which its parent has told."""
        self.code = code
        if self._descriptor is None:
            self.gone.set()

    def _note_end(self):
        asyncio.get_running_loop().remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None
        if self.code is not None or not self.code_comes:
            self.gone.set()

    def expect_no_code(self):
        """Note that nobody will tell its exit code."""
        self.code_comes = False
        if self._descriptor is None:
            self.gone.set()

    async def read_on(self):
        """Process what it has written up to now."""
        while records := some(self._reader):
            if self._take is not None:
                self._take(self, records)
            await asyncio.sleep(0)

    async def _follow(self):
        """Process what it writes, until it has ended."""
        while True:
            last = self.gone.is_set()
            self._changed.clear()
            more = False
            try:
                await self.read_on()
                more = await self._read_output(last)
            except Exception:
                logger.exception("what run %s has written cannot be processed", self.key)
            if more:
                continue
            if last:
                return
            # Not `wait_for`, which may return instead of being cancelled if something was written at that moment.
            with suppress(TimeoutError):
                async with asyncio.timeout(OUTPUT_PERIOD):
                    await self._changed.wait()

    async def _read_output(self, ended: bool) -> bool:
        """Process what it has printed; returns whether there is more."""
        records, more = self._output.read(ended)
        for number, (level, text) in enumerate(records):
            if self._printed is not None:
                self._printed(level, text)
            if number % TOGETHER == TOGETHER - 1:
                await asyncio.sleep(0)
        return more


def some(reader: Reader) -> list[Record]:
    """Return the next records, of which so many are processed before others have their turn."""
    records = []
    for record in reader.records():
        records.append(record)
        if len(records) == TOGETHER:
            break
    return records


class Processes:
    """All processes. `path`: the socket to which they connect; `serve(process, number, service,
    args, kwargs)`: answers their questions; `first`: a fork server that runs already, a `forkserver.Forked`."""

    def __init__(self, path: Path, serve: Callable, first=None):
        self.path, self._serve = path, serve
        self._known: dict = {}
        self._early_codes: dict[int, int] = {}
        """Exit codes of processes that have ended before they are known."""
        self._early: dict[object, asyncio.Future] = {}
        """Processes that have connected before they are known."""
        self._started: asyncio.Queue = asyncio.Queue()
        self._starting = asyncio.Lock()
        self._first = first
        self._parent = None
        """The fork server: a process of asyncio, or one that was forked."""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task] = set()
        self.ready = asyncio.Event()

    async def start(self):
        """Listen, and start the fork server."""
        self._server = await asyncio.start_unix_server(self._accepted, sock=unix_socket(self.path), limit=LINE_LIMIT)
        self._keep_task(self._keep_parent())

    def _keep_task(self, coroutine):
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self):
        """Stop listening, and end the fork server. Processes of runs go on."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for process in list(self._known.values()):
            process.detach()
        if self._server is not None:
            self._server.close()
        if self._parent is not None and self._parent.returncode is None:
            with suppress(ProcessLookupError):
                self._parent.kill()
            await self._parent.wait()
        self.path.unlink(missing_ok=True)

    async def _keep_parent(self):
        """Start the fork server, and start it again if it ends."""
        while True:
            try:
                reader, self._requests = await self._start_parent()
            except OSError as error:  # no process, file or memory is left, for now
                logger.error("the fork server cannot be started: %s; it is tried again", error)
                await asyncio.sleep(0.5)
                continue
            with suppress(ConnectionError):  # it was killed before it has read everything
                await self._receive(reader)
            self.ready.clear()
            self._requests.close()
            self._early_codes.clear()
            for process in self._known.values():
                process.expect_no_code()
            await self._parent.wait()
            logger.error("the fork server has ended; it is started again")
            self._started.put_nowait(None)
            await asyncio.sleep(0.5)

    async def _start_parent(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Start the fork server; returns the connection to it. OSError."""
        if self._first is not None:
            self._parent, self._first = self._first, None
            return await asyncio.open_connection(sock=self._parent.connection)
        ours, its = socket.socketpair()
        with its:
            try:
                self._parent = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "kairos.lab.forkserver", str(its.fileno()), pass_fds=[its.fileno()]
                )
            except OSError:
                ours.close()
                raise
        return await asyncio.open_connection(sock=ours)

    async def _receive(self, reader: asyncio.StreamReader):
        """Note what the fork server says, until it has ended."""
        while line := await reader.readline():
            message = pyon.decode(line.decode())
            if "ready" in message:
                self.ready.set()
            elif "started" in message:
                self._started.put_nowait(message["started"])
            else:
                self._note_code(message["ended"], message["code"])

    def _note_code(self, pid: int, code: int):
        for process in self._known.values():
            if process.pid == pid:
                process.note_code(code)
                return
        self._early_codes[pid] = code

    async def fork(self, kind: str, key, folder: Path, begin: dict, take=None, printed=None) -> Process:
        """Start a process of a kind, see `forkserver`. `folder`: its folder, which is created."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "lock").touch()
        request = {"kind": kind, "folder": str(folder), "path": str(self.path), "begin": begin}
        async with self._starting:
            for _ in range(STARTS):
                pid = await self._started_once(request, key, folder)
                if pid is not None:
                    return self._started_here(key, folder, pid, take, printed)
                # The fork server was killed. If it had started the process, that has locked its folder meanwhile.
                await self.ready.wait()
                if (lock := lock_free(folder)) is None:
                    return self.adopt(key, folder, holder_of(folder), take, printed)
                os.close(lock)
        raise Ended(None)

    async def _started_once(self, request: dict, key, folder: Path) -> int | None:
        await self.ready.wait()
        forking = asyncio.ensure_future(self._forked(request))
        try:
            pid = await asyncio.shield(forking)
        except asyncio.CancelledError:
            # It is started all the same, and must neither stay nor be taken for the next one.
            if (pid := await forking) is not None:
                process = self._started_here(key, folder, pid)
                await process.stop(orderly=False)
                await self.drop(process)
            raise
        return pid

    def _started_here(self, key, folder: Path, pid: int, take=None, printed=None) -> Process:
        process = self.adopt(key, folder, pid, take, printed)
        if (code := self._early_codes.pop(pid, None)) is not None:
            process.note_code(code)
        process.code_comes = True
        return process

    async def _forked(self, request: dict) -> int | None:
        """Have the fork server start a process; returns its number, None if that has ended."""
        while not self._started.empty():
            self._started.get_nowait()
        self._requests.write(pyon.encode(request).encode() + b"\n")
        return await self._started.get()

    async def once(self, kind: str, key: str, folder: Path, begin: dict, timeout: float) -> tuple[str, object]:
        """Have a process of a kind do its only work, and remove it and its folder; returns how that has
        ended, and its data: if it has failed, why."""
        process = None
        try:
            process = await self.fork(kind, key, folder, {"rid": key, **begin})
            return await process.result(timeout)
        except (KairosError, OSError, TimeoutError) as error:
            said = last_line(folder) if isinstance(error, Ended) else ""
            return "failed", f"{error or 'it has not ended in time'}{': ' if said else ''}{said}"
        finally:
            if process is not None:
                await process.stop()
                await self.drop(process)
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def adopt(self, key, folder: Path, pid: int, take=None, printed=None) -> Process:
        """Follow a process, which will connect."""
        process = Process(key, folder, pid, take, printed)
        self._known[key] = process
        early = self._early.pop(key, None)
        if early is not None:
            early.set_result(process)
        return process

    async def drop(self, process: Process):
        """Wait for the end of a process and discard it."""
        await process.close()
        self._known.pop(process.key, None)

    async def _accepted(self, reader, writer):
        try:
            hello = pyon.decode((await reader.readline()).decode())["hello"]
            process = self._known.get(hello["rid"])
            if process is None:
                # It may connect before its number has come from the fork server.
                early = self._early.setdefault(hello["rid"], asyncio.get_running_loop().create_future())
                process = await asyncio.wait_for(asyncio.shield(early), 30)
            process.greet(hello, writer)
            while line := await reader.readline():
                message = pyon.decode(line.decode())
                if "ask" in message:
                    # An answer may take as long as a user.
                    self._keep_task(self._answer(process, writer, message))
                else:
                    process.note(message)
        except (OSError, ValueError, KeyError, TypeError, TimeoutError):
            pass  # it has ended, or is none of ours
        finally:
            writer.close()

    async def _answer(self, process: Process, writer, message):
        try:
            value = self._serve(process, message["number"], message["ask"], message["args"], message["kwargs"])
            reply = {"status": "ok", "ret": await value if inspect.isawaitable(value) else value}
            line = pyon.encode({"reply": reply, "number": message["number"]})
        except Exception as error:
            line = pyon.encode({"reply": described(error), "number": message["number"]})
        with suppress(OSError, RuntimeError):
            writer.write(line.encode() + b"\n")
