"""Copies of an emulated device that has booted: each goes on by itself, from the same state."""

import os
import select
import signal
import subprocess
import threading
import time

from .control import Control
from .process import Emulator, folder_for_socket

__all__ = ["Copy"]

CONNECTING = 10.0
"""Seconds for a copy to listen."""


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

    def kill(self):
        """Kill it."""
        if self._descriptor is not None:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    terminate = kill


class Copy(Emulator):
    """A copy of the emulator `original`, which must be ready and unused. It ends with `stop`, with
    this process, or with the original. `seed`: of its bench's random numbers from now on."""

    def __init__(self, original: Emulator, seed: int | None = None):
        self.variant, self.has_bench = original.variant, original.has_bench
        self.started = time.perf_counter()
        self._directory = folder_for_socket()
        path = os.path.join(self._directory.path, "control")
        more = {} if seed is None else {"seed": seed}
        self._process = _Forked(original.control.request("fork", control=path, **more)["pid"])
        self._errors, self._readers, self._card = [], [], None
        self._control = Control.connect_when_there(path, self.is_alive, CONNECTING)
        self._directory.close()
        forwards = self._control.request("forwards")["forwards"]
        self._ready = {"forwards": forwards, "wall_s": time.perf_counter() - self.started}
        self._booting, self._unready = threading.Lock(), None
        self._begin()

    def stop(self):
        """End it at once; harmless if it has ended already."""
        self._process.kill()
        if self._control is not None:
            self._control.close()
            self._control = None
        super().stop()
