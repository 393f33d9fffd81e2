"""What clients of ARTIQ's master may call, by target (TCP port 3251)."""

import os
from pathlib import Path

from ..devices import DeviceDB
from .interactive import InteractiveArguments
from .live import LiveDatasets
from .repository import Repository
from .scheduler import Scheduler

__all__ = [
    "DatasetTarget",
    "DeviceTarget",
    "ExperimentTarget",
    "InteractiveTarget",
    "ManagementTarget",
    "ScheduleTarget",
]


class ScheduleTarget:
    """The queue."""

    def __init__(self, scheduler: Scheduler):
        self._scheduler = scheduler

    async def submit(self, pipeline_name, expid, priority=0, due_date=None, flush=False):
        """Submit an experiment; returns the number of the run, or None while the laboratory ends."""
        return await self._scheduler.submit(pipeline_name, expid, priority, due_date, flush)

    def delete(self, rid):
        """End a run by force."""
        self._scheduler.delete(rid)

    def request_termination(self, rid):
        """Ask a run to end at its next pause; one that has not begun is deleted."""
        self._scheduler.request_termination(rid)

    def get_status(self):
        """Return every run, by number."""
        return self._scheduler.get_status()

    def check_pause(self, rid):
        """Return whether a running run should pause or terminate."""
        return self._scheduler.check_pause(rid)

    def check_termination(self, rid):
        """Return whether a run should terminate."""
        return self._scheduler.check_termination(rid)


class DatasetTarget:
    """The broadcast and persistent datasets."""

    def __init__(self, datasets: LiveDatasets):
        self._datasets = datasets

    def get(self, key):
        """Return the value of a dataset."""
        return self._datasets.get(key)

    def get_metadata(self, key):
        """Return the metadata of a dataset."""
        return self._datasets.get_metadata(key)

    def set(self, key, value, persist=None, metadata=None):
        """Set a dataset; without `persist` or `metadata` they are unchanged."""
        self._datasets.set(key, value, persist, metadata)

    def delete(self, key):
        """Delete a dataset."""
        self._datasets.delete(key)

    def update(self, mod):
        """Apply a change to the datasets."""
        self._datasets.update(mod)


class DeviceTarget:
    """The device database. `database`: returns it; `scan`: reads its file again."""

    def __init__(self, database, scan):
        self._database, self._scan = database, scan

    def scan(self):
        """Read the file again."""
        self._scan()

    def get_device_db(self):
        """Return all entries, by name."""
        return self._database().entries

    def get(self, key, resolve_alias=False):
        """Return an entry, following aliases if requested."""
        database: DeviceDB = self._database()
        return database.get(key, resolve_alias)

    def get_satellite_cpu_target(self, destination):
        """Return the processor of a satellite."""
        return self._database().arguments("core")["satellite_cpu_targets"][destination]


class ExperimentTarget:
    """The repository of experiments."""

    def __init__(self, repository: Repository, in_background):
        self._repository, self._in_background = repository, in_background

    async def scan_repository(self, new_cur_rev=None):
        """Scan a revision, by default the current one, and wait for the end."""
        await self._repository.scan(new_cur_rev)

    def scan_repository_async(self, new_cur_rev=None):
        """Scan in the background."""
        self._in_background(self._repository.scan(new_cur_rev))

    async def examine(self, filename, use_repository=True, revision=None):
        """Return the requirements of the experiments in a file, by class."""
        return await self._repository.examine(filename, use_repository, revision)

    def list_directory(self, directory):
        """List a directory; directories end with a separator."""
        entries = [(path, path.name if directory else str(path)) for path in Path(directory or os.sep).iterdir()]
        return [name + os.sep * path.is_dir() for path, name in entries]

    def root(self):
        """Return the folder of the repository."""
        return str(self._repository.root)


class InteractiveTarget:
    """Answers to runs that ask for arguments."""

    def __init__(self, interactive: InteractiveArguments):
        self._interactive = interactive

    def supply(self, rid, values):
        """Answer a run."""
        self._interactive.supply(rid, values)

    def cancel(self, rid):
        """Refuse to answer a run."""
        self._interactive.cancel(rid)


class ManagementTarget:
    """The laboratory itself."""

    def __init__(self, name: str | None, terminate):
        self._name, self._terminate = name, terminate

    def get_name(self):
        """Return the name of the laboratory, or None."""
        return self._name

    def terminate(self):
        """End the laboratory. Runs go on, and the next laboratory takes them over."""
        self._terminate()
