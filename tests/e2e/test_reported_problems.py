"""Whole experiments after what physicists have reported about control systems: recordings by name, scans, datasets and
children used from kernels, cached values, precompiled kernels, calls back and forth."""

import numpy as np
import pytest

from kairos import compat
from kairos.devices import DeviceDB, DeviceManager
from kairos.errors import CompileError, LoadError
from kairos.experiment.datasets import DatasetManager
from kairos.experiment.environment import ProcessArgumentManager
from kairos.experiment.standalone import IgnoredCommands, SingleRun
from tests.support.paths import ROOT

compat.install()

from artiq.coredevice.exceptions import DMAError  # noqa: E402
from artiq.experiment import *  # noqa: E402, F403
from artiq.experiment import (  # noqa: E402
    MHz,
    TFloat,
    TInt32,
    delay,
    delay_mu,
    kernel,
    ms,
    now_mu,
    parallel,
    rpc,
    sequential,
    us,
)


class Reporting(EnvExperiment):  # noqa: F405
    """An experiment that keeps what its kernels report."""

    DEVICES = ()

    def build(self):
        self.reported = []
        for name in ("core", *self.DEVICES):
            self.setattr_device(name)

    def report(self, *values):
        self.reported += [value.tolist() if isinstance(value, np.generic | np.ndarray) else value for value in values]


class RecordingsByName(Reporting):
    DEVICES = ("core_dma", "ttl4")

    def prepare(self):
        self.names = ["a", "b"]

    @kernel
    def played(self, name):
        self.core.break_realtime()
        begin = now_mu()
        self.core_dma.playback(name)
        return now_mu() - begin

    @kernel
    def run(self):
        self.core.reset()
        for n in range(2):
            with self.core_dma.record(self.names[n]):
                for _ in range(n + 1):
                    self.ttl4.pulse(1 * us)
                    delay(1 * us)
        self.report(self.played("a"))
        handle = self.core_dma.get_handle("b")
        self.core.break_realtime()
        begin = now_mu()
        for _ in range(3):
            self.core_dma.playback_handle(handle)
        self.report(now_mu() - begin)
        with self.core_dma.record("a"):
            delay(7 * us)
        self.report(self.played("a"))
        try:
            self.core_dma.playback_handle(handle)
        except DMAError:
            self.report("handle of an older recording")
        self.core_dma.erase("a")
        try:
            self.core_dma.playback("a")
        except DMAError:
            self.report("erased")

    EXPECTED = [2000, 12000, 7000, "handle of an older recording", "erased"]


class RecordingLeftByAnException(Reporting):
    DEVICES = ("core_dma", "ttl4")

    @kernel
    def run(self):
        self.core.reset()
        begin = now_mu()
        try:
            with self.core_dma.record("c"):
                delay(1 * us)
                raise ValueError("in the recording")
        except ValueError:
            self.report(now_mu() - begin)
        self.core.break_realtime()
        self.ttl4.pulse(1 * us)
        self.report("pulsed")

    EXPECTED = [0, "pulsed"]


class ScansAndArguments(Reporting):
    def build(self):
        super().build()
        scan = Scannable([RangeScan(0, 1, 3), NoScan(2.0, 2)], unit="us", scale=1.0)  # noqa: F405
        self.setattr_argument("scan", scan)
        self.setattr_argument("times", NumberValue(3, precision=0, step=1, type="int"))  # noqa: F405
        self.setattr_argument("frequency", NumberValue(1.5 * MHz, unit="MHz"))  # noqa: F405
        self.setattr_argument("mode", EnumerationValue(["a", "b"], "b"))  # noqa: F405
        self.setattr_argument("on", BooleanValue(True))  # noqa: F405
        self.setattr_argument("text", StringValue("é"))  # noqa: F405
        self.setattr_argument("typed", PYONValue([1, 2]))  # noqa: F405

    def prepare(self):
        self.points = list(self.scan)
        self.around = list(CenterScan(1.0, 2.0, 0.5))  # noqa: F405
        both = MultiScanManager(("a", ExplicitScan([1, 2])), ("b", RangeScan(0, 1, 2)))  # noqa: F405
        self.pairs = [(point.a, point.b) for point in both]

    @kernel
    def run(self):
        for point in self.points:
            self.report(point)
        for a, b in self.pairs:
            self.report((a, b))
        self.report(self.around, self.times, self.frequency, self.mode == "b", self.on, self.text, self.typed)

    EXPECTED = [0.0, 0.5, 1.0, (1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)]
    EXPECTED += [[1.0, 0.5, 1.5, 0.0, 2.0], 3, 1.5e6, True, True, "é", [1, 2]]


class DatasetsOfKernels(Reporting):
    def prepare(self):
        self.set_dataset("counts", np.zeros(4), broadcast=True)
        self.set_dataset("list", [])
        self.set_dataset("matrix", np.zeros((2, 3)))

    def stored(self, key) -> TFloat:
        return float(self.get_dataset(key))

    @kernel
    def run(self):
        for n in range(4):
            self.mutate_dataset("counts", n, n * n)
        self.append_to_dataset("list", 1)
        self.append_to_dataset("list", 2)
        self.mutate_dataset("matrix", ((0, 2), (1, 2)), 5.0)
        self.mutate_dataset("matrix", (0, 1), np.array([[1.0, 2.0, 3.0]]))
        self.set_dataset("array", np.array([1.5, 2.5]), unit="us", scale=1e-6)
        self.set_dataset("nested", [[1], [2, 3]])
        self.set_dataset("number", 2.5, persist=True, archive=False)
        self.report(self.stored("number"))

    def analyze(self):
        for key in ("counts", "list", "matrix", "array", "nested"):
            self.report(self.get_dataset(key))
        self.report(self.get_dataset_metadata("array"))

    EXPECTED = [2.5, [0.0, 1.0, 4.0, 9.0], [1, 2], [[1.0, 2.0, 3.0], [0.0, 5.0, 0.0]], [1.5, 2.5], [[1], [2, 3]]]
    EXPECTED += [{"unit": "us", "scale": 1e-6}]


class Child(HasEnvironment):  # noqa: F405
    def build(self, number=0, *, name="c"):
        self.setattr_device("core")
        self.number, self.name, self.is_prepared = number, name, False

    def prepare(self):
        self.is_prepared = True

    @kernel
    def work(self):
        return self.number * 10


class Mixin:
    @kernel
    def more(self):
        return self.base() + 1


class ParentOfChildren(Mixin, Reporting):
    DEVICES = ("scheduler", "ccb")

    def build(self):
        super().build()
        self.parts = [Child(self, number, name=f"k{number}") for number in range(3)]
        self.set_default_scheduling(priority=3, pipeline_name="other")

    @kernel
    def base(self):
        return 5

    @kernel
    def run(self):
        for part in self.parts:
            self.report(part.name, part.work(), part.is_prepared)
        self.report(self.more(), self.scheduler.check_pause(), self.scheduler.rid, self.scheduler.pipeline_name)
        self.ccb.issue("create_applet", "n", "${artiq_applet}plot_xy y", group="g")
        self.parts[1].number += 1

    def analyze(self):
        self.report([child.number for child in self.children] == [0, 2, 2])

    EXPECTED = ["k0", 0, True, "k1", 10, True, "k2", 20, True, 6, False, 0, "main", True]


class CachedValues(Reporting):
    DEVICES = ("core_cache",)

    @kernel
    def put(self):
        self.core_cache.put("key", [1, 2, 3])

    @kernel
    def get(self):
        self.report(self.core_cache.get("key"), len(self.core_cache.get("unknown")))
        self.core_cache.put("key", [])
        self.report(self.core_cache.get("key"))

    def run(self):
        self.put()
        self.get()

    EXPECTED = [[1, 2, 3], 0, []]


class KernelInACallOfAKernel(Reporting):
    @kernel
    def other(self):
        return 3

    def host(self) -> TInt32:
        return self.other()

    @kernel
    def calling(self):
        self.report(self.host())

    def run(self):
        with pytest.raises(LoadError, match="a kernel is running"):
            self.calling()
        self.report(self.other())

    EXPECTED = [3]


class PrecompiledWithValues(Reporting):
    @kernel
    def added(self, number):
        self.level += number
        return self.level + number

    def run(self):
        self.level = 1
        precompiled = self.core.precompile(self.added, 5)
        self.level = 100
        self.report(precompiled(), precompiled(), self.level, self.added(5), self.level)

    EXPECTED = [11, 11, 100, 110, 105]


class ManyAsynchronousCalls(Reporting):
    @rpc(flags={"async"})
    def slow(self, number, values):
        self.report(number if len(values) == 200 else -1)

    @kernel
    def run(self):
        for number in range(500):
            self.slow(number, [number] * 200)

    EXPECTED = list(range(500))


class DeviceThatIsNotThere(Reporting):
    def prepare(self):
        self.dds = self.get_device("urukul9_ch0") if "urukul9_ch0" in self.get_device_db() else None

    @kernel
    def run(self):
        self.core.reset()
        if self.dds is not None:
            self.dds.set(1 * MHz)
        self.report("done")

    EXPECTED = ["done"]


class CursorAfterAnUnderflow(Reporting):
    DEVICES = ("ttl4",)

    @kernel
    def run(self):
        self.core.reset()
        caught = 0
        try:
            with parallel:
                self.ttl4.pulse(1 * us)
                with sequential:
                    delay(-1000 * ms)
                    self.ttl4.on()
        except RTIOUnderflow:  # noqa: F405
            caught += 1
            self.core.break_realtime()
        self.ttl4.pulse(1 * us)
        delay_mu(self.core.seconds_to_mu(1 * us))
        self.report(caught, self.core.seconds_to_mu(1.5 * us), self.core.mu_to_seconds(1500))
        self.core.wait_until_mu(now_mu())

    EXPECTED = [1, 1500, 1.5e-06]


EXPERIMENTS = [one for one in vars().copy().values() if hasattr(one, "EXPECTED")]


@pytest.fixture(scope="module")
def entries(device):
    entries = dict(DeviceDB.load(ROOT / "examples/device_db.py").entries)
    core = entries["core"]
    where = {**core["arguments"], "host": f"{device.host}:{device.port}"}
    return {**entries, "core": {**core, "arguments": where}}


@pytest.fixture
def make(entries):
    """Builds an experiment; its devices are closed at the end."""
    devices = DeviceManager(DeviceDB(entries), {"scheduler": SingleRun(), "ccb": IgnoredCommands()})
    yield lambda cls: cls((devices, DatasetManager(), ProcessArgumentManager({}), {}))
    devices.close_devices()


@pytest.mark.parametrize("cls", EXPERIMENTS, ids=lambda cls: cls.__name__)
def test_experiment_reports_the_expected_values(cls, make):
    experiment = make(cls)
    experiment.prepare()
    experiment.run()
    experiment.analyze()
    assert experiment.reported == cls.EXPECTED


class ScanInAKernel(ScansAndArguments):
    @kernel
    def run(self):
        for point in self.scan:
            self.report(point)


class ExceptionThatIsPrinted(Reporting):
    @kernel
    def run(self):
        try:
            raise ValueError("level {0}", 3)
        except ValueError as error:
            print("caught", error)


class TextThatIsKept(Reporting):
    @kernel
    def run(self):
        self.name = self.name + "a"

    def prepare(self):
        self.name = "b"


@pytest.mark.parametrize(
    ("cls", "advice"),
    [
        (ScanInAKernel, r"make a list of it on the host, as self.points = list\(self.scan\) in prepare\(\)"),
        (ExceptionThatIsPrinted, "say in a text what was caught; 'raise' without a value raises it again"),
        (TextThatIsKept, "texts of the host and those in quotes can be kept; a host function can keep others"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused_experiment_reports_an_advice(cls, advice, make):
    experiment = make(cls)
    experiment.prepare()
    with pytest.raises(CompileError, match=advice):
        experiment.run()
