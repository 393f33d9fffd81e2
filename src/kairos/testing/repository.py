"""pytest plugin: every experiment of a repository is a test, which rehearses it with its default arguments.

With ``pytest_plugins = ["kairos.testing.repository"]`` in the topmost ``conftest.py``, or ``-p``::

    pytest --rehearse repository

A test fails if the experiment does not compile, raises an exception, is too late, loses an output, or
violates an interlock. The device database is the ``device_db.py`` next to the file or above it, with
the ``bench.toml`` and ``interlocks.toml`` beside it.
"""

from pathlib import Path

import pytest

from .. import compat
from ..devices import DeviceDB
from ..errors import KairosError
from ..experiment.arguments import DefaultMissing
from ..twin.folder import experiments_in
from ..twin.interlocks import FILE, load
from ..twin.rehearsal import Twin
from ..twin.verdict import sentence

__all__ = ["pytest_addoption", "pytest_collect_file", "pytest_configure"]

DATABASE, BENCH = "device_db.py", "bench.toml"


def pytest_addoption(parser):
    """Add the options of the plugin."""
    group = parser.getgroup("kairos")
    group.addoption("--rehearse", metavar="FOLDER", help="rehearse the experiments in this folder")
    group.addoption("--rehearse-within", metavar="SECONDS", type=float, default=60.0, help="longest rehearsal")
    group.addoption("--twin", metavar="URL", help="emulated device, if the core device is not emulated")


def pytest_configure(config):
    """Refuse a folder that does not exist, of which nothing would be rehearsed."""
    folder = config.getoption("--rehearse")
    if folder is not None and not Path(folder).exists():
        raise pytest.UsageError(f"--rehearse {folder}: there is no such folder")


def pytest_collect_file(file_path: Path, parent):
    """Collect the experiments of a file in the folder of ``--rehearse``."""
    folder = parent.config.getoption("--rehearse")
    if folder is None or file_path.suffix != ".py" or not file_path.is_relative_to(Path(folder).resolve()):
        return None
    if file_path.name in (DATABASE, "conftest.py") or file_path.name.startswith("test_"):
        return None
    return ExperimentFile.from_parent(parent, path=file_path)


class ExperimentFile(pytest.File):
    """A file with experiments."""

    def collect(self):
        compat.install()
        try:
            found = experiments_in(str(self.path))
        except KairosError as error:
            # A test that fails, not an error of the collection, which would keep all others from running.
            yield ImportItem.from_parent(self, name="import", error=error)
            return
        for name, value in found:
            yield ExperimentItem.from_parent(self, name=name, experiment=value)


class Failed(Exception):
    """A rehearsal has found something that would fail."""


class RehearsalItem(pytest.Item):
    """A test of a file of the repository."""

    def repr_failure(self, excinfo, style=None):
        """Return the finding only: the frames of this plugin say nothing."""
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"{self.path.name}: {self.name}"


class ImportItem(RehearsalItem):
    """A file that cannot be imported, so that its experiments are not known."""

    def __init__(self, *, error: KairosError, **settings):
        super().__init__(**settings)
        self._error = error

    def runtest(self):
        raise Failed(str(self._error))


class ExperimentItem(RehearsalItem):
    """The rehearsal of an experiment."""

    def __init__(self, *, experiment, **settings):
        super().__init__(**settings)
        self._class = experiment

    def runtest(self):
        database = next((folder / DATABASE for folder in self.path.parents if (folder / DATABASE).is_file()), None)
        if database is None:
            raise Failed(f"there is no {DATABASE} in {self.path.parent} or above it")
        bench, rules = database.with_name(BENCH), database.with_name(FILE)
        option = self.config.getoption
        try:
            with Twin(
                DeviceDB.load(database),
                str(bench) if bench.is_file() else None,
                option("--twin"),
                rules=load(rules) if rules.is_file() else (),
            ) as twin:
                found = twin.rehearse(
                    str(self.path), self._class.__name__, within_s=option("--rehearse-within"), cls=self._class
                )
        except (DefaultMissing, KairosError) as error:
            if isinstance(error, DefaultMissing) or isinstance(error.__cause__, DefaultMissing):
                pytest.skip(str(error))
            raise Failed(str(error)) from None
        self.add_report_section("call", "rehearsal", sentence(found))
        if not found.passed:
            text = "" if found.failure is None else f"\n\n{found.failure.text}"
            raise Failed(f"{sentence(found)}{text}")
