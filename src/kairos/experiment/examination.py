"""Managers for examining an experiment: it is built to find its arguments, without accessing devices or changing
datasets."""

from .environment import processor_of

__all__ = ["ExamineDatasetMgr", "ExamineDeviceMgr", "TraceArgumentManager"]


class TraceArgumentManager:
    """Notes which arguments are asked for: `requested_args`, name to (processor, group, tooltip). All are None."""

    def __init__(self):
        self.requested_args: dict = {}

    def get(self, key, processor, group=None, tooltip=None):
        """Note the argument `key`; None, whatever it is."""
        self.requested_args[key] = (processor_of(processor), group, tooltip)

    def check_unprocessed_arguments(self):
        """None was given, so none is left."""

    def interactive(self, requests, title):
        """Note the arguments that a run would ask for; all are None."""
        for key, processor in requests:
            self.get(key, processor)
        return {key: None for key, _ in requests}


class _Stand:
    """Stands for any device while its experiment is only examined: every attribute is another such thing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Stand()

    def __call__(self, *args, **kwargs):
        return _Stand()


class ExamineDeviceMgr:
    """Gives something that takes every call for every name. `entries`: the device database, if it is to be seen."""

    def __init__(self, entries: dict | None = None):
        self.entries = entries or {}

    def get_device_db(self) -> dict:
        return self.entries

    def get_desc(self, name):
        return self.entries[name]

    def get(self, name):
        """What stands for the device `name`."""
        return _Stand()


class ExamineDatasetMgr:
    """Datasets that can be read, of `ddb`, and not changed: what an examined experiment writes is lost."""

    def __init__(self, ddb=None):
        self.ddb = ddb

    def get(self, key, archive=False):
        """The value of a broadcast dataset; KeyError if there is none."""
        if self.ddb is None:
            raise KeyError(key)
        return self.ddb.get(key)

    def get_metadata(self, key):
        """The metadata of a broadcast dataset; KeyError if there is none."""
        if self.ddb is None:
            raise KeyError(key)
        return self.ddb.get_metadata(key)

    def set(self, key, value, metadata=None, broadcast=False, persist=False, archive=True):
        """Lost, as the experiment only is examined."""

    def mutate(self, key, index, value):
        """Lost."""

    def append_to(self, key, value):
        """Lost."""
