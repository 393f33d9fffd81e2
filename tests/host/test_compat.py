"""The ``artiq`` names of Kairos modules, each tested in a new interpreter."""

import subprocess
import sys
from importlib.metadata import distributions

import pytest

from tests.support import TIMEOUT

# An import test would not do: in this process other tests have installed our `artiq`.
INSTALLED = any(distribution.name == "artiq" for distribution in distributions())
pytestmark = pytest.mark.skipif(INSTALLED, reason="ARTIQ itself is installed")


def python(code):
    code = "import kairos.compat\nkairos.compat.install()\nkairos.compat.install()\n" + code
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT)


def test_artiq_names_are_kairos_objects():
    done = python(
        "from artiq.experiment import *\n"
        "from artiq.coredevice import ttl\n"
        "import artiq.coredevice.core as core, artiq.language.environment, artiq.language.core\n"
        "import kairos.coredevice.ttl, kairos.coredevice.core, kairos.language.core\n"
        "import kairos.experiment.environment as environment\n"
        "assert ttl is kairos.coredevice.ttl and core is kairos.coredevice.core\n"
        "assert artiq.language.environment.EnvExperiment is EnvExperiment is environment.EnvExperiment\n"
        "assert artiq.language.core is kairos.language.core\n"
        "assert ttl.__name__ == ttl.__spec__.name == 'kairos.coredevice.ttl'\n"
        "from artiq.coredevice.exceptions import *\n"
        "from artiq.coredevice.exceptions import RTIOUnderflow as again\n"
        "assert RTIOUnderflow is again\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("statement", ["import artiq.coredevice.toaster", "import artiq.gateware.rtio"])
def test_missing_module_lists_available_modules(statement):
    done = python(statement)
    message = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert message.startswith("ModuleNotFoundError: Kairos has no counterpart of artiq.")
    assert "; artiq has " in message or "; artiq.coredevice has " in message
    assert "ttl," in message


def test_misspelt_module_suggests_similar_name():
    done = python("import artiq.coredevice.tll")
    assert done.stderr.strip().endswith("no counterpart of artiq.coredevice.tll; did you mean artiq.coredevice.ttl?")


def test_artiq_is_absent_without_import_hook():
    done = subprocess.run(
        [sys.executable, "-c", "import kairos, artiq"], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert "No module named 'artiq'" in done.stderr


LABORATORY = {
    "language exports environment and scan": """
from artiq.language import *
from artiq.language import EnvExperiment, NumberValue, RangeScan, Scannable, kernel, ms
import artiq.language
import artiq.experiment
from artiq.language import environment, scan, units, core
assert EnvExperiment is artiq.experiment.EnvExperiment is environment.EnvExperiment
assert RangeScan is scan.RangeScan and ms == units.ms == 1e-3 and core.kernel is kernel
assert issubclass(Scannable, artiq.language.environment._SimpleArgProcessor)
""",
    "drivers as names of the package": """
from artiq.coredevice import comm_analyzer, comm_mgmt, ttl, urukul
from artiq.coredevice.chips.ad9910 import PROFILE
import artiq.coredevice.ad9910 as ad9910
import kairos.coredevice.ttl
assert ttl is kairos.coredevice.ttl
assert comm_analyzer.__name__ == "artiq.coredevice.comm_analyzer"
""",
    "the version is compared": """
import artiq
from artiq import __version__ as artiq_version
assert int(artiq_version.split(".")[0]) >= 8
assert artiq.__version__ == artiq_version
""",
    "the import cache is installed first": """
from artiq.compiler import import_cache
import_cache.install_hook()
""",
    "managers of an experiment in a test": """
from artiq.language.environment import ProcessArgumentManager, TraceArgumentManager
from artiq.master.databases import DatasetDB, DeviceDB
from artiq.master.worker_db import DatasetManager, DeviceManager
from artiq.master.worker_impl import ExamineDatasetMgr, ExamineDeviceMgr
from artiq.experiment import *

class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_argument("n", NumberValue(3, precision=0, step=1), "group", "tip")
        self.setattr_argument("points", PYONValue([1]))
    def run(self):
        self.set_dataset("result", [1, 2], broadcast=True)
        self.append_to_dataset("result", 3)

trace = TraceArgumentManager()
Exp((ExamineDeviceMgr(), ExamineDatasetMgr(), trace, {}))
assert list(trace.requested_args) == ["n", "points"]
processor, group, tooltip = trace.requested_args["n"]
assert (processor.describe()["ty"], group, tooltip) == ("NumberValue", "group", "tip")

class Database:
    devices = {"core": {"type": "dummy"}}
    def get(self, key):
        return self.devices[key]
    def get_device_db(self):
        return self.devices

class Datasets:
    def __init__(self):
        self.data = {}
        self.changes = []
    def get(self, key):
        return self.data[key][1]
    def update(self, change):
        self.changes.append(change)
        if not change["path"]:
            self.data[change["key"]] = change["value"]
        elif change["action"] == "append":
            self.data[change["path"][0]][1].append(change["x"])
    def delete(self, key):
        del self.data[key]

shared = Datasets()
datasets = DatasetManager(shared)
arguments = ProcessArgumentManager({"points": "[2, 4]", "n": 7})
exp = Exp((DeviceManager(Database()), datasets, arguments, {}))
assert exp.points == [2, 4] and exp.n == 7
arguments.check_unprocessed_arguments()
exp.run()
assert datasets.local == {"result": [1, 2, 3]}
assert shared.get("result") == [1, 2, 3]
assert shared.changes[0]["action"] == "setitem"

store = DatasetDB("never_written.mdb")
store.update({"action": "setitem", "path": [], "key": "a", "value": (False, [1], {})})
store.update({"action": "append", "path": ["a", 1], "x": 2})
assert store.get("a") == [1, 2] and store.data["a"][0] is False
store.update({"action": "delitem", "path": [], "key": "a"})
assert "a" not in store.data
store.close_db()

import pathlib, tempfile
path = str(pathlib.Path(tempfile.mkdtemp()) / "dataset_db.mdb")
store = DatasetDB(path)
store.set("b", [1], persist=True, metadata={"unit": "s"})
store.update({"action": "append", "path": ["b", 1], "x": 2})
store.save()
store.close_db()
assert DatasetDB(path).data == {"b": (True, [1, 2], {"unit": "s"})}
""",
    "a device database from a file": """
import pathlib, tempfile
from artiq.master.databases import DeviceDB, device_db_from_file
path = pathlib.Path(tempfile.mkdtemp()) / "device_db.py"
path.write_text('device_db = {"a": {"type": "dummy"}, "b": "a"}')
ddb = DeviceDB(str(path))
assert ddb.get("b") == "a" and ddb.get("b", resolve_alias=True) == {"type": "dummy"}
path.write_text('device_db = {"c": {"type": "dummy"}}')
ddb.scan()
assert list(ddb.get_device_db()) == ["c"] and device_db_from_file(path) == ddb.get_device_db()
""",
    "tools": """
import numpy
from artiq.tools import elide, file_import, get_experiment, parse_arguments, scale_from_metadata, short_format
from artiq.tools import parse_devarg_override, unparse_devarg_override
assert parse_arguments(["n=3", "s='text'"]) == {"n": 3, "s": "text"}
assert elide("abcdefgh", 6) == "abc..." and elide("abc", 6) == "abc"
assert scale_from_metadata({"unit": "ms"}) == 1e-3 and scale_from_metadata({"unit": "counts"}) == 1.0
assert short_format(0.0125, {"unit": "ms", "precision": 1}) == "12.5 ms"
assert short_format(7) == "7" and short_format([1, 2]) == "list of 2"
assert short_format(numpy.zeros((2, 3))) == "ndarray of 2 x 3 float64"
overrides = {"core": {"host": "10.0.0.1"}, "ttl0": {"channel": 3}}
assert parse_devarg_override(unparse_devarg_override(overrides)) == overrides
module = file_import("examples/blink.py", prefix="lab_")
assert get_experiment(module).__name__ == "Blink"
""",
    "errors of the compiler and of remote calls": """
from artiq.coredevice.core import CompileError, Core
from artiq.coredevice.comm_kernel import CommKernel, CommKernelDummy, RPCReturnValueError
from artiq.coredevice import exceptions
from artiq.compiler.targets import CortexA9Target
assert RPCReturnValueError is exceptions.RPCReturnValueError and issubclass(RPCReturnValueError, ValueError)
core = Core(None, None, 1e-9, target="cortexa9")
assert core.target_cls is CortexA9Target and "neon" in core.target_cls.features
CommKernelDummy().close()
""",
    "what is not there can be imported, and says so when it is used": """
from artiq.frontend import artiq_client, artiq_dashboard, artiq_master

for use in (artiq_client.main, artiq_dashboard.main, lambda: artiq_master.main(["x"])):
    try:
        use()
    except Exception as error:
        text = str(error)
        assert type(error).__name__ == "NotInKairos" and "is not part of Kairos: " in text, text
    else:
        raise AssertionError
""",
    "scheduler, workers and repositories are those of Kairos": """
from artiq.experiment import *
from artiq.master.experiments import ExperimentDB, FilesystemBackend, GitBackend
from artiq.master.rid_counter import RIDCounter
from artiq.master.scheduler import Scheduler
from artiq.master.worker import Worker, WorkerError, WorkerInternalException, WorkerTimeout, WorkerWatchdogTimeout
import kairos.schedule

class Monitor(EnvExperiment):
    def build(self):
        self.setattr_device("scheduler")
        self.scheduler: Scheduler

assert Scheduler is kairos.schedule.Scheduler and Worker is kairos.schedule.Worker
assert all(issubclass(e, WorkerError) for e in (WorkerInternalException, WorkerTimeout, WorkerWatchdogTimeout))
for method in ("submit", "delete", "request_termination", "get_status", "check_pause", "check_termination"):
    assert callable(getattr(Scheduler, method))
""",
    "applets": """
import artiq.applets.simple
from artiq.applets.simple import SimpleApplet, TitleApplet
applet = artiq.applets.simple.TitleApplet(object, default_update_delay=0.1)
applet.add_dataset("y", "Y values")
applet.add_dataset("x", "X values", required=False)
applet.argparser.add_argument("--x-label", default=None, type=str)
import sys
sys.argv = ["plot", "scan.y", "--x-label", "time", "--title", "T", "--update-delay", "0.5"]
applet.args_init()
assert (applet.args.y, applet.args.x, applet.args.x_label, applet.args.title) == ("scan.y", None, "time", "T")
assert applet.args.update_delay == 0.5 and isinstance(applet, SimpleApplet)
""",
    "a simulation": """
from artiq.experiment import *
from artiq.sim import devices, time
from artiq.master.worker_db import DeviceManager, DatasetManager

class Database:
    def get(self, key):
        return {"type": "local", "module": "artiq.sim.devices", **{
            "core": {"class": "Core"},
            "led": {"class": "Output", "arguments": {"name": "led"}},
            "laser": {"class": "WaveOutput", "arguments": {"name": "laser"}},
            "pmt": {"class": "Input", "arguments": {"name": "pmt"}},
        }[key]}

class Exp(EnvExperiment):
    def build(self):
        for name in ("core", "led", "laser", "pmt"):
            self.setattr_device(name)

    @kernel
    def run(self):
        with parallel:
            self.led.pulse(3 * us)
            with sequential:
                self.laser.pulse(80 * MHz, 2 * us)
                self.laser.set(70 * MHz)
        delay(1 * us)
        self.led.on()
        return now_mu()

exp = Exp((DeviceManager(Database()), DatasetManager(), None, {}))
assert exp.run() == 4000
recorded = [(round(at * 1e9), device, what) for at, device, what, _ in time.manager.events]
assert recorded == [
    (0, "led", "on"), (3000, "led", "off"), (0, "laser", "pulse"), (2000, "laser", "set"), (4000, "led", "on")
]
lines = time.manager.format_timeline().splitlines()
assert [line.split(": ")[1].split("(")[0] for line in lines] == ["on", "pulse", "set", "off", "on"]
""",
    "delays of an AD9910": """
from artiq.coredevice.ad9910 import AD9910
from artiq.master.worker_db import DeviceManager

def driver(name, kind, **arguments):
    return {"type": "local", "module": f"artiq.coredevice.{name}", "class": kind, "arguments": arguments}

class Database:
    devices = {
        "core": driver("core", "Core", host=None, ref_period=1e-9),
        "spi": driver("spi2", "SPIMaster", channel=3),
        "update": driver("ttl", "TTLOut", channel=4),
        "cpld": driver("urukul", "CPLD", spi_device="spi", io_update_device="update", refclk=125e6, clk_div=0),
        "dds": driver(
            "ad9910", "AD9910", chip_select=4, cpld_device="cpld", pll_n=32, sync_delay_seed=8, io_update_delay=3
        ),
    }
    def get(self, key):
        return self.devices[key]

dds = DeviceManager(Database()).get("dds")
assert isinstance(dds, AD9910)
assert (dds.sync_data.sync_delay_seed, dds.sync_data.io_update_delay) == (8, 3)
""",
    "an error of the compiler as text": """
import importlib.util, pathlib, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / "lab.py"
lines = ["from artiq.experiment import *", "class Exp:", "    @kernel", "    def run(self):", '        return 1 + "a"']
path.write_text(chr(10).join(lines))
spec = importlib.util.spec_from_file_location("lab", path)
lab = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lab)
from artiq.coredevice.core import CompileError, Core
exp = lab.Exp()
exp.core = Core(None, None, 1e-9)
try:
    exp.core.compile(lab.Exp.run, (exp,), {})
except CompileError as error:
    assert "lab.py:5:20" in str(error) and '1 + "a"' in str(error), str(error)
else:
    raise AssertionError
""",
    "modules of a package as its attributes": """
import artiq.language.core
assert artiq.language.environment.EnvExperiment and artiq.language.units.ms == 1e-3
assert artiq.language.scan.RangeScan and artiq.language.types.TInt32
import artiq.experiment
assert artiq.experiment.EnvExperiment is artiq.language.environment.EnvExperiment
import artiq.coredevice.core
import kairos.coredevice.ttl
assert artiq.coredevice.ttl is kairos.coredevice.ttl
import artiq
assert artiq.master.worker_db.DeviceManager and artiq.tools.short_format
for missing in ("toaster", "_private", "__path_of_nothing__"):
    try:
        getattr(artiq.coredevice, missing)
    except AttributeError as error:
        assert "no counterpart" in str(error)
    else:
        raise AssertionError
""",
    "names bound by the star alone": """
from artiq.experiment import *
phases = PHASE_MODE_CONTINUOUS, PHASE_MODE_ABSOLUTE, PHASE_MODE_TRACKING
import artiq.coredevice.ad9910 as ad9910, artiq.coredevice.ad9914 as ad9914
assert phases == (0, 1, 2)
assert phases == (ad9910.PHASE_MODE_CONTINUOUS, ad9914.PHASE_MODE_ABSOLUTE, ad9910.PHASE_MODE_TRACKING)
for name in (
    "kernel portable rpc subkernel syscall host_only kernel_from_string set_time_manager set_watchdog_factory "
    "TerminationRequested sequential parallel interleave delay_mu now_mu at_mu delay watchdog TNone TTuple TBool "
    "TInt32 TInt64 TFloat TStr TBytes TByteArray TList TArray TRange32 TRange64 TVar NoDefault DefaultMissing "
    "PYONValue BooleanValue EnumerationValue NumberValue StringValue HasEnvironment Experiment EnvExperiment "
    "CancelledArgsError ScanObject NoScan RangeScan CenterScan ExplicitScan Scannable MultiScanManager "
    "RTIOUnderflow RTIOOverflow ps ns us ms s mHz Hz kHz MHz GHz dB uV mV V kV uA mA A nW uW mW W"
).split():
    assert name in globals(), name
for name in ("np", "numpy", "int32", "int64"):
    assert name not in globals(), name
""",
    "private names of drivers": """
from artiq.coredevice.ad9910 import SyncDataEeprom, SyncDataUser
from artiq.coredevice.core import CompileError, _render_diagnostic
from artiq.coredevice.ttl import TTLInOut
from artiq.coredevice.ad9914 import AD9914
from artiq.master.worker_db import DeviceManager

def driver(name, kind, **arguments):
    return {"type": "local", "module": f"artiq.coredevice.{name}", "class": kind, "arguments": arguments}

class Database:
    devices = {
        "core": driver("core", "Core", host=None, ref_period=1e-9),
        "dds": driver("ad9914", "AD9914", sysclk=3e9, bus_channel=2, channel=0),
        "i2c_switch0": driver("i2c", "I2CSwitch"),
        "i2c_switch1": driver("i2c", "I2CSwitch", address=0xE2),
        "eeprom": driver("kasli_i2c", "KasliEEPROM", port="EEM0"),
    }
    def get(self, key):
        return self.devices[key]

manager = DeviceManager(Database())
dds = manager.get("dds")
assert (dds.set_duration_mu, dds.set_x_duration_mu, dds.write_duration_mu) == (240, 400, 40)
fixed = SyncDataUser(dds.core, 15, 2)
assert (fixed.core, fixed.sync_delay_seed, fixed.io_update_delay) == (dds.core, 15, 2) and callable(fixed.init)
stored = SyncDataEeprom(manager, dds.core, "eeprom:64")
assert stored.eeprom_device is manager.get("eeprom") and stored.eeprom_offset == 64
assert callable(TTLInOut._set_sensitivity)
error = CompileError("error: it does not compile")
assert "it does not compile" in _render_diagnostic(error.diagnostic, colored=True)
""",
    "Urukul's revisions": """
from artiq.coredevice.urukul import CPLD, CPLDVersion, STA_PROTO_REV_8, STA_PROTO_REV_9
from artiq.coredevice import urukul
from artiq.coredevice.sampler import Sampler
assert (STA_PROTO_REV_8, STA_PROTO_REV_9) == (8, 9)
assert issubclass(urukul.ProtoRev9, CPLDVersion) and urukul.ProtoRev9.proto_rev == 9
assert (urukul.ProtoRev8.CFG_PROFILE, urukul.ProtoRev8.CFG_IO_RST, urukul.ProtoRev9.CFG_OSK) == (8, 20, 20)
assert Sampler.use_corrected_fs("v2.2") and not Sampler.use_corrected_fs("v2.1")
""",
}
"""Uses of ARTIQ's names in files of laboratories."""


@pytest.mark.parametrize("code", LABORATORY.values(), ids=LABORATORY)
def test_imports_of_laboratory_code_succeed(code):
    done = python(code)
    assert done.returncode == 0, done.stderr


def test_every_listed_artiq_name_can_be_imported():
    code = """
import importlib
from kairos.compat.names import ABSENT, GATHERED, SAME
for name in (*SAME, *GATHERED, *ABSENT):
    module = importlib.import_module(name)
    for entry in getattr(module, "__all__", ()):
        getattr(module, entry)
print(len(SAME) + len(GATHERED) + len(ABSENT))
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 25


def test_missing_name_lists_names_of_the_module():
    done = python("import artiq.coredevice.comm_mgmt as m; m.CommToaster")
    assert "no counterpart of artiq.coredevice.comm_mgmt.CommToaster; the module has CommMgmt" in done.stderr
