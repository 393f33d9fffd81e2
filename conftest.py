"""Shared by all tests: settings of Hypothesis, the order of files, and a record of what each file costs.

Examples of Hypothesis are the same in every run, so that unchanged code sees no new failure; `make test-long` draws
others. They have no deadline, as they take longer on a busy machine.

Files that took longest in the last run, or before the first one those with the largest budgets, come first, so that no
worker is left with a long one at the end. `--shuffle SEED` runs files, and the tests of each, in another order: none
may depend on it.

A test that has not ended after `faulthandler_timeout` seconds (scripts/test) prints the stacks of its threads and ends
its process, which counts as its failure.

The cost of a file is its processor time in seconds, its own and that of the processes it started, which does not
depend on what else the machine does; building simulations of gateware does not count. It is written to
build/durations.json; `scripts/budgets` compares it with tests/budgets.toml.
"""

import faulthandler
import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from kairos_gateware.verilated.building import processor_seconds, seconds_spent

from kairos.scratch import is_abandoned

settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("kairos", settings.get_profile("explore"), derandomize=True)
settings.load_profile("kairos")

# The tests start thousands of Python processes, which without compiled modules take three times as long to begin.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Several processes share the processors: the threads that NumPy starts would only look out for work.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

ROOT = Path(__file__).parent
DURATIONS = ROOT / "build" / "durations.json"
BUDGETS = ROOT / "tests" / "budgets.toml"
COST = "processor seconds"
STDERR = pytest.StashKey[int]()
"""Where this process reports what hangs."""
LEFT_BEHIND = "kairos-*"
"""Temporary folders of our programs: a run has a folder of its own for them. Those of killed programs, whose lock is
free, would be deleted by the next program of the kind; no other may remain."""


def pytest_addoption(parser):
    parser.addoption("--shuffle", metavar="SEED", help="run files, and the tests of each, in a random order")


def cost() -> float:
    """Return the processor time of this process and of those it has started and waited for, but for builds."""
    return processor_seconds() - seconds_spent()


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_collection_modifyitems(config, items):
    # Hypothesis looks at every module. This one of LiteX then sleeps for two seconds, and we do not use it.
    sys.modules.pop("litex.soc.interconnect.stream_sim", None)
    seed = config.getoption("--shuffle")
    groups: dict[str, list] = {}
    for item in items:
        groups.setdefault(file_of(item.nodeid), []).append(item)
    names = list(groups)
    if seed is not None:
        chance = random.Random(seed)
        chance.shuffle(names)
        for group in groups.values():
            chance.shuffle(group)
    else:
        # A budget is about twice the cost.
        budgets = tomllib.loads(BUDGETS.read_text())["files"]
        known = {name: budget / 2 for name, budget in budgets.items()}
        if DURATIONS.exists():
            known |= json.loads(DURATIONS.read_text())
        names.sort(key=lambda name: -known.get(name, 0.0))
    items[:] = [item for name in names for item in groups[name]]


def pytest_collection_finish():
    """What is imported and collected by now stays until the end: it need not be looked through for cycles again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    if settings().derandomize:
        # Hypothesis also draws constants that it finds in the modules loaded so far: examples would depend on which
        # files the process ran before. To read them all takes a tenth of the time.
        providers._get_local_constants = lambda: providers._local_constants


@contextmanager
def imports_ended(tmp_path_factory):
    """Experiments that a test imports from its folder, and what they import there, are not those of another test, which
    may have files of the same names."""
    before, base = set(sys.modules), tmp_path_factory.getbasetemp()
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(base):
            del sys.modules[name]


@pytest.fixture(autouse=True, scope="module")
def modules_as_before(tmp_path_factory):
    """Those that fixtures of a file import."""
    with imports_ended(tmp_path_factory):
        yield


@pytest.fixture(autouse=True)
def process_as_before(tmp_path_factory):
    """A command, or an experiment, that runs in the tests' own process changes what one of its own takes with it when
    it ends: where modules are looked for, which there are, and what signals do."""
    folders = sys.path[:]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with imports_ended(tmp_path_factory):
        yield
    sys.path[:] = folders
    for number, handler in handlers.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.user_properties.append((COST, cost()))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    # pytest itself no longer watches a test that has failed; its fixtures are what is left to hang.
    if seconds := float(item.config.getini("faulthandler_timeout")):
        ends = item.config.getini("faulthandler_exit_on_timeout")
        faulthandler.dump_traceback_later(seconds, file=item.config.stash[STDERR], exit=ends)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "teardown":
        begun = next(value for name, value in reversed(report.user_properties) if name == COST)
        report.user_properties = [(COST, cost() - begun)]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable():
    """Reports travel between processes in UTF-8. Texts of tests, such as what was logged, may contain anything."""
    return _encodable((yield))


def _encodable(value):
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_encodable(each) for each in value)
    return value


class Costs:
    """Plugin of the process that receives all reports."""

    def __init__(self):
        self.costs: Counter[str] = Counter()
        self.left: list[Path] = []
        self.passed = False
        self.terminal = None
        # The name is short, because sockets have paths of at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="kt-"))
        os.environ["TMPDIR"] = tempfile.tempdir = str(self.folder)

    def pytest_runtest_logreport(self, report):
        if report.failed and self.terminal:
            # At once: a run that is ended early has no summary.
            self.terminal.write_line(f"\nFAILED ({report.when}) {report.nodeid}", red=True)
        if report.when == "teardown":
            self.costs[file_of(report.nodeid)] += dict(report.user_properties).get(COST, 0.0)

    def pytest_sessionstart(self, session):
        self.terminal = session.config.pluginmanager.get_plugin("terminalreporter")

    def pytest_sessionfinish(self, session):
        if session.config.option.collectonly:
            self.passed = True
            return
        known = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
        known |= {name: round(cost, 2) for name, cost in self.costs.items()}
        if DURATIONS.parent.exists():
            kept = {name: cost for name, cost in sorted(known.items()) if (ROOT / name).exists()}
            DURATIONS.write_text(json.dumps(kept, indent=1) + "\n")
        self.left = [path for path in sorted(self.folder.glob(LEFT_BEHIND)) if not is_abandoned(path)]
        if self.left:
            session.exitstatus = 1
        self.passed = session.exitstatus == 0

    def pytest_unconfigure(self, config):
        # Folders of tests that failed are of use.
        if self.passed:
            shutil.rmtree(self.folder, ignore_errors=True)

    def pytest_terminal_summary(self, terminalreporter):
        for path in self.left:
            terminalreporter.write_line(f"left behind by a test: {path}", red=True)


def pytest_configure(config):
    config.stash[STDERR] = os.dup(2)  # captured while tests run
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Costs(), "kairos-costs")
