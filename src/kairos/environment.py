"""What an experiment inherits: devices, arguments and datasets by name.

An experiment is a class with ``build`` (asks for devices and arguments), ``prepare`` (computes, without hardware),
``run`` (drives hardware) and ``analyze`` (computes results). Parts of an experiment are `HasEnvironment` children that
share the managers of their parent.
"""

import inspect
from contextlib import contextmanager

from . import datasets
from .arguments import DefaultMissing, NoDefault, PYONValue
from .language import rpc

__all__ = ["Experiment", "HasEnvironment", "EnvExperiment", "ProcessArgumentManager", "is_public_experiment"]


class Experiment:
    """Base of all experiments, for those that need nothing of `HasEnvironment`."""

    def prepare(self):
        """Prepare for the run, without hardware."""

    def run(self):
        """Run the experiment. Must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} does not define run()")

    def analyze(self):
        """Compute results from what the run left in datasets."""


class ProcessArgumentManager:
    """Arguments from the (decoded) values the user gave, a dictionary; remembers which of them were asked for."""

    def __init__(self, unprocessed: dict):
        self.unprocessed = unprocessed
        self.requested: set[str] = set()

    def get(self, key, processor, group=None, tooltip=None):
        self.requested.add(key)
        if key in self.unprocessed:
            if isinstance(processor, PYONValue):
                return self.unprocessed[key]
            try:
                return processor.process(self.unprocessed[key])
            except Exception as error:
                raise ValueError(f"argument '{key}' = {self.unprocessed[key]!r}: {error}") from error
        try:
            return processor.default()
        except DefaultMissing:
            raise DefaultMissing(f"argument '{key}' has no default: give it as {key}=VALUE") from None

    def check_unprocessed_arguments(self):
        """AttributeError if an argument was given that the experiment never asked for."""
        unknown = set(self.unprocessed) - self.requested
        if unknown:
            names = ", ".join(sorted(unknown))
            raise AttributeError(f"Supplied argument(s) not queried in experiment: {names}")

    def interactive(self, requests, title):
        """Ask on the terminal for `requests`, a list of (key, processor); a dictionary of values."""
        from . import pyon
        from .arguments import CancelledArgsError

        print(title or "Interactive arguments")
        values = {}
        for key, processor in requests:
            try:
                text = input(f"  {key}: ")
            except EOFError:
                raise CancelledArgsError from None
            values[key] = processor.process(pyon.decode(text)) if text.strip() else processor.default()
        return values


class _InteractiveNamespace:
    """Collects the arguments asked for inside ``with self.interactive() as interactive``."""

    def __init__(self):
        self._requests = []

    def setattr_argument(self, key, processor=None, group=None, tooltip=None):
        self._requests.append((key, PYONValue() if processor is None else processor))


class HasEnvironment:
    """Access to devices, arguments and datasets. `parent` is another environment or a tuple of managers."""

    def __init__(self, managers_or_parent, *args, **kwargs):
        self.children = []
        if isinstance(managers_or_parent, tuple):
            managers = managers_or_parent
        else:
            managers = managers_or_parent._managers
            managers_or_parent.register_child(self)
        self._managers = managers
        self.__device_mgr, self.__dataset_mgr, self.__argument_mgr, self.__scheduler_defaults = managers
        if not isinstance(managers_or_parent, tuple):
            self.__scheduler_defaults = {}
        self.__in_build = True
        self.build(*args, **kwargs)
        self.__in_build = False

    def register_child(self, child):
        self.children.append(child)

    def call_child_method(self, method, *args, **kwargs):
        """Call `method` on every child that has it, in order of registration."""
        for child in self.children:
            if hasattr(child, method):
                getattr(child, method)(*args, **kwargs)

    def build(self):
        """Ask for devices and arguments. To be overridden."""

    # Devices

    def get_device_db(self):
        """The whole device database, a dictionary."""
        return self.__device_mgr.get_device_db()

    def get_device(self, key):
        """The driver of the device `key`."""
        return self.__device_mgr.get(key)

    def setattr_device(self, key):
        """Set the attribute `key` to the device of that name; kernels may take it as constant."""
        setattr(self, key, self.get_device(key))
        self.__add_invariant(key)

    def __add_invariant(self, key):
        self.kernel_invariants = getattr(self, "kernel_invariants", set()) | {key}

    # Arguments

    def get_argument(self, key, processor=None, group=None, tooltip=None):
        """Value of the argument `key` as `processor` (`PYONValue` if none is given) takes it; only in ``build``."""
        if not self.__in_build:
            raise TypeError("get_argument() should only be called from build()")
        if processor is None:
            processor = PYONValue()
        elif inspect.isclass(processor):
            processor = processor()
        return self.__argument_mgr.get(key, processor, group, tooltip)

    def setattr_argument(self, key, processor=None, group=None, tooltip=None):
        """Set the attribute `key` to the argument of that name; kernels may take it as constant."""
        setattr(self, key, self.get_argument(key, processor, group, tooltip))
        self.__add_invariant(key)

    @contextmanager
    def interactive(self, title=""):
        """Ask the user for arguments in the middle of a run; they are attributes of the namespace afterwards."""
        namespace = _InteractiveNamespace()
        yield namespace
        requests = namespace._requests
        del namespace._requests
        for key, value in self.__argument_mgr.interactive(requests, title).items():
            setattr(namespace, key, value)

    def set_default_scheduling(self, priority=None, pipeline_name=None, flush=None):
        """Scheduling that a user interface proposes; only in ``build``."""
        if not self.__in_build:
            raise TypeError("set_default_scheduling() should only be called from build()")
        given = {"priority": priority, "pipeline_name": pipeline_name, "flush": flush}
        self.__scheduler_defaults.update({name: value for name, value in given.items() if value is not None})

    # Datasets

    @rpc(flags={"async"})
    def set_dataset(
        self, key, value, *, unit=None, scale=None, precision=None, broadcast=False, persist=False, archive=True
    ):
        """Set the dataset `key`: `broadcast` shows it to others, `persist` keeps it, `archive` writes it to files."""
        metadata = datasets.metadata(unit, scale, precision)
        self.__dataset_mgr.set(key, value, metadata, broadcast, persist, archive)

    @rpc(flags={"async"})
    def mutate_dataset(self, key, index, value):
        """Set an element, or with a tuple ``(start, stop[, step])`` a slice, of the dataset `key`."""
        self.__dataset_mgr.mutate(key, index, value)

    @rpc(flags={"async"})
    def append_to_dataset(self, key, value):
        """Append to the dataset `key`, which must be a list set by this experiment."""
        self.__dataset_mgr.append_to(key, value)

    def get_dataset(self, key, default=NoDefault, archive=True):
        """Value of the dataset `key`; KeyError if it is unknown and there is no `default`."""
        return datasets.lookup(lambda k: self.__dataset_mgr.get(k, archive), key, default)

    def get_dataset_metadata(self, key, default=NoDefault):
        """Unit, scale and precision of the dataset `key`, as far as they are known."""
        return datasets.lookup(self.__dataset_mgr.get_metadata, key, default)

    def setattr_dataset(self, key, default=NoDefault, archive=True):
        """Set the attribute `key` to the dataset of that name."""
        setattr(self, key, self.get_dataset(key, default, archive))


class EnvExperiment(Experiment, HasEnvironment):
    """Base of most experiments."""

    def prepare(self):
        """By default, prepare the children."""
        self.call_child_method("prepare")


def is_public_experiment(obj) -> bool:
    """Whether `obj` is an experiment class that a user may run."""
    return (
        inspect.isclass(obj)
        and issubclass(obj, Experiment)
        and obj not in (Experiment, EnvExperiment)
        and not obj.__name__.startswith("_")
    )
