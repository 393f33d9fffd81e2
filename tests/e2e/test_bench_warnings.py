"""What a bench and its experiments miss of each other: one line each, with the name in bench.toml and what to do."""

from contextlib import suppress
from pathlib import Path

import pytest

from kairos.coredevice.grabber import GrabberTimeoutException
from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import calibrated, written
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

ION = EXAMPLES / "ion"
EXPERIMENT = Path(__file__).with_name("experiments") / "bench_warnings.py"
LIT = (ION / "bench.toml").read_text()


@pytest.fixture(scope="module")
def database():
    built("ion")
    return ION / "device_db.py"


@pytest.fixture
def warnings(database, tmp_path):
    """Run an experiment on a bench; returns its warnings."""

    def run(bench, name="Counting", device_db=database, **arguments):
        file = tmp_path / "bench.toml"
        file.write_text(bench)
        with Bench(device_db, file) as device:
            device.run(EXPERIMENT, name, **arguments)
            return device.warnings

    return run


@pytest.mark.parametrize("name", ["Counting", "Counter"])
def test_detector_that_is_read_gives_no_warning(warnings, name):
    assert warnings(LIT, name) == []


@pytest.mark.parametrize("name", ["Counting", "Counter"])
def test_detector_on_another_pin_than_the_read_one_is_reported(warnings, name):
    """With a TTL input as with a counter."""
    (text,) = warnings(LIT.replace('pin = "ttl0"', 'pin = "ttl2"'), name)
    assert text == (
        "pmt: its pin ttl2 was not read, but ttl0 was, to which nothing is wired: read ttl2, or give pmt the other "
        "pin in bench.toml"
    )


def test_second_input_without_a_detector_is_reported(warnings, database, tmp_path):
    """The detector is read, too, so that it is not on the wrong pin."""
    both = tmp_path / "both.py"
    both.write_text(
        "from artiq.experiment import *\n\n\n"
        "class Both(EnvExperiment):\n"
        "    def build(self):\n"
        "        for name in ('core', 'ttl0', 'ttl1'):\n"
        "            self.setattr_device(name)\n\n"
        "    @kernel\n"
        "    def run(self):\n"
        "        self.core.reset()\n"
        "        self.ttl0.gate_rising(10*us)\n"
        "        self.ttl1.gate_rising(10*us)\n"
    )
    dark = '[photomultiplier.pmt]\npin = "ttl0"\nsees = []\ndark_hz = 500\n'
    cable = '[loopback.cable]\nfrom = "ttl4"\nto = "ttl1"\n'
    for bench, expected in (
        (
            dark,
            [
                "ttl1: it was read, and nothing is wired to its pin, so nothing arrives: give a photomultiplier or "
                'another part this pin in bench.toml (pin = "ttl1")'
            ],
        ),
        (dark + cable, []),
        # Without a detector nobody has said what is connected.
        ("[source.rf]\nhz = 1e6\n", []),
    ):
        file = tmp_path / "bench.toml"
        file.write_text(bench)
        with Bench(database, file) as device:
            device.run(both)
            assert device.warnings == expected


def test_detector_without_a_device_in_the_database_is_reported(warnings, database, tmp_path):
    entries = DeviceDB.load(database).entries
    del entries["ttl2"], entries["ttl2_counter"]
    fewer = written(entries, tmp_path)
    found = warnings(LIT + '[line.mains]\npin = "ttl2"\nhz = 50\n', device_db=fewer)
    assert found == [
        "mains: no device in the device database reads its pin ttl2: add a TTLInOut with channel=2 there, or give "
        "mains another pin in bench.toml"
    ]


def test_ion_without_light_while_it_is_observed_is_reported(warnings):
    """Another channel has the tone, or none."""
    for arguments in ({"light": "urukul0_ch3"}, {"switch": False}):
        (text,) = warnings(LIT, **arguments)
        assert text == (
            "pmt: it was read and ion0 had no light: aom_397 never had a tone from urukul0 ch1; set its tone and "
            "switch, or give aom_397 another tone in bench.toml"
        )
    # No light is needed to count what is dark.
    assert warnings('[photomultiplier.pmt]\npin = "ttl0"\nsees = []\ndark_hz = 500\n', switch=False) == []


def test_unmeasured_photodiode_is_reported_by_name(warnings):
    (text,) = warnings(LIT + '[photodiode.monitor]\nsees = ["aom_397"]\nvolts = 2.0\n')
    assert text.startswith("monitor: nothing measures its voltage: name it at an input in bench.toml")


def test_warning_of_a_run_names_the_line_of_the_gate(kairos, database, tmp_path):
    file = tmp_path / "bench.toml"
    file.write_text(LIT.replace('pin = "ttl0"', 'pin = "ttl2"'))
    done = kairos("run", EXPERIMENT, "-c", "Counting", "--no-table", "--bench", file, device_db=database)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("bench:")]
    number = next(n for n, text in enumerate(EXPERIMENT.read_text().splitlines(), 1) if "gate_end =" in text)
    assert f"ms, bench_warnings.py:{number}: pmt: its pin ttl2 was not read" in line


WATCH = """
[aom.aom_397]
tone = "urukul0.ch1"
centre_hz = 110e6
saturation_dbm = 10.0

[camera.andor]
grabber = "grabber0"
exposure_s = 500e-6
trigger = "ttl4"

[photodiode.monitor]
sees = ["aom_397"]
volts = 2.0

[sampler.sampler0]
ch2 = "monitor"
"""


@pytest.fixture
def watched(lab, tmp_path):
    """Run an experiment of `watch.py`, which may fail, on a bench; returns its warnings."""

    def run(bench, name):
        file = tmp_path / "other.toml"
        file.write_text(bench)
        with Bench(calibrated(lab, tmp_path), file) as made:
            with suppress(GrabberTimeoutException):
                made.run(EXPERIMENT.with_name("watch.py"), name)
            return made.warnings

    return run


def test_triggered_camera_and_measured_photodiode_give_no_warning(watched):
    assert watched(WATCH, "TwoRegions") == watched(WATCH, "Diode") == []


def test_camera_that_is_never_triggered_is_reported(watched):
    (text,) = watched(WATCH.replace('trigger = "ttl4"', 'trigger = "ttl5"'), "TwoRegions")
    assert text == (
        "andor: grabber0 was used, and no edge of ttl5 has triggered the camera: pulse ttl5, or give andor another "
        "trigger in bench.toml"
    )


def test_converter_and_photodiode_without_a_wire_are_reported(watched):
    found = watched(WATCH.replace('ch2 = "monitor"', ""), "Diode")
    assert [text.partition(":")[0] for text in found] == ["monitor", "sampler0"]
    assert found[1] == (
        "sampler0: it has measured, and nothing is wired to its inputs: give them a voltage or a source in bench.toml, "
        "as in ch0 = 1.5"
    )
