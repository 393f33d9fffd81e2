"""Devices, arguments and datasets from the point of view of experiments."""

import re

import h5py
import numpy
import pytest

from kairos import experiment as api
from kairos import pyon
from kairos.devices import DeviceDB, DeviceError, DeviceManager
from kairos.errors import UsageError
from kairos.experiment.arguments import ArgumentError, DefaultMissing
from kairos.experiment.datasets import DatasetManager
from kairos.experiment.environment import ProcessArgumentManager
from kairos.experiment.hdf5 import write_hdf5
from kairos.numeric import Wide

CORE = {
    "type": "local",
    "module": "kairos.coredevice.core",
    "class": "Core",
    "arguments": {"host": None, "ref_period": 1e-9},
}


def ttl(channel):
    return {
        "type": "local",
        "module": "kairos.coredevice.ttl",
        "class": "TTLOut",
        "arguments": {"channel": channel},
    }


def managers(entries=None, **arguments):
    return (DeviceManager(DeviceDB(entries or {})), DatasetManager(), ProcessArgumentManager(arguments), {})


def test_experiment_module_exports_artiq_names():
    expected = """
    kernel portable rpc subkernel syscall host_only kernel_from_string set_time_manager set_watchdog_factory
    TerminationRequested sequential parallel interleave delay_mu now_mu at_mu delay watchdog TNone TTuple TBool
    TInt32 TInt64 TFloat TStr TBytes TByteArray TList TArray TRange32 TRange64 TVar NoDefault DefaultMissing
    PYONValue BooleanValue EnumerationValue NumberValue StringValue HasEnvironment Experiment EnvExperiment
    CancelledArgsError ScanObject NoScan RangeScan CenterScan ExplicitScan Scannable MultiScanManager
    RTIOUnderflow RTIOOverflow ps ns us ms s mHz Hz kHz MHz GHz dB uV mV V kV uA mA A nW uW mW W
    """.split()
    namespace = {}
    exec("from kairos.experiment import *", namespace)
    assert set(expected) <= set(namespace)
    assert not {"np", "numpy", "int32", "int64", "language"} & set(namespace)
    assert (namespace["us"], namespace["MHz"], namespace["dB"]) == (1e-6, 1e6, 1.0)


def test_device_is_created_once_and_is_invariant():
    class Exp(api.EnvExperiment):
        def build(self):
            self.setattr_device("core")
            self.setattr_device("ttl0")
            self.other = self.get_device("alias")

        def run(self):
            pass

    exp = Exp(managers({"core": CORE, "ttl0": ttl(4), "alias": "ttl0"}))
    assert exp.other is exp.ttl0 and exp.ttl0.core is exp.core and exp.core.core is exp.core
    assert exp.kernel_invariants == {"core", "ttl0"}
    assert not hasattr(Exp, "kernel_invariants"), "invariants of one object must not leak into its class"
    assert exp.core.coarse_ref_period == 8e-9
    assert (exp.core.seconds_to_mu(1e-6), exp.core.seconds_to_mu(5e-6)) == (999, 5000)


def test_ttl_targets_have_channel_and_address():
    devices = DeviceManager(DeviceDB({"core": CORE, "out": ttl(5), "inout": {**ttl(3), "class": "TTLInOut"}}))
    inout = devices.get("inout")
    assert devices.get("out").target_o == 0x500
    assert (inout.target_o, inout.target_oe, inout.target_sens, inout.target_sample) == (0x300, 0x301, 0x302, 0x303)
    assert inout.gate_latency_mu == 104 and isinstance(inout.gate_latency_mu, Wide)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"ttl_0": ttl(0)}, "the device 'ttl0' is not in the device database .*; did you mean 'ttl_0'"),
        ({"ttl0": "ttl1"}, r"the device 'ttl1' \(alias|alias of 'ttl1'"),
        ({"ttl0": "ttl0"}, "form a cycle"),
        (
            {"ttl0": {**ttl(0), "arguments": {"channel": 0, "core_device": "ttl0"}}},
            "'ttl0': each of the devices ttl0 -> ttl0 in .* needs the next one$",
        ),
        ({"ttl0": {"type": "magic"}}, "Failed to create device 'ttl0': ValueError: Unsupported type"),
        ({"ttl0": {**ttl(0), "class": "Nope"}}, "Failed to create device 'ttl0': .* has no class 'Nope'"),
        ({"ttl0": {**ttl(0), "arguments": {"chan": 1}}}, "Failed to create device 'ttl0': TypeError: .*'chan'"),
        (
            {"ttl0": {**ttl(0), "arguments": {"chanel": 1}}},
            "'ttl0': TypeError: TTLOut has no argument 'chanel'; it has channel, core_device$",
        ),
        ({"ttl0": {**ttl(0), "arguments": {"channel": "0"}}, "core": {"type": "dummy"}}, "is a number, not '0'"),
        ({"ttl0": {"class": "TTLOut"}}, "Unsupported type in device DB: None; there are local, "),
        ({"ttl0": ttl(0)}, "Failed to create device 'ttl0': the device 'core' is not in"),
        (
            {"ttl0": {**ttl(0), "class": "TTLOut", "arguments": {"channel": 0, "core_device": 3}}},
            "Failed to create device 'ttl0': a device name must be a string, not 3",
        ),
    ],
)
def test_invalid_device_entry_is_rejected(entries, message):
    with pytest.raises(DeviceError, match=message):
        DeviceManager(DeviceDB(entries)).get("ttl0")


def test_devices_are_closed_in_reverse_order():
    closed = []

    class Device:
        def __init__(self, dmgr, name):
            self.name = name

        def close(self):
            closed.append(self.name)

    import sys
    import types

    module = sys.modules["a_driver"] = types.ModuleType("a_driver")
    module.Device = Device
    entry = lambda name: {  # noqa: E731
        "type": "local",
        "module": "a_driver",
        "class": "Device",
        "arguments": {"name": name},
    }
    devices = DeviceManager(DeviceDB({"a": entry("a"), "b": entry("b")}))
    devices.get("a"), devices.get("b")
    devices.close_devices()
    assert closed == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("devices = {}", "does not define a dictionary"), ("1 +", "invalid syntax"), ("\n1/0", ":2: ZeroDivisionError")],
)
def test_invalid_device_database_is_rejected(tmp_path, text, message):
    path = tmp_path / "device_db.py"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        DeviceDB.load(path)


def test_arguments_have_defaults_and_given_values():
    class Exp(api.EnvExperiment):
        def build(self):
            self.setattr_argument("n", api.NumberValue(5, precision=0, step=1))
            self.setattr_argument("f", api.NumberValue(42))
            self.setattr_argument("b", api.BooleanValue(False))
            self.setattr_argument("e", api.EnumerationValue(["x", "y"], "x"))
            self.setattr_argument("p")

    exp = Exp(managers(b=True, p=[1, "a"], f=3))
    assert (exp.n, exp.f, exp.b, exp.e, exp.p) == (5, 3.0, True, "x", [1, "a"])
    assert type(exp.n) is int and type(exp.f) is float
    assert "n" in exp.kernel_invariants
    with pytest.raises(TypeError, match="only be called from build"):
        exp.get_argument("n")
    with pytest.raises(DefaultMissing, match="p=VALUE"):
        Exp(managers())
    with pytest.raises(ValueError, match="argument 'b' = 1: Invalid BooleanValue value"):
        Exp(managers(b=1, p=0))


def test_number_value_is_checked_and_scaled():
    assert api.NumberValue(1, unit="MHz").describe() == {
        "ty": "NumberValue", "default": 1.0, "unit": "MHz", "scale": 1e6, "step": 1e5,
        "min": None, "max": None, "precision": 2, "type": "auto",
    }  # fmt: skip
    with pytest.raises(KeyError, match="Unit parsec is unknown"):
        api.NumberValue(1, unit="parsec")
    with pytest.raises(ValueError):
        api.NumberValue(1, type="int")
    with pytest.raises(TypeError):
        api.NumberValue(1, type="complex")
    with pytest.raises(NotImplementedError):
        api.NumberValue([1, 2])


def test_children_share_managers_and_are_prepared():
    prepared = []

    class Part(api.HasEnvironment):
        def build(self, name):
            self.name = name
            self.value = self.get_argument(name, api.NumberValue(1))

        def prepare(self):
            prepared.append(self.name)

    class Exp(api.EnvExperiment):
        def build(self):
            self.first, self.second = Part(self, "a"), Part(self, name="b")

    exp = Exp(managers(b=7))
    exp.prepare()
    assert prepared == ["a", "b"] and exp.children == [exp.first, exp.second] and exp.second.value == 7.0


def test_datasets_are_set_and_read(caplog):
    env = api.HasEnvironment(managers())
    env.set_dataset("x", [1, 2, 3, 4], unit="ms")
    env.mutate_dataset("x", 0, 9)
    env.mutate_dataset("x", (1, 3), [7, 7])
    env.append_to_dataset("x", 5)
    assert env.get_dataset("x") == [9, 7, 7, 4, 5]
    assert env.get_dataset_metadata("x") == {"unit": "ms"}
    env.set_dataset("grid", numpy.zeros((2, 2)))
    env.mutate_dataset("grid", ((0, 1), (0, 2)), 3)
    env.mutate_dataset("grid", (1, (0, 1)), 4)
    assert env.get_dataset("grid").tolist() == [[3, 3], [4, 0]]
    assert env.get_dataset("none", 5) == 5
    with pytest.raises(KeyError, match="Dataset 'none' not found"):
        env.get_dataset("none")
    with pytest.raises(KeyError, match="Cannot mutate nonexistent dataset"):
        env.append_to_dataset("none", 1)
    with pytest.raises(AttributeError, match="Cannot append to dataset 'grid', ndarray: set it as a list"):
        env.append_to_dataset("grid", 1.0)
    env.set_dataset("nowhere", 1, archive=False)
    assert "will not be stored" in caplog.text


def test_broadcast_dataset_is_seen_by_other_runs():
    first = managers()
    second = (first[0], DatasetManager(first[1].ddb), first[2], {})
    a, b = api.HasEnvironment(first), api.HasEnvironment(second)
    a.set_dataset("x", [1], broadcast=True)
    a.append_to_dataset("x", 2)
    assert b.get_dataset("x") == [1, 2] and second[1].archive == {"x": [1, 2]}
    a.set_dataset("x", [1])
    with pytest.raises(KeyError):
        api.HasEnvironment(second).get_dataset("x")


def test_hdf5_file_has_datasets_and_metadata(tmp_path):
    manager = DatasetManager()
    manager.set("scan/result", [1.5, 2.5], {"unit": "V"})
    write_hdf5(tmp_path / "out.h5", manager)
    with h5py.File(tmp_path / "out.h5") as file:
        assert file["datasets/scan/result"][:].tolist() == [1.5, 2.5]
        assert file["datasets/scan/result"].attrs["unit"] == "V"
        assert list(file) == ["archive", "datasets"]


def test_hdf5_writes_unsupported_value_as_text(tmp_path, caplog):
    """No data is lost, and no dataset prevents another from being written."""
    manager = DatasetManager()
    unusual = {
        "settings": {"a": 1},
        "nothing": None,
        "ragged": [[1], [2, 3]],
        "large": 1 << 100,
        "text": "a\0b",
        "object": object,
        "a": 1.5,
        "a/b": 2.5,
        "": 3.5,
    }
    for key, value in unusual.items():
        manager.set(key, value, {"unit": "V", "scale": None})
    manager.set("last", [1, 2], {})
    write_hdf5(tmp_path / "out.h5", manager, {"rid": 3}, {"revision": "abc"})
    with h5py.File(tmp_path / "out.h5") as file:
        found = file["datasets"]
        for key in ("settings", "nothing", "ragged", "large", "text"):
            assert found[key].attrs["text"] == "PYON" and pyon.decode(found[key].asstr()[()]) == unusual[key]
        assert found["object"].attrs["text"] == "repr" and "object" in found["object"].asstr()[()]
        assert (found["a"][()], found["a.b"][()], found["unnamed"][()]) == (1.5, 2.5, 3.5)
        assert found["last"][:].tolist() == [1, 2] and found["a.b"].attrs["scale"] == "None"
        assert file["rid"][()] == 3 and file["provenance/revision"].asstr()[()] == "abc"
    assert caplog.text.count("is stored as text") == 6 and "stored as 'a.b'" in caplog.text


def test_datasets_of_any_name_are_stored_within_their_group(tmp_path):
    manager = DatasetManager()
    names = {
        "/rid": "rid",
        "x/": "x",
        "y//": "y",
        "a/./b": "a/b",
        "./c": "c",
        "d/.": "d",
        "//": "unnamed",
        "../e": "../e",
    }
    for number, key in enumerate(names):
        manager.set(key, number, {"/unit": "V"})
    write_hdf5(tmp_path / "out.h5", manager, {"rid": 3})
    with h5py.File(tmp_path / "out.h5") as file:
        assert {key: file["datasets"][name][()] for key, name in names.items()} == {k: n for n, k in enumerate(names)}
        assert set(file) == {"archive", "datasets", "rid"} and file["rid"][()] == 3
        assert file["datasets/x"].attrs["/unit"] == "V"


def test_interactive_arguments_are_asked_for(monkeypatch, capsys):
    """Prompts repeat until the input is valid; they show the accepted input and the default before the colon."""
    answers, asked = iter(["many", "3", "", "blue", "red", "5:6", "1kHz:2kHz:3"]), []
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt.strip()) or next(answers))
    env = api.HasEnvironment(managers())
    with env.interactive("More") as more:
        more.setattr_argument("a", api.NumberValue())
        more.setattr_argument("b", api.NumberValue(2, unit="us"))
        more.setattr_argument("c", api.EnumerationValue(["red", "green"]))
        more.setattr_argument("d", api.Scannable(default=api.NoScan(1)))
    assert (more.a, more.b, more.c, list(more.d)) == (3.0, 2.0, "red", [1000, 1500, 2000])
    assert asked[:3] == ["a:", "a:", "b (in us: 2us) [2.0]:"] and asked[3] == "c (red, green):"
    printed = capsys.readouterr().out
    assert "not a number" in printed and "one of red, green" in printed and "it is not a scan: A:B:N" in printed


@pytest.mark.parametrize(
    ("processor", "text", "value"),
    [
        (api.NumberValue(), "20us", 2e-5),
        (api.NumberValue(), "-2.5*MHz", -2.5e6),
        (api.NumberValue(), "1e3", 1000.0),
        (api.NumberValue(precision=0, step=1, type="int"), "7", 7),
        (api.StringValue(), "two words", "two words"),
        (api.StringValue(), '"quoted"', "quoted"),
        (api.StringValue(), "5", "5"),
        (api.EnumerationValue(["a", "b"]), "b", "b"),
        (api.BooleanValue(), "true", True),
        (api.BooleanValue(), "False", False),
        (api.PYONValue(), "[1, 2.5]", [1, 2.5]),
        (api.Scannable(), "-50e3:50e3:5", [-50e3, -25e3, 0, 25e3, 50e3]),
        (api.Scannable(), "1us:3us:3", [1e-6, 2e-6, 3e-6]),
        (api.Scannable(), "[3, 1]", [3, 1]),
        (api.Scannable(), "[1kHz, 2.5 kHz, -3]", [1000, 2500, -3]),
        (api.Scannable(), "[]", []),
        (api.Scannable(unit="kHz"), "5MHz", [5e6]),
        (api.NumberValue(unit="photons", scale=1.0), "5us", 5e-6),
        (api.Scannable(), '{"ty": "CenterScan", "center": 0, "span": 2, "step": 1}', [0, -1, 1]),
        # 60 * 1e-6 is less than 0.06 * 1e-3, in floating point.
        (api.NumberValue(max=60 * 1e-6, unit="us"), "0.06ms", 60e-6),
        (api.Scannable(global_max=60 * 1e-6, unit="us"), "0:0.06ms:2", [0, 60e-6]),
    ],
)
def test_typed_arguments_are_converted_by_their_processor(processor, text, value):
    manager = ProcessArgumentManager({"x": text}, typed=True)
    found = manager.get("x", processor)
    assert pytest.approx(list(found) if isinstance(found, api.ScanObject) else found) == value
    assert pyon.decode(pyon.encode(manager.used)) == manager.used


@pytest.mark.parametrize(
    ("processor", "text", "reason"),
    [
        (api.NumberValue(), "5 parsec", "'parsec' is not a unit; use one of"),
        (api.NumberValue(unit="us"), "3MHz", "MHz is no unit for a value in us"),
        (api.Scannable(unit="MHz"), "1MHz:3us:3", "us is no unit for a value in MHz"),
        (api.NumberValue(precision=0, step=1, type="int"), "2.7", "2.7 is not an integer"),
        (api.EnumerationValue(["a", "b"]), "c", "one of a, b"),
        (api.BooleanValue(), "1", "it is true or false"),
        (api.Scannable(), "[1, blue]", "not a number"),
        (api.Scannable(), "[1, true]", "it is not a scan: A:B:N"),
        (api.Scannable(), "[1, 2", "not a number"),
        (api.Scannable(), "1:2:many", "'many' is not a number of points"),
        (api.Scannable(), "1:2", "it is not a scan: A:B:N"),
        (api.Scannable(), "1:2:3:4", "it is not a scan: A:B:N"),
        (api.PYONValue(), "text", "text needs quotes"),
        (api.NumberValue(min=1), "0", "it is below 1$"),
        (api.NumberValue(min=1e-6, max=60e-6, unit="us"), "61us", "it is above 60 us$"),
        (api.NumberValue(max=4), "NaN", "it is not a number that can be compared with its limits"),
        (api.NumberValue(max=4), "1e300", "it is above 4$"),
        (api.Scannable(global_max=90e6, unit="MHz"), "80MHz:91MHz:3", "91 MHz is above 90 MHz$"),
        (api.Scannable(global_min=0), '{"ty": "CenterScan", "center": 1, "span": 4, "step": 1}', "-1 is below 0$"),
        (api.Scannable(global_min=0), "[1, -2, 3]", "-2 is below 0$"),
        (api.Scannable(global_min=0), "-1", "-1 is below 0$"),
    ],
)
def test_wrongly_typed_argument_is_rejected(processor, text, reason):
    with pytest.raises(ArgumentError, match=f"^argument 'x' = {re.escape(text)}: .*{reason}"):
        ProcessArgumentManager({"x": text}, typed=True).get("x", processor)
