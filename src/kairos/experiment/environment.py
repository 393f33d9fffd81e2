"""Base classes of experiments: access to devices, arguments and datasets by name.

An experiment is a class with ``build`` (requests devices and arguments), ``prepare`` (computes,
without hardware), ``run`` (drives hardware) and ``analyze`` (computes results). Parts of an
experiment are `HasEnvironment` children that share their parent's managers.
"""

from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple

from ..language import rpc
from . import datasets
from .arguments import ArgumentError, CancelledArgsError, DefaultMissing, NoDefault, PYONValue
from .calibration import Parameters, checked_policy

__all__ = [
    "EnvExperiment",
    "Experiment",
    "HasEnvironment",
    "Managers",
    "ProcessArgumentManager",
    "is_public_experiment",
]


class Managers(NamedTuple):
    """The managers an experiment is built with. A plain tuple of the four, in this order, is also
    accepted."""

    devices: Any
    datasets: Any
    arguments: Any
    scheduling: dict
    """Receives the proposals of `HasEnvironment.set_default_scheduling`."""


class Experiment:
    """Base of all experiments, for those that do not need `HasEnvironment`."""

    def prepare(self):
        """Prepare for the run, without hardware."""

    def run(self):
        """Run the experiment. Must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} does not define run()")

    def analyze(self):
        """Compute results from the datasets of the run."""


class ProcessArgumentManager:
    """Arguments from a dictionary of user-supplied values; records which of them were requested.

    Text given for an argument of any type (`PYONValue`) is PYON. `typed`: all values are text, as
    on a command line.
    """

    def __init__(self, unprocessed: dict, typed: bool = False):
        self.unprocessed = unprocessed
        self._typed = typed
        self.requested: set[str] = set()
        self.used: dict[str, Any] = {}
        """values given and requested, before processing"""
        self.effective: dict[str, Any] = {}
        """values that the experiment got: given ones and defaults"""

    @property
    def unknown(self) -> set[str]:
        """Names given, but never requested."""
        return self.unprocessed.keys() - self.requested

    def get(self, key, processor, group=None, tooltip=None):
        """Return the value of the argument `key`, or its default.

        ValueError if `processor` rejects it, DefaultMissing if it was not given and has no default.
        """
        self.requested.add(key)
        self.effective[key] = self._value(key, processor)
        return self.effective[key]

    def _value(self, key, processor):
        if key not in self.unprocessed:
            return self._default(key, processor)
        value = self.unprocessed[key]
        try:
            if self._typed:
                self.used[key] = processor.typed(value)
                # Text must not be decoded as PYON twice.
                return self.used[key] if isinstance(processor, PYONValue) else processor.process(self.used[key])
            self.used[key] = value
            return processor.process(value)
        except Exception as error:
            raise ArgumentError(f"argument '{key}' = {value if self._typed else repr(value)}: {error}") from error

    def _default(self, key, processor):
        try:
            return processor.default()
        except DefaultMissing:
            raise DefaultMissing(f"argument '{key}' has no default: give it as {key}=VALUE") from None

    def check_unprocessed_arguments(self):
        """Raise AttributeError if an argument was given that the experiment never requested."""
        if self.unknown:
            raise AttributeError(f"Supplied argument(s) not queried in experiment: {', '.join(sorted(self.unknown))}")

    def interactive(self, requests, title):
        """Prompt on the terminal for `requests`, a list of (key, processor); returns a dictionary
        of values."""
        print(title or "Interactive arguments")
        return {key: _ask(key, processor) for key, processor in requests}


def _ask(key, processor):
    """Prompt for one value until it is valid; an empty line selects the default."""
    hint = f" ({processor.hint()})" if processor.hint() else ""
    try:
        hint += f" [{processor.default()}]"
    except DefaultMissing:
        pass
    while True:
        try:
            text = input(f"  {key}{hint}: ").strip()
        except EOFError:
            raise CancelledArgsError from None
        try:
            return processor.process(processor.typed(text)) if text else processor.default()
        except DefaultMissing:
            print("  it has no default: give a value, or end with Ctrl-D")
        except Exception as error:
            print(f"  {error}")


def processor_of(processor):
    """Return the processor of an argument, given as an object, a class, or None for any value."""
    if processor is None:
        return PYONValue()
    return processor() if isinstance(processor, type) else processor


class InteractiveArguments:
    """Collects requests inside ``with self.interactive() as more``; afterwards the answers are its
    attributes."""

    def __init__(self):
        self._requests: list[tuple[str, Any]] = []

    def setattr_argument(self, key, processor=None, group=None, tooltip=None):
        """Request the argument `key`."""
        self._requests.append((key, processor_of(processor)))


def _while_building(method: Callable) -> Callable:
    """Wrap a method so that it raises TypeError outside of ``build``."""

    @wraps(method)
    def checked(self, *args, **kwargs):
        if not self._building:
            raise TypeError(f"{method.__name__}() should only be called from build()")
        return method(self, *args, **kwargs)

    return checked


def _to_attribute(getter: Callable, constant: bool = True) -> Callable:
    """Build the method that sets the attribute `key` to the result of `getter`, with `constant` as
    a kernel invariant."""
    name = getter.__name__

    @wraps(getter)
    def setter(self, key, *args, **kwargs):
        setattr(self, key, getattr(self, name)(key, *args, **kwargs))
        if constant:
            self.kernel_invariants = {*getattr(self, "kernel_invariants", ()), key}
        if getter.__name__ == "get_argument":
            # Not declared as invariants by the user: the compiler may load those that change from call to call.
            self._kernel_arguments = {*getattr(self, "_kernel_arguments", ()), key}

    setter.__name__ = name.replace("get_", "setattr_")
    setter.__qualname__ = getter.__qualname__.replace(name, setter.__name__)
    setter.__doc__ = f"Set the attribute `key` to what :meth:`{name}` gives."
    return setter


class _Parameters:
    """The attribute ``parameters``, which an experiment may replace by one of its own."""

    def __get__(self, environment, owner=None):
        return self if environment is None else Parameters(environment)


class HasEnvironment:
    """Access to devices, arguments and datasets. The parent is another environment or a tuple of
    managers."""

    parameters = _Parameters()
    """Persistent datasets as attributes, see `calibration.Parameters`."""

    def __init__(self, managers_or_parent, *args, **kwargs):
        self.children = []
        if isinstance(managers_or_parent, tuple):
            self._managers = Managers(*managers_or_parent)
        else:
            # Only scheduling proposals of the experiment as a whole count.
            self._managers = managers_or_parent._managers._replace(scheduling={})
            managers_or_parent.register_child(self)
        self._building = True
        self.build(*args, **kwargs)
        self._building = False

    def register_child(self, child):
        """Register `child` as a part of this object."""
        self.children.append(child)

    def call_child_method(self, method, *args, **kwargs):
        """Call `method` on every child that has it, in order of registration."""
        for call in [getattr(child, method) for child in self.children if hasattr(child, method)]:
            call(*args, **kwargs)

    def build(self):
        """Request devices and arguments. To be overridden."""

    # Devices

    def get_device_db(self):
        """Return the whole device database, a dictionary."""
        return self._managers.devices.get_device_db()

    def get_device(self, key):
        """Return the driver of the device `key`; DeviceError if it is not available."""
        return self._managers.devices.get(key)

    setattr_device = _to_attribute(get_device)

    # Arguments

    @_while_building
    def get_argument(self, key, processor=None, group=None, tooltip=None):
        """Return the argument `key`, processed by `processor` (default `PYONValue`); only in
        ``build``."""
        return self._managers.arguments.get(key, processor_of(processor), group, tooltip)

    setattr_argument = _to_attribute(get_argument)

    @contextmanager
    def interactive(self, title=""):
        """Prompt the user for arguments during a run; afterwards they are attributes of the
        namespace."""
        namespace = InteractiveArguments()
        yield namespace
        requests = vars(namespace).pop("_requests")
        vars(namespace).update(self._managers.arguments.interactive(requests, title))

    @_while_building
    def set_default_scheduling(self, priority=None, pipeline_name=None, flush=None):
        """Propose scheduling parameters to a user interface; only in ``build``."""
        proposed = {"priority": priority, "pipeline_name": pipeline_name, "flush": flush}
        self._managers.scheduling.update(datasets.without_none(proposed))

    # Datasets

    @rpc(flags={"async"})
    def set_dataset(
        self, key, value, *, unit=None, scale=None, precision=None, broadcast=False, persist=False, archive=True
    ):
        """Set the dataset `key`: `broadcast` publishes it, `persist` keeps it across restarts,
        `archive` writes it to files.

        `unit`, `scale` (by which the value is divided) and `precision` (digits) only affect its
        display.
        """
        metadata = datasets.without_none({"unit": unit, "scale": scale, "precision": precision})
        self._managers.datasets.set(key, value, metadata, broadcast, persist, archive)

    @rpc(flags={"async"})
    def mutate_dataset(self, key, index, value):
        """Set an element, or with a tuple ``(start, stop[, step])`` a slice, of the dataset `key`.

        A tuple of such tuples is a slice of several dimensions. KeyError if this experiment has not set the dataset.
        """
        self._managers.datasets.mutate(key, index, value)

    @rpc(flags={"async"})
    def append_to_dataset(self, key, value):
        """Append to the dataset `key`, which must be a list set by this experiment, else KeyError."""
        self._managers.datasets.append_to(key, value)

    def get_dataset(self, key, default=NoDefault, archive=True):
        """Return the value of the dataset `key`; KeyError if it is unknown and there is no
        `default`."""
        return datasets.lookup(key, default, lambda: self._managers.datasets.get(key, archive))

    setattr_dataset = _to_attribute(get_dataset, constant=False)

    def get_dataset_metadata(self, key, default=NoDefault):
        """Return ``unit``, ``scale`` and ``precision`` of the dataset `key`, a dictionary of those
        that are set.

        KeyError if it is unknown and there is no `default`.
        """
        return datasets.lookup(key, default, lambda: self._managers.datasets.get_metadata(key))

    def fit_dataset(self, shape, y, x=None, error=None, *, initial=None, fixed=None, name=None):
        """Fit the dataset `y` against `x` (by default the numbers of its points), with the standard
        errors `error`, by a shape of `kairos.fits.NAMES`.

        From now on the fit is shown live in the laboratory's page, and at the end it is stored with
        the run as `name`, by default `y`. Returns an object with the parameters of the shape as
        attributes: their values for the points that there are. initial, fixed: parameters by name.
        UsageError for an unknown shape, or if lmfit is not installed.
        """
        return self._managers.datasets.fit(shape, y, x, error, initial, fixed, name)

    def add_to_logbook(self, text):
        """Write an entry of the laboratory's logbook, in Markdown, which names this run. Without a
        laboratory it goes to the log."""
        self._managers.datasets.write_entry(str(text))

    # Calibrations

    @_while_building
    def calibrates(self, key, *, validity=None, minimum=None, maximum=None, change=None, by_hand=False):
        """Declare that this experiment sets the parameter `key`; only in ``build``.

        A value is valid for `validity` seconds, by default without limit. A new value is accepted if
        it is from `minimum` to `maximum` and differs by no more than the fraction `change` from the
        value before; another one, or with `by_hand` any, waits until a person accepts it.
        ValueError for an unusable rule.
        """
        rule = {"validity": validity, "minimum": minimum, "maximum": maximum, "change": change, "by_hand": by_hand}
        self._managers.datasets.calibration.add(key, **rule)

    @_while_building
    def set_calibration(self, *, needs=(), when=(), on_failure="stop", attempts=1):
        """Declare how this experiment is run as a calibration; only in ``build``.

        needs: parameters that must be valid before. when: conditions on parameters, such as
        ``"ion_count>=1"``. on_failure: what becomes of calibrations that need this one if it fails
        `attempts` times, see `calibration.ON_FAILURE`. ValueError.
        """
        checked_policy(on_failure, attempts, when)
        calibration = self._managers.datasets.calibration
        calibration.needs.extend(key for key in needs if key not in calibration.needs)
        calibration.when.extend(when)
        calibration.on_failure, calibration.attempts = on_failure, attempts


class EnvExperiment(Experiment, HasEnvironment):
    """Base of most experiments."""

    def prepare(self):
        """Prepare the children, unless overridden."""
        self.call_child_method("prepare")


def is_base(cls: type, module) -> bool:
    """Return whether an experiment of a module is there for others only: without ``run``, or imported."""
    return cls.run is Experiment.run or cls.__module__ != module.__name__


def is_public_experiment(obj) -> bool:
    """Return whether `obj` is an experiment class that a user may run."""
    if not isinstance(obj, type) or obj.__name__.startswith("_"):
        return False
    return issubclass(obj, Experiment) and obj not in (Experiment, EnvExperiment)
