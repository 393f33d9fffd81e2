"""Scheduling of runs: the scheduler, one process per run, and the repository of experiments.

For use by programs: tests of a laboratory's experiments, and custom servers. Contains no server.
"""

from ..runs import RIDCounter
from .repository import ExperimentDB, FilesystemBackend, GitBackend, listed
from .scheduler import Scheduler
from .worker import Worker, WorkerError, WorkerInternalException, WorkerTimeout, WorkerWatchdogTimeout

__all__ = [
    "ExperimentDB",
    "FilesystemBackend",
    "GitBackend",
    "RIDCounter",
    "Scheduler",
    "Worker",
    "WorkerError",
    "WorkerInternalException",
    "WorkerTimeout",
    "WorkerWatchdogTimeout",
    "listed",
]
