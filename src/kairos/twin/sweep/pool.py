"""Workers of this computer: processes that compute points, each replaced when it is lost."""

import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection

from ... import pyon
from ...errors import KairosError
from ...scratch import ScratchFolder
from .task import Task

__all__ = ["ATTEMPTS", "LocalWorker", "LostWorker", "Pool", "processors"]

PREFIX = "kairos-sweep-"
"""Of the names of folders of workers: all of the same length, since paths may be part of a kernel."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Numbers of threads of numerical libraries. A worker has one: each processor has a worker already, sums do not depend
on the number of processors, and a process with threads is slow to copy (they are ended and begun for each copy)."""
ATTEMPTS = 5
"""How often a point is begun whose worker is lost each time."""


class LostWorker(KairosError):
    """The process of a worker has ended."""


class LocalWorker:
    """A worker process of this computer. KairosError if it refuses the task. `identified`: it says what it computes
    with."""

    def __init__(self, task: Task, identified: bool = False):
        self._folder = ScratchFolder(PREFIX)
        ours, its = socket.socketpair()
        with its:
            command = [sys.executable, "-m", "kairos.twin.sweep.worker", str(its.fileno()), str(self._folder.path)]
            command += ["--identified"] if identified else []
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **dict.fromkeys(THREADS, "1")},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
            )
        self._connection = Connection(ours.detach())
        reply = pyon.decode(self._exchange(task.encode()).decode())
        if "refused" in reply:
            self.close()
            raise KairosError(reply["refused"])
        self.external: dict[str, str] = reply["external"]
        """Hashes of modules that the experiment has imported from elsewhere than its folder, by their paths."""
        self.identity: dict[str, str] = reply.get("identity", {})
        """What it computes with (`identity.identity`), if it was asked."""

    def _exchange(self, message: bytes) -> bytes:
        try:
            self._connection.send_bytes(message)
            return self._connection.recv_bytes()
        except (EOFError, OSError):
            self.close()
            raise LostWorker("the process of a worker has ended") from None

    @property
    def pid(self) -> int:
        """Number of its process."""
        return self._process.pid

    def compute(self, point: dict) -> str:
        """Return the result of a point, see `worker.Worker.result`. LostWorker."""
        return self._exchange(pyon.encode(point).encode()).decode()

    def close(self):
        """End the process."""
        self._connection.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._folder is not None:
            self._folder.close()
            self._folder = None


class Pool:
    """Up to `count` workers of this computer, which live until `close`; `started(pid)`: called with each worker's
    process; `check(external)`: called with what each worker has imported (`LocalWorker.external`), raises KairosError
    if that is not what others have."""

    def __init__(self, task: Task, count: int, started=None, check=None):
        self._task, self._count, self._started, self._check = task, max(1, count), started, check
        self._todo: queue.SimpleQueue = queue.SimpleQueue()
        self._done: queue.SimpleQueue = queue.SimpleQueue()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def compute(self, points: Iterable[dict]) -> Iterator[str]:
        """Yield the results of points, as they are finished. KairosError if the task is refused."""
        given = list(points)
        for point in given:
            self._todo.put(point)
        while len(self._threads) < min(self._count, len(given)):
            self._threads.append(threading.Thread(target=self._work, daemon=True))
            self._threads[-1].start()
        for _ in given:
            result = self._done.get()
            if isinstance(result, BaseException):
                raise result
            yield result

    def close(self):
        """End the workers."""
        self._ended.set()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join(10)

    def _work(self):
        """Compute points until there are none, with one worker after the other."""
        worker = None
        try:
            while (point := self._todo.get()) is not None and not self._ended.is_set():
                for attempt in range(1, ATTEMPTS + 1):
                    try:
                        if worker is None:
                            worker = LocalWorker(self._task)
                            if self._started is not None:
                                self._started(worker.pid)
                            if self._check is not None:
                                self._check(worker.external)
                        self._done.put(worker.compute(point))
                        break
                    except LostWorker:
                        worker = None
                        if attempt == ATTEMPTS:
                            self._done.put(_given_up(point["number"]))
        except BaseException as error:
            self._done.put(error)
        finally:
            if worker is not None:
                with suppress(OSError):
                    worker.close()


def _given_up(number: int) -> str:
    error = f"its worker was lost {ATTEMPTS} times"
    return pyon.encode({"number": number, "error": error, "device_ns": 0, "datasets": {}})


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
