"""Workers of a Dask cluster: each of its processes has a worker process of its own, which computes points."""

import atexit
import importlib.metadata
import logging
import threading
import uuid
from asyncio import CancelledError
from collections.abc import Iterable, Iterator

from ... import __version__
from ...errors import KairosError, UsageError
from .identity import difference, own_external
from .pool import ATTEMPTS, LocalWorker, LostWorker
from .task import Task

__all__ = ["Cluster"]

logger = logging.getLogger(__name__)

SCHEME = "dask://"
AHEAD = 4
"""Points per thread of the cluster that are submitted at a time."""

_workers = threading.local()
"""The worker of each thread of a Dask process, with the name of its sweep."""
_open: list[LocalWorker] = []


@atexit.register
def _close():
    for worker in _open:
        worker.close()


def _computed(task: bytes, sweep: str, point: dict) -> tuple[str, dict[str, str], str]:
    """Compute a point in a Dask worker; returns its address, what it computes with, and the result. Its process is of
    this sweep only: modules may have changed since the last one."""
    from distributed import get_worker  # likewise an extra

    for attempt in range(1, ATTEMPTS + 1):
        worker = getattr(_workers, sweep, None)
        try:
            if worker is None:
                for name in list(vars(_workers)):
                    _open.remove(vars(_workers)[name])
                    vars(_workers).pop(name).close()
                worker = LocalWorker(Task.decode(task), identified=True)
                setattr(_workers, sweep, worker)
                _open.append(worker)
            return get_worker().address, worker.identity, worker.compute(point)
        except LostWorker:
            if worker is not None:
                _open.remove(worker)
                delattr(_workers, sweep)
            if attempt == ATTEMPTS:
                raise
    raise AssertionError


class Cluster:
    """The cluster whose scheduler is at ``dask://HOST:PORT``, until `close`. UsageError if it cannot be reached, or
    Dask is not installed. `host`: of the twin's device; `check(external)`: as for `pool.Pool`."""

    def __init__(self, url: str, task: Task, host: str | None = None, check=None):
        try:
            # An extra: clusters are for few.
            from distributed import Client
        except ImportError:
            raise UsageError("a sweep over Dask needs the package 'distributed': pip install 'kairos[sweep]'") from None
        if not url.startswith(SCHEME) or ":" not in url.removeprefix(SCHEME):
            raise UsageError(f"--over {url} is not {SCHEME}HOST:PORT")
        try:
            self._client = Client(f"tcp://{url.removeprefix(SCHEME)}", timeout=10, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise UsageError(f"no scheduler of Dask answers at {url}: {error or 'timeout'}") from None
        try:
            self._check_workers(url)
        except BaseException:
            self._client.close()
            raise
        self._task = self._client.scatter(task.encode(), broadcast=True)
        self._sweep, self._check, self._same = uuid.uuid4().hex, check, set()
        self._host = host

    def _check_workers(self, url: str):
        """Say that there are none yet. UsageError for one without Kairos, or with another version, which might compute
        something else."""
        found = self._client.run(importlib.metadata.version, "kairos", on_error="return")
        if not found:
            logger.warning("the cluster at %s has no workers yet: the sweep waits for them", url)
        for worker, version in found.items():
            is_absent = isinstance(version, importlib.metadata.PackageNotFoundError)
            if isinstance(version, Exception) and not is_absent:
                continue  # it has just gone
            if version != __version__:
                has = "no Kairos" if is_absent else f"Kairos {version}"
                raise UsageError(f"the worker {worker} has {has}: install Kairos {__version__} there")

    def compute(self, points: Iterable[dict]) -> Iterator[str]:
        """Yield the results of points, as they are finished. KairosError."""
        from distributed import as_completed  # likewise an extra

        client, left = self._client, iter(points)

        def submit(count):
            return [
                client.submit(_computed, self._task, self._sweep, point, pure=False, retries=ATTEMPTS)
                for _, point in zip(range(count), left, strict=False)
            ]

        running = as_completed(submit(max(1, sum(client.nthreads().values())) * AHEAD), loop=client.loop)
        for future in running:
            try:
                worker, identity, result = future.result()
            except KairosError:
                raise
            except (Exception, CancelledError) as error:  # of the cluster: a worker that is killed again and again
                why = f"{type(error).__name__}: {' '.join(str(error).split())}"
                raise KairosError(f"the cluster has lost a point: {why}. The same command goes on") from None
            self._compare(worker, identity)
            future.release()
            for more in submit(1):
                running.add(more)
            yield result

    def _compare(self, worker: str, identity: dict[str, str]):
        """KairosError for a worker that computes with something else than this computer would."""
        said = (worker, *identity.items())
        if said in self._same:
            return
        if (other := difference(identity, self._host)) is not None:
            raise KairosError(f"the worker {worker} has {other}. The same command goes on")
        if self._check is not None:
            self._check(own_external(identity))
        self._same.add(said)

    def close(self):
        """Leave the cluster."""
        self._client.close()
