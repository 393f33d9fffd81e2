"""`kairos new --bench ion` and `kairos.testing`, as used by a laboratory: in a separate directory,
with pytest."""

import subprocess
import sys

import pytest

from tests.support import TIMEOUT
from tests.support.command import run_kairos
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

TESTS = """
import kairos.errors
import kairos.testing
import pytest
from artiq.experiment import *


class Pulses(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.dds = self.get_device("dds_729")
        self.cpld = self.get_device("urukul0_cpld")
        self.setattr_argument("fails", BooleanValue(False))

    @kernel
    def run(self):
        self.core.reset()
        self.cpld.init()
        self.dds.init()
        self.dds.set_att(10.0)
        self.dds.sw.on()
        self.ttl4.pulse(3 * us)
        self.dds.set(80 * MHz, amplitude=0.5)
        delay(10 * us)
        self.dds.set(81 * MHz, phase=0.25, amplitude=1.0)
        self.set_dataset("sent", 2)
        if self.fails:
            delay(-10 * ms)
            self.ttl4.on()


@pytest.fixture
def bench_device_db(tmp_path):
    path = tmp_path / "device_db.py"
    path.write_text(open(DATABASE).read() + "\\ndevice_db['dds_729'] = 'urukul0_ch0'\\n")
    return path


def test_tones_and_pins_follow_the_experiment(bench):
    assert bench.run(Pulses).fails is False
    (start, end), = bench.pin("ttl4").pulses
    assert end - start == pytest.approx(3e-6)
    assert (bench.pin("ttl4").at(start), bench.pin("ttl4").at(end), bench.pin("ttl5").at(end)) == (1, 0, 0)
    dds = bench.dds("dds_729")
    last = dds.changes[-1]
    assert last.frequency == pytest.approx(81e6, abs=0.2)
    assert last.power == pytest.approx(0.0, abs=1e-3)
    before = dds.at(last.time - 1e-6)
    assert before.frequency == pytest.approx(80e6, abs=0.2)
    assert before.power == pytest.approx(-6.02, abs=0.01)
    assert dds.at(last.time + 1e-6).phase == pytest.approx(last.phase, abs=1e-3), "81 turns"
    assert bench.dds("urukul0.ch0").changes == dds.changes
    assert bench.dds("urukul0_ch1").at(last.time).power is None
    assert bench.part("urukul0_cpld")["ch0"]["attenuation_db"] == 10.0
    assert bench.datasets == {"sent": 2}


def test_exception_of_the_experiment_is_raised_in_the_test(bench):
    with pytest.raises(RTIOUnderflow):
        bench.run(Pulses, fails=True)
    assert bench.datasets == {"sent": 2}, "the test before has left nothing, this one what it had"


def test_unknown_names_are_reported_by_the_fixture(bench):
    bench.run(Pulses)
    for ask in (bench.pin, bench.dds, bench.dac, bench.part):
        with pytest.raises(KeyError, match="nothing"):
            ask("nothing")
    with pytest.raises(KeyError, match="no tone urukul0.ch4; it has urukul0.ch0, urukul0.ch1,"):
        bench.dds("urukul0.ch4")
    with pytest.raises(KeyError, match="no voltage dds_729; it has none"):
        bench.dac("dds_729")
    with pytest.raises(KeyError, match="spi_urukul0 has several pins: spi_urukul0_clk, spi_urukul0_cs0"):
        bench.pin("spi_urukul0")


class Counting(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.setattr_device("ttl4")

    @kernel
    def run(self):
        self.core.reset()
        with parallel:
            self.ttl4.pulse(200 * us)
            end = self.ttl0.gate_rising(200 * us)
        self.set_dataset("counted", self.ttl0.count(end))


class TestInputs:
    @pytest.fixture
    def bench_file(self, tmp_path):
        path = tmp_path / "dark.toml"
        path.write_text("[photomultiplier.pmt]\\npin = 'ttl0'\\ndark_hz = 1e5\\npulse_ns = 30\\n")
        return path

    def test_pulses_made_by_the_bench_are_counted(self, bench):
        for _ in range(2):
            bench.run(Counting)
            ((opens, closes),) = bench.pin("ttl4").pulses
            pulses = bench.pin("ttl0").pulses
            counted = [start for start, _ in pulses if opens <= start < closes]
            assert len(counted) == pytest.approx(bench.datasets["counted"], abs=1) and len(counted) > 5
            assert all(end - start == pytest.approx(30e-9) for start, end in pulses)

    def test_missing_bench_file_is_reported(self, bench_device_db):
        with pytest.raises(kairos.errors.UsageError, match="there is no bench file none.toml"):
            kairos.testing.Bench(bench_device_db, "none.toml")


class TestFaults:
    @pytest.fixture
    def bench_file(self, tmp_path):
        path = tmp_path / "no_clock.toml"
        path.write_text("[urukul.urukul0]\\nmmcx_hz = 0\\n")
        return path

    def test_fault_of_the_wiring_is_reported(self, bench):
        with pytest.raises(ValueError, match="PLL"):
            bench.run(Pulses)
        assert any("ch0: its PLL is on but the card has no clock" in text for text in bench.warnings)
"""


def run_pytest(folder):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)


def test_generated_bench_example_runs_and_its_tests_pass(tmp_path):
    built("ion")
    done = run_kairos("new", "--bench", "ion", "rabi_flop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines()[1:3]:
        words = line.partition("kairos ")[2].split()
        done = run_kairos(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")
    done = run_pytest(tmp_path)
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout
    done = run_kairos("new", "--bench", "ion", "ramsey", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "kairos: bench.toml already exists: a bench needs its own folder\n"


def test_fixtures_provide_signals_and_results_to_user_tests(tmp_path):
    built("ion")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["kairos.testing"]\n')
    database = EXAMPLES / "ion" / "device_db.py"
    (tmp_path / "test_pulses.py").write_text(f"DATABASE = {str(database)!r}\n{TESTS}")
    done = run_pytest(tmp_path)
    assert (done.returncode, "6 passed" in done.stdout) == (0, True), done.stdout


@pytest.mark.parametrize("host", ["emulator://none", "192.168.1.2"])
def test_device_without_emulation_is_reported_by_fixture(tmp_path, host):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["kairos.testing"]\n')
    core = {"type": "local", "module": "artiq.coredevice.core", "class": "Core", "arguments": {"host": host}}
    (tmp_path / "device_db.py").write_text(f"device_db = {{'core': {core!r}}}\n")
    (tmp_path / "test_it.py").write_text("def test_it(bench):\n    pass\n")
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    assert ("there is no gateware 'none'" if "none" in host else "is not emulated") in done.stdout
