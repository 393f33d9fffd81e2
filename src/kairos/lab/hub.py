"""The hub of a laboratory, if lab.toml names its settings: a process of its own, which is started with the laboratory,
and again whenever it ends.

Either may be started again without the other. From its start to its end the process holds the lock of a file with its
number; a laboratory that finds the lock taken goes on with this process. It ends with a laboratory that is ended.
"""

import asyncio
import fcntl
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..emulator import artifacts
from ..errors import UsageError
from ..files import read_toml
from .claims import users

__all__ = ["Hub"]

logger = logging.getLogger(__name__)

STARTING = 20.0
"""Seconds within which it listens."""
RETRY = 2.0
"""Seconds until it is started again."""
GRACE = 5.0
"""Seconds for it to end by itself."""
LISTENING = re.compile(r"^listening on (\S+)$", re.MULTILINE)


class Hub:
    """The hub with the settings file `path`. `state`: the folder for its lock and its log. UsageError if it could
    never be the door of the laboratory in `folder`. `listens()`: called when it listens."""

    def __init__(self, path: Path, state: Path, folder: Path, listens: Callable[[], None]):
        self._listens = listens
        self._program, self._path, self._state = artifacts.hub(), path, state
        if not path.is_file():
            raise UsageError(f"there is no {path}, which lab.toml names as 'hub': 'kairos new --hub' writes one")
        said = read_toml(path)
        door = said.get("laboratory")
        place = door.get("folder") if isinstance(door, dict) else None
        if not isinstance(place, str) or (path.parent / place).resolve() != folder:
            raise UsageError(f"{path} lacks [laboratory] with folder = {os.path.relpath(folder, path.parent)!r}")
        self._scheme = "https" if "tls" in said else "http"
        self._process: subprocess.Popen | None = None
        self._descriptor: int | None = None
        """Refers to the process, while it lives."""
        self._task: asyncio.Task | None = None
        self.address: str | None = None
        """Where it listens, once it does."""

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self._scheme}://{self.address}"

    async def start(self):
        """Start the process, or find the one that runs; returns when it listens, or why it does not is logged."""
        ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._keep(ready))
        await ready

    async def stop(self):
        """End the process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for number in (signal.SIGINT, signal.SIGKILL):
            if self._descriptor is not None:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._descriptor, number)
                with suppress(TimeoutError):
                    async with asyncio.timeout(GRACE):
                        await self._end()

    async def _keep(self, ready: asyncio.Future):
        reported = ""
        while True:
            try:
                await self._reach()
                self._listens()
                reported = ""
            except (UsageError, OSError) as error:
                if str(error) != reported:
                    logger.error("%s; it is tried again", error)
                reported = str(error)
            if not ready.done():
                ready.set_result(None)
            if self._descriptor is not None:
                await self._end()
                if not reported:
                    logger.error("the hub has ended; it is started again")
            await asyncio.sleep(RETRY)

    async def _reach(self):
        """Start the process unless there is one; returns when it listens. UsageError."""
        lock = os.open(self._state / "hub.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._start(lock)
        except BlockingIOError:
            pass  # it outlived another laboratory
        finally:
            os.close(lock)  # that of the process remains
        deadline = time.monotonic() + STARTING
        while time.monotonic() < deadline:
            if self._descriptor is None:
                self._find()
            if self._process is not None and self._process.poll() is not None:
                lines = self._said().strip().splitlines()
                raise UsageError(f"the hub has ended: {lines[-1] if lines else f'code {self._process.returncode}'}")
            if (found := LISTENING.search(self._said())) is not None:
                self.address = found[1]
                return
            await asyncio.sleep(0.02)
        raise UsageError(f"the hub does not listen after {STARTING:g} s: see {self._state / 'hub.log'}")

    def _start(self, lock: int):
        log = self._state / "hub.log"
        with suppress(FileNotFoundError):
            log.rename(log.with_suffix(".log.1"))
        os.ftruncate(lock, 0)
        # The interpreter of a plugin is the one that has this package, unless hub.toml says another.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [self._program, self._path],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[lock],
                env={**os.environ, "PATH": path},
                start_new_session=True,  # Ctrl-C in a terminal is for the laboratory
            )
        os.pwrite(lock, f"{self._process.pid}\n".encode(), 0)
        self._descriptor = os.pidfd_open(self._process.pid)

    def _find(self):
        """Refer to the process that holds the lock."""
        with (self._state / "hub.lock").open() as file:
            number = file.read().strip()
            # Its laboratory may have been killed before it has noted the number.
            for process in [int(number)] if number.isdecimal() else users(file.fileno()):
                with suppress(ProcessLookupError):
                    self._descriptor = os.pidfd_open(process)

    def _said(self) -> str:
        with suppress(FileNotFoundError):
            return (self._state / "hub.log").read_text(errors="replace")
        return ""

    async def _end(self):
        """Wait for the end of the process."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = self.address = None
        if self._process is not None:
            self._process.wait()
            self._process = None
