"""Creates an experiment object from a file: imports it, selects the class, provides devices and arguments."""

import importlib.machinery
import importlib.util
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import compat, pyon
from ..coredevice.core import Core, load_compiler
from ..devices import DeviceDB, DeviceError, DeviceManager
from ..errors import CommandLineError, UsageError
from ..experiment.arguments import ArgumentError, DefaultMissing
from ..experiment.datasets import DatasetDB, DatasetManager
from ..experiment.environment import ProcessArgumentManager, is_public_experiment
from ..experiment.hdf5 import write_hdf5
from ..experiment.standalone import IgnoredCommands, SingleRun, TerminationRequested
from ..experiment.store import DatasetStore
from . import precompiled, report
from .command import check_known
from .printed import print_notice
from .provenance import Provenance

__all__ = ["ENDED", "Experiment", "argument_texts", "chosen_class", "parse_arguments", "record_of", "statistics_of"]

ENDED = (DeviceError, TerminationRequested)
"""Exceptions that end a run without a traceback."""
NEW = 2.0
"""Seconds after which a file that is written again has another time than before, as compiled modules keep it."""
INTERRUPTED = "interrupted"
"""Status in the file of a run that somebody has ended."""
FROM_GIT = {"ndscan": "git+https://github.com/OxfordIonTrapGroup/ndscan"}
"""Packages of laboratories that are in no package registry, and where pip finds them."""


def parse_arguments(texts: list[str]) -> dict:
    """Parse ``["n=3", 's="text"']`` to a dictionary; UsageError if an item is not KEY=VALUE with a
    PYON value."""
    arguments = {}
    for key, value in argument_texts(texts).items():
        try:
            arguments[key] = pyon.typed(value)
        except pyon.TooLarge as error:
            raise UsageError(f"argument {key}: {error}") from None
        except ValueError:
            raise UsageError(
                f"argument {key}: {value} is not a PYON value; text needs quotes, as in {key}='\"{value}\"'"
            ) from None
    return arguments


def argument_texts(texts: list[str]) -> dict[str, str]:
    """Return the values as typed; UsageError if an item is not KEY=VALUE."""
    arguments = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise CommandLineError(f"argument '{text}' is not KEY=VALUE")
        if key in arguments:
            raise CommandLineError(f"argument '{key}' is given twice")
        arguments[key] = value
    return arguments


class _AsItIs(importlib.machinery.SourceFileLoader):
    """Compiles a file each time. Python's compiled modules know a file by its second and size: a program that writes
    `3*us` for `2*us` and runs the experiment again at once would run the former one."""

    def path_stats(self, path):
        raise OSError("neither read nor written")


class _AsItIsIfNew(importlib.machinery.SourceFileLoader):
    """The same for a module that was written just now: its compiled module could not be told from that of what is
    written next."""

    def path_stats(self, path):
        stats = super().path_stats(path)
        if time.time() - stats["mtime"] < NEW:
            raise OSError("neither read nor written")
        return stats


_NEIGHBOURS = importlib.machinery.FileFinder.path_hook(
    (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
    (_AsItIsIfNew, importlib.machinery.SOURCE_SUFFIXES),
    (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
)
"""Finds what experiments import from folders that have no finder yet."""


def import_file(path: str, prefix: str = "file_import_"):
    """Import a Python file as a module; exceptions of user code become
    :class:`report.UserCodeError`.

    If a module of this name has been imported already, the new module's name begins with `prefix`.
    """
    file = Path(path)
    if not file.is_file():
        raise UsageError(f"there is no file {path}")
    compat.install()
    if _NEIGHBOURS not in sys.path_hooks:
        sys.path_hooks.insert(0, _NEIGHBOURS)
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    sys.path_importer_cache.pop(folder, None)
    name = file.stem if file.stem not in sys.modules else f"{prefix}{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise UsageError(f"{path} is not a Python file")
    if isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        spec.loader = _AsItIs(name, spec.origin)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with report.user_code():
        try:
            spec.loader.exec_module(module)
        except ModuleNotFoundError as error:
            _advise(error)
            raise
    return module


def _advise(error: ModuleNotFoundError):
    """Say what to do about a module that is not there. Those of ARTIQ and sipyco have their own messages."""
    package = (error.name or "").partition(".")[0]
    if package in FROM_GIT:
        error.add_note(f"{package} is in no package registry: pip install {FROM_GIT[package]}")
    elif package and error.name == package and package not in ("artiq", "sipyco"):
        error.add_note(
            f"{package} is neither installed for {sys.executable} nor next to the experiment: "
            f"install it there (pip install), or add its folder to PYTHONPATH"
        )


def choose_class(module, class_name: str | None = None):
    """Return the experiment class called `class_name`, or the only one of `module`."""
    found = {name: value for name, value in vars(module).items() if is_public_experiment(value)}
    return found[chosen_class(found, module.__file__, class_name)]


def chosen_class(found, file, class_name: str | None) -> str:
    """Return the name `class_name`, which must be among those `found` in a file, or the only one.
    CommandLineError if the command line has to name another one, UsageError if there is none."""
    if class_name is not None:
        if class_name not in found:
            raise CommandLineError(f"{file} has no experiment '{class_name}'; it has {', '.join(found) or 'none'}")
        return class_name
    if not found:
        raise UsageError(f"no experiments in {file}: an experiment is a class derived from EnvExperiment")
    if len(found) > 1:
        raise CommandLineError(f"more than one experiment in {file}: choose with -c {'|'.join(found)}")
    return next(iter(found))


def _class_of(path: str, class_name: str | None) -> type:
    if not precompiled.is_precompiled(path):
        return choose_class(import_file(path), class_name)
    if class_name is not None:
        raise CommandLineError(f"{path} is a compiled kernel, which has no experiment classes to select")
    compat.install()
    return precompiled.experiment_of(path)


def statistics_of(devices: DeviceManager):
    """Return the statistics of the session with the core device, a `kairos.session.Statistics`; None if
    there was none."""
    for driver in devices.created:
        if isinstance(driver, Core) and driver._comm is not None:
            return driver.comm.statistics
    return None


def record_of(devices: DeviceManager):
    """Return what the core device was told in a run that has ended, a `kairos.session.record.Record`; None if there was
    no session."""
    for driver in devices.created:
        if isinstance(driver, Core) and driver._comm is not None:
            driver.comm.keep_inputs()
            return driver.comm.record
    return None


class Experiment:
    """An experiment with its managers, built and ready to prepare and run."""

    def __init__(
        self,
        path: str,
        class_name: str | None,
        arguments: list[str] | dict,
        ddb: DeviceDB,
        dataset_db: str | DatasetDB | None = None,
        applets: bool = False,
        cls: type | None = None,
        pictures: bool = False,
        rid: int = 0,
        bench: str | None = None,
        devices: type[DeviceManager] = DeviceManager,
        note: Callable | None = None,
        traced: bool = True,
        answers: type[ProcessArgumentManager] = ProcessArgumentManager,
        expid: dict | None = None,
    ):
        """arguments: texts ``KEY=VALUE``, or values by name. dataset_db: the broadcast datasets, or the
        file with the persistent ones. cls: the class, if its file has been imported already. `applets`: show
        applets created by the experiment in windows; `pictures`: draw them at the end. `rid`: number
        of the run. `bench`: file with the wiring of an emulated device. `devices`:
        kind of the device manager. `note`: called with changes of datasets, see `DatasetManager`.
        `traced`: its origin will be asked for. `answers`: kind of the argument manager, which answers
        interactive arguments. `expid`: how its scheduler says that it was submitted."""
        datasets = DatasetStore(dataset_db) if isinstance(dataset_db, str) else dataset_db or DatasetDB()
        datasets.check()
        host = ddb.arguments("core").get("host")
        self.file = Path(path).absolute()  # before the experiment can change the working directory
        self.origin = Provenance(self.file, ddb.path, bench, host, entries=ddb.entries) if traced else None
        cls = cls or _class_of(path, class_name)
        self.name = cls.__name__
        self.rid = rid
        self.applets: Any = None
        """The windows and pictures of applets, if there are any: `applets.live.Applets`."""
        self._libraries: list[str] = []
        self.record = None
        """What the core device was told, kept when the devices are closed."""
        self.was_interrupted = False
        """Whether somebody has ended the run."""
        if applets or pictures:
            from ..applets.live import Applets, Published  # imported late: few runs have applets

            datasets = Published(datasets)
            self.applets = Applets(datasets.address, windows=applets)
        self.devices = devices(
            ddb, {"scheduler": SingleRun(rid, expid=expid), "ccb": self.applets or IgnoredCommands()}
        )
        self.datasets = DatasetManager(datasets, note)
        typed = not isinstance(arguments, dict)
        self.arguments = answers(argument_texts(arguments) if typed else arguments, typed)
        try:
            with report.user_code(plain=(DeviceError, ArgumentError, DefaultMissing)):
                self.instance = cls((self.devices, self.datasets, self.arguments, {}))
        except report.UserCodeError as error:
            if isinstance(error.__cause__, ArgumentError | DefaultMissing):
                raise CommandLineError(str(error)) from error.__cause__
            raise
        if self.origin is not None:
            self.origin.refresh()
        check_known(self.name, self.arguments.unknown, self.arguments.requested)

    def perform(self):
        """Execute the stages after `build`. UserCodeError for exceptions of the experiment, but those that `ENDED`
        names."""
        with report.user_code(plain=ENDED):
            self.instance.prepare()
            self.instance.run()
            self.devices.notify_run_end()
        with report.user_code():
            self.instance.analyze()

    def compiled(self, stage: str, strict: bool = False) -> str | bytes:
        """Return the compiler's output for ``run()`` after `stage`, one of
        `kairos.compiler.STAGES`; nothing is run.

        Warnings go to standard error, or with `strict` are errors.
        """
        instance = self.instance
        with report.user_code(plain=(DeviceError,)):
            instance.prepare()
            embedded = getattr(instance.run, "artiq_embedded", None)
            if embedded is None or embedded.core_name is None:
                raise UsageError(f"run() of {self.name} is not a kernel: decorate it with @kernel")
            core = getattr(instance, embedded.core_name)
            warnings: list[str] = []
            compiler = load_compiler()
            result = compiler.emit(
                stage, type(instance).run, (instance,), {}, core=core, strict=strict, warnings=warnings
            )
            print_notice(*warnings)
            return result

    def statistics(self):
        """Return the statistics of the session with the core device, a `kairos.session.Statistics`;
        None if there was none."""
        self.record = record_of(self.devices) or self.record
        return statistics_of(self.devices)

    def write_datasets(self, path, started: float, waveform: dict | None = None):
        """Write the datasets, with their provenance, to the HDF5 file `path`; UsageError if it
        cannot be written. `started`: start of the run, in seconds of Unix time. `waveform`: of the
        pins, see `kairos.waveform.stored`; with it the file has what the device was told, see
        `kairos.session.record`."""
        run = {
            "artiq_version": compat.names.VERSION,
            "rid": self.rid,
            "start_time": started,
            "run_time": time.time(),
            "expid": pyon.encode(
                {
                    "file": str(self.file),
                    "class_name": self.name,
                    "arguments": self.arguments.used,
                    "log_level": logging.getLogger().level,
                }
            ),
        }
        self.datasets.end_fits()
        sources = self.provenance() | ({"status": INTERRUPTED} if self.was_interrupted else {})
        wanted = self.record is not None and (waveform or self.record.inputs is not None)
        replay = self.record.packed() if wanted else None
        write_hdf5(path, self.datasets, run, sources, waveform, replay)

    def provenance(self) -> dict[str, str]:
        """Return what the run depends on, see `Provenance`."""
        statistics = self.statistics()
        self._libraries = list(statistics.libraries) if statistics is not None else self._libraries
        return self.origin.values(self.arguments.effective, self.datasets.archive, self._libraries)
