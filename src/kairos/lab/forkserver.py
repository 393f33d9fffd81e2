"""The process that starts processes of runs in milliseconds: everything they import is loaded already, and it forks.

The first one of a laboratory is itself a fork of the process that becomes the laboratory, before that has threads and
connections: it need not import again what both need, and imports the rest meanwhile. If it is killed, the next one is a
program of its own.

One process is always forked in advance; if it is killed, another one takes its place. If several end at once, the next
one is forked when it is needed. This one is single-threaded, has no connection to a device and opens no file. It
receives a line of PYON for each process: `kind`, `folder`, `path` and `begin`, see `kairos.lab.worker.main`, and
answers with its number, ``{"started": PID}``, null if none can be forked. When one ends, it sends
``{"ended": PID, "code": ...}``. A process is in a session of its own and outlives this one, which ends with the
laboratory.
"""

import asyncio
import fcntl
import gc
import logging
import os
import select
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress

from .. import compat, pyon
from ..cli.provenance import know_imported
from . import checking, examination, predicting, rehearsing, worker

__all__ = ["Forked", "Spares", "main"]

logger = logging.getLogger(__name__)

TIMEOUT = 5.0
"""Seconds to wait for the lock of a run."""
ATTEMPTS = 3
"""Processes that are forked in a row, if each ends before it has read a request."""
LIVED = 1.0
"""Seconds within which a process ends at once."""
KINDS = {
    "run": worker.main,
    "examine": examination.main,
    "rehearse": rehearsing.main,
    "predict": predicting.main,
    "diff": checking.diff,
    "verify": checking.verify,
}


def _load():
    """Import what experiments need, so that their processes have it."""
    import h5py  # noqa: F401 loaded here, not where it is used

    from .. import compiler  # noqa: F401 likewise

    compat.install()
    for module in (
        "artiq.experiment",
        "artiq.coredevice.core",
        "artiq.coredevice.ttl",
        "kairos.controllers.client",
        "kairos.emulator.copies",
        "kairos.session",
        "lmdb",
        "numpy",
        "random",
        "subprocess",
    ):
        __import__(module)
    know_imported()


class Forked:
    """A fork server as a fork of this process, and `connection` to it."""

    def __init__(self):
        self.connection, its = socket.socketpair()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid:
            its.close()
            return
        code = 1
        try:
            self.connection.close()
            _serve(its.detach())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def kill(self):
        """End it at once; ProcessLookupError if it has ended."""
        os.kill(self.pid, signal.SIGKILL)

    def end(self):
        """End it, if it has not ended."""
        if self.returncode is None:
            self.kill()
            self._wait()

    async def wait(self):
        """Wait for its end."""
        if self.returncode is None:
            await asyncio.to_thread(self._wait)

    def _wait(self):
        try:
            _, status = os.waitpid(self.pid, 0)
        except ChildProcessError:  # another thread has waited for it
            return
        self.returncode = os.waitstatus_to_exitcode(status)


class _Spare:
    """A process that has been forked already, and waits for its request."""

    def __init__(self, connection: socket.socket):
        reading, writing = os.pipe()
        self.begun = time.monotonic()
        try:
            self.pid = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
        if self.pid:
            os.close(reading)
            self._pipe = writing
            return
        try:
            connection.close()
            os.close(writing)
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            with os.fdopen(reading, "rb") as pipe:
                line = pipe.readline()
            if line:
                _execute(pyon.decode(line.decode()))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(1)

    def start(self, line: bytes) -> int | None:
        """Give it its request; returns its number, None if it was killed while it waited."""
        try:
            with os.fdopen(self._pipe, "wb") as pipe:
                pipe.write(line + b"\n")
        except BrokenPipeError:
            return None
        return self.pid

    def close(self):
        """Forget it: it has ended."""
        os.close(self._pipe)


class Spares:
    """The process forked in advance, while there is one. `connection`: what its like must not keep open."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._waiting: _Spare | None = None
        self._short = 0
        """Processes that have ended at once, since one was started."""
        self._fork()

    def _fork(self):
        """Fork the next one, if there is room for a process."""
        try:
            self._waiting = _Spare(self._connection)
        except OSError as error:
            self._waiting = None
            logger.error("no process of a run can be forked in advance: %s", error)

    def start(self, line: bytes) -> int | None:
        """Give a process a request; returns its number, None if none can be forked or all end at once."""
        for _ in range(ATTEMPTS):
            if self._waiting is None:
                self._fork()
            spare, self._waiting = self._waiting, None
            if spare is not None and (pid := spare.start(line)) is not None:
                self._short = 0
                self._fork()
                return pid
        return None

    def replace(self, pid: int) -> bool:
        """Replace the waiting process, if it is the one that has ended; returns whether it is."""
        spare = self._waiting
        if spare is None or spare.pid != pid:
            return False
        spare.close()
        self._waiting = None
        self._short = self._short + 1 if time.monotonic() - spare.begun < LIVED else 0
        if self._short < ATTEMPTS:
            self._fork()
        else:
            logger.error(
                "%d processes have ended as soon as they were forked; the next is forked when needed", ATTEMPTS
            )
        return True


def _execute(request: dict):
    lock = os.open(os.path.join(request["folder"], "lock"), os.O_RDWR)
    # The laboratory may have been started again meanwhile, and given the run up.
    _lock(lock)
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    KINDS[request["kind"]](request["folder"], request["path"], request["begin"])
    sys.stdout.flush()
    sys.stderr.flush()


def _lock(lock: int):
    """Lock the run, once a process that has just ended has released what it held. OSError if another one has it."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _ended():
    """Yield number and exit code of each process that has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def main(descriptor: int):
    """Serve the laboratory at the other end of the socket `descriptor`, until it ends."""
    connection = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the laboratory
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _load()

    def send(**message):
        connection.sendall(pyon.encode(message).encode() + b"\n")

    # Their pages are then shared with all processes that are forked.
    gc.freeze()
    spares = Spares(connection)
    send(ready=os.getpid())
    received = b""
    while True:
        ready, _, _ = select.select([connection, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            for pid, code in _ended():
                if not spares.replace(pid):
                    send(ended=pid, code=code)
        if connection in ready:
            data = connection.recv(1 << 20)
            if not data:
                return
            *lines, received = (received + data).split(b"\n")
            for line in lines:
                send(started=spares.start(line))


def _serve(descriptor: int):
    """As `main`; an end of the laboratory at any moment is no error."""
    with suppress(ConnectionError, KeyboardInterrupt):
        main(descriptor)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
