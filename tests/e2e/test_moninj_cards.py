"""`kairos moninj watch` on cards: the data sent on their buses, in MHz and volts, and what their ADCs have measured, on
the gateware `lab`."""

import json
import subprocess
import sys

import pytest

from kairos.contracts import moninj, session
from kairos.devices import DeviceDB
from kairos.emulator import Emulator, Options
from tests.support import TIMEOUT
from tests.support.command import one_line
from tests.support.gateware import built

ZOTINO = """
device_db["zotino0"] = {
    "type": "local",
    "module": "artiq.coredevice.zotino",
    "class": "Zotino",
    "arguments": {"spi_device": "dio_spi0", "ldac_device": "ttl16"},
}
"""
HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        for name in ["core", "urukul0_ch1", "urukul0_ch3", "zotino0", "fastino0", "ttl4"]:
            self.setattr_device(name)

"""
BODY = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.output()
        delay(1*us)
        self.ttl4.on()
        self.urukul0_ch1.set(80*MHz, profile=2)
        self.urukul0_ch3.set(123.456789*MHz)
        self.urukul0_ch3.set_att(3.0)
        self.zotino0.init(blind=True)
        delay(100*us)
        self.zotino0.set_dac([1.25, -2.5], [3, 31])
        delay(10*us)
        self.fastino0.set_group(4, [1.0, 2.0, 3.0, 4.0])
        self.core.wait_until_mu(now_mu())
"""


@pytest.fixture(scope="module")
def lab_device(start_device, tmp_path_factory):
    device = start_device(tmp_path_factory.mktemp("lab"), gateware=built("lab") / "libkairos_pl.so")
    yield device
    device.close()


@pytest.fixture
def database(lab_device, lab, tmp_path):
    path = tmp_path / "device_db.py"
    text = lab.read_text().replace("'emulator://lab'", f"'{lab_device.host}:{lab_device.port}'")
    path.write_text(text + ZOTINO)
    return path


def watching(port, database):
    """The command on a device whose monitor has this port."""

    def run(*words):
        command = [sys.executable, "-m", "kairos", "moninj", "--device", f"127.0.0.1:{port}"]
        command += ["--device-db", str(database), "watch", *words, "--for", "0.1"]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)

    return run


@pytest.fixture
def watch(lab_device, database):
    return watching(lab_device.ports[1383], database)


def test_settings_of_cards_are_shown_in_their_units(kairos, database, watch):
    done = watch("urukul0_ch1", "zotino0:3")
    assert (done.stdout, done.stderr) == ("urukul0_ch1: 0 MHz\nzotino0:3: -10.0000 V, or nothing was written yet\n", "")
    done = kairos.run(BODY, head=HEAD, device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    done = watch("urukul0_ch0", "urukul0_ch1", "urukul0_ch3", "zotino0:3", "zotino0:31", "fastino0:7", "ttl4")
    lines = dict(line.split(": ") for line in done.stdout.splitlines())
    assert lines.pop("urukul0_ch3").startswith("123.456789")
    assert lines == {
        "urukul0_ch0": "0 MHz",
        "urukul0_ch1": "80 MHz",
        "zotino0:3": "1.2500 V",
        "zotino0:31": "-2.5000 V",
        "fastino0:7": "3.9999 V",
        "ttl4": "1",
    }
    reports = [json.loads(line) for line in watch("urukul0_ch1", "zotino0", "--json").stdout.splitlines()]
    assert len(reports) == 33
    assert reports[0]["value"] == round(80e6 / 1e9 * 2**32) and reports[0]["unit"] == "Hz" and reports[0]["probe"] == 1
    assert reports[0]["quantity"] == pytest.approx(80e6, abs=0.2)
    volts = {each["name"]: each["quantity"] for each in reports[1:]}
    assert volts["zotino0:3"] == pytest.approx(1.25, abs=2e-4) and volts["zotino0:31"] == pytest.approx(-2.5, abs=2e-4)


def test_unmonitored_device_is_rejected_in_one_line(watch):
    one_line(watch("zotino0:32"), "'zotino0:32' has nothing to monitor")
    one_line(watch("urukul0_cpld"), "there is no device 'urukul0_cpld' with a channel")


WIRES = """
[sampler.sampler0]
ch2 = 0.25
ch5 = -3.0
ch7 = 9.5
"""
ADC_HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("sampler0")

"""
AMPLIFIED = """
    @kernel
    def run(self):
        self.core.reset()
        self.sampler0.init()
        self.sampler0.set_gain_mu(2, 1)
        delay(10*us)
        codes = [0] * 8
        self.sampler0.sample_mu(codes)
"""
UNAWARE = """
    @kernel
    def run(self):
        self.core.reset()
        self.sampler0.init()
        volts = [0.0] * 6
        self.sampler0.sample(volts)
        print(volts[0])
"""


@pytest.fixture
def measured(lab, tmp_path):
    """A device with voltages at its Sampler: its database, and the command that watches it."""
    entries = DeviceDB.load(lab).entries
    wires = tmp_path / "wires.toml"
    wires.write_text(WIRES)
    forward = {session.PORT: 0, moninj.PORT: 0}
    device = Emulator("lab", Options(forward=forward, bench=str(wires), entries=entries))
    device.wait_ready()
    path = tmp_path / "device_db.py"
    path.write_text(lab.read_text().replace("'emulator://lab'", f"'127.0.0.1:{device.port(session.PORT)}'"))
    yield path, watching(device.port(moninj.PORT), path)
    device.stop()


def test_voltages_at_a_sampler_are_shown_with_the_gains_of_its_amplifiers(kairos, measured):
    database, watch = measured
    [report] = [json.loads(line) for line in watch("sampler0:5", "--json").stdout.splitlines()]
    assert (report["value"], report["quantity"], report["unit"]) == (0, None, "V")
    assert watch("sampler0:5").stdout == "sampler0:5: nothing was measured yet\n"

    done = kairos.run(AMPLIFIED, head=ADC_HEAD, device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = {f"sampler0:{n}": volts for n, volts in enumerate([0, 0, 0.25, 0, 0, -3.0, 0, 9.5])}
    assert volts_of(watch("sampler0")) == pytest.approx(expected, abs=2e-4)
    assert volts_of(watch("sampler0:2")) == pytest.approx({"sampler0:2": 0.25}, abs=2e-5), "in the steps of the gain"

    # The card keeps its gains; an experiment that does not set them takes them for those of the database.
    done = kairos.run(UNAWARE, head=ADC_HEAD, device_db=database)
    assert float(done.stdout.split()[0]) == pytest.approx(2.5, abs=2e-4), done.stdout + done.stderr
    assert volts_of(watch("sampler0")) == pytest.approx(expected, abs=2e-4)


def volts_of(done):
    lines = dict(line.split(": ") for line in done.stdout.splitlines())
    assert all(text.endswith(" V") for text in lines.values()), done.stdout + done.stderr
    return {name: float(text.removesuffix(" V")) for name, text in lines.items()}
