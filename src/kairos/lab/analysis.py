"""The analysis of a run that has ended, again: with its own source and data, without its devices.

What it sets belongs to the new run alone: neither live datasets nor parameters change.
"""

from pathlib import Path

import numpy

from .. import resultfiles
from ..devices import DeviceError, DeviceManager
from ..experiment.datasets import Broadcast, DatasetManager
from ..experiment.examination import Stand

__all__ = ["KEY", "AnalysisDatasets", "AnalysisDevices", "source_of"]

KEY = "analysis_of"
"""Entry of a submission: the run whose `analyze` is called again."""


class AnalysisDevices(DeviceManager):
    """Drivers as far as they need no connection, so that their constants are known; stand-ins for
    everything else."""

    def get(self, name):
        if name in self.virtual_devices:
            return self.virtual_devices[name]
        try:
            entry = self.get_desc(name)
            if isinstance(entry, dict) and entry.get("type") == "local":
                return super().get(name)
        except (KeyError, ValueError, DeviceError):
            pass  # the device is not there any more
        return Stand()


class AnalysisDatasets(DatasetManager):
    """The datasets of a run; what is set stays in it."""

    def set(self, key, value, metadata, broadcast=False, persist=False, archive=True):
        super().set(key, value, metadata)

    def load(self, path: Path):
        """Load the datasets of a run's file, and those that it had read, as they were then; UsageError."""
        groups = _groups(path)
        for key, (value, metadata) in groups["datasets"].items():
            self.set(key, value, metadata)
        for key, (value, metadata) in groups["archive"].items():
            self.ddb.data[key] = Broadcast(False, value, metadata)


def _groups(path: Path) -> dict[str, dict[str, tuple]]:
    found: dict[str, dict[str, tuple]] = {"datasets": {}, "archive": {}}
    with resultfiles.opened(path) as file:
        for name, entries in found.items():
            for key, node in resultfiles.datasets(resultfiles.group_of(file, name)):
                metadata = {entry: _plain(value) for entry, value in node.attrs.items()}
                entries[key] = _plain(resultfiles.value(node)), metadata
    return found


def _plain(value):
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, numpy.generic) else value


def source_of(path: Path) -> str | None:
    """Return the source of the experiment that a run's file has; None if it has none."""
    with resultfiles.opened(path) as file:
        found = file.get("provenance/experiment")
        return None if found is None else resultfiles.text(found)
