"""Managers for examining an experiment: it is built to find its arguments, without accessing devices or changing
datasets."""

from .calibration import Calibration
from .environment import processor_of

__all__ = ["ExamineDatasetMgr", "ExamineDeviceMgr", "Stand", "TraceArgumentManager"]


class TraceArgumentManager:
    """Records the requested arguments in `requested_args`, name to (processor, group, tooltip). All
    values are None."""

    def __init__(self):
        self.requested_args: dict = {}

    def get(self, key, processor, group=None, tooltip=None):
        """Record the argument `key`; returns None."""
        self.requested_args[key] = (processor_of(processor), group, tooltip)

    def check_unprocessed_arguments(self):
        """Do nothing: no arguments were given."""

    def interactive(self, requests, title):
        """Record the arguments that a run would prompt for; all are None."""
        for key, processor in requests:
            self.get(key, processor)
        return {key: None for key, _ in requests}


class Stand:
    """Stands in for any device while an experiment is examined; every attribute is another
    stand-in."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stand()

    def __call__(self, *args, **kwargs):
        return Stand()


class ExamineDeviceMgr:
    """Returns a stand-in for every device name. `entries`: the device database, if it should be
    visible."""

    def __init__(self, entries: dict | None = None):
        self.entries = entries or {}

    def get_device_db(self) -> dict:
        return self.entries

    def get_desc(self, name):
        return self.entries[name]

    def get(self, name):
        """Return a stand-in for the device `name`."""
        return Stand()


class ExamineDatasetMgr:
    """Read-only view of the datasets in `ddb`: writes of an examined experiment are discarded."""

    def __init__(self, ddb=None):
        self.ddb = ddb
        self.calibration = Calibration()

    def get(self, key, archive=False):
        """Return the value of a broadcast dataset; KeyError if there is none."""
        if self.ddb is None:
            raise KeyError(key)
        return self.ddb.get(key)

    def get_metadata(self, key):
        """Return the metadata of a broadcast dataset; KeyError if there is none."""
        if self.ddb is None:
            raise KeyError(key)
        return self.ddb.get_metadata(key)

    def set(self, key, value, metadata=None, broadcast=False, persist=False, archive=True):
        """Discard the dataset, since the experiment is only examined."""

    def mutate(self, key, index, value):
        """Discard the change."""

    def append_to(self, key, value):
        """Discard the value."""

    def fit(self, *fit):
        """Discard the fit, all of whose parameters are stand-ins."""
        return Stand()
