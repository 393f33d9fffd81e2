"""Copies of an emulated device that has booted: each goes on by itself, from the same state."""

import os
import select
import signal
import socket
import subprocess
import threading
import time
from typing import NamedTuple

from .control import Control
from .process import Emulator

__all__ = ["Begun", "Copy", "begin"]


class _Forked:
    """The process of a copy, which is a child of the emulator: what `Emulator` needs of a `Popen`."""

    stdout = stderr = None

    def __init__(self, pid: int):
        self.pid = pid
        try:
            self._descriptor: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._descriptor = None

    def poll(self) -> int | None:
        """Return None while it lives."""
        if self._descriptor is not None and select.select([self._descriptor], [], [], 0)[0]:
            self._close()
        return None if self._descriptor is not None else 1

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; its exit code is not known."""
        if self._descriptor is not None:
            if not select.select([self._descriptor], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("kairos-emulator", timeout)
            self._close()
        return 1

    def _close(self):
        os.close(self._descriptor)
        self._descriptor = None

    def leave(self):
        """Do not watch it any longer."""
        if self._descriptor is not None:
            self._close()

    def kill(self):
        """Kill it."""
        if self._descriptor is not None:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    terminate = kill


class Begun(NamedTuple):
    """A copy that the original has been asked for."""

    connection: socket.socket
    """To it. It ends when all processes that have this socket have closed it."""
    number: int
    """Of the request."""


def begin(original: Emulator, seed: int | None = None) -> Begun:
    """Ask for a copy, see `Copy`, which is made meanwhile. EmulatorError."""
    ours, its = socket.socketpair()
    more = {} if seed is None else {"seed": seed}
    with its:
        return Begun(ours, original.control.send("fork", its, **more))


class Copy(Emulator):
    """A copy of the emulator `original`, which must be ready and unused. It ends with `stop`, with
    this process, or with the original. `seed`: of its bench's random numbers from now on. `begun`: what
    `begin` has returned, if the copy was begun before, in this process or in the one that it is a copy of; it is then
    waited for when it is first used. `late`: a copy that was not begun is made when it is first used."""

    def __init__(self, original: Emulator, seed: int | None = None, begun: "Begun | None" = None, late: bool = False):
        self.variant, self.has_bench, self.entries = original.variant, original.has_bench, original.entries
        self.started = time.perf_counter()
        self._original, self._seed, self._begun = original, seed, begun
        self._directory, self._errors, self._readers, self._card = None, [], [], None
        self._process: _Forked | None = None
        self._control: Control | None = None
        self._ready, self._booting, self._unready = None, threading.Lock(), None
        self._begin()
        if begun is None and not late:
            self.wait_ready()

    def _awaited(self) -> dict:
        self._begun = self._begun or begin(self._original, self._seed)
        self._process = _Forked(self._original.control.reply("fork", self._begun.number)["pid"])
        self._control = Control(self._begun.connection, self._process.pid)
        forwards = self._control.request("forwards")["forwards"]
        return {"forwards": forwards, "wall_s": time.perf_counter() - self.started}

    @property
    def pid(self) -> int:
        self.wait_ready()
        return self._process.pid

    def is_alive(self) -> bool:
        self.wait_ready()
        return super().is_alive()

    def teach(self):
        """Let the original translate the code of the firmware that this copy has run, so that later copies need not.
        Nothing else changes there."""
        self._original.control.request("translate", blocks=self.control.request("blocks")["blocks"])

    @property
    def is_used(self) -> bool:
        """Whether anything was asked of it."""
        return self._process is not None

    def stop(self):
        """End it at once, without waiting for the end of its process; harmless if it has ended already."""
        if self._process is not None:
            self._process.kill()
            self._process.leave()
        # One that nobody has used ends with its connection.
        if self._begun is not None:
            self._begun.connection.close()
        self._control = None
        self.discard()
