"""The waveform in the file of a run, `kairos runs diff`, and `kairos runs verify`."""

import json

import h5py
import pytest

from kairos.waveform.stored import unpacked
from tests.support.command import run_kairos
from tests.support.gateware import database
from tests.support.paths import EXAMPLES

BODY = """
    @kernel
    def run(self):
        self.core.reset()
        for i in range(5):
            self.ttl4.pulse(1 * us)
            delay(1 * us)
        self.ttl5.pulse(2 * us)
"""


def stored(kairos, name, body=BODY, *words, **options):
    done = kairos("run", kairos.write(body), "--no-table", "-o", name, *words, **options)
    assert done.returncode == 0, done.stderr
    return kairos.directory / name


def runs(kairos, *words):
    return run_kairos("runs", *words, cwd=kairos.directory)


def test_file_of_a_run_has_the_waveform_of_its_pins(kairos):
    path = stored(kairos, "a.h5", BODY, "--vcd", "a.vcd")
    with h5py.File(path) as file:
        recording = unpacked(file["waveform"])
        assert file["waveform/source"][()] == b"emulator"
    pulses = [pulse for pulse in recording.pulses() if pulse.channel == "ttl4"]
    assert [(pulse.start_ns, pulse.width_ns) for pulse in pulses] == [(2000 * n, 1000) for n in range(5)]


def test_differences_of_two_runs_are_listed_by_channel(kairos):
    stored(kairos, "a.h5")
    stored(kairos, "b.h5", BODY.replace("self.ttl5.pulse", "delay(8 * ns); self.ttl5.pulse"))
    same = runs(kairos, "diff", "a.h5", "a.h5")
    assert same.returncode == 0 and same.stdout == "the waveforms are the same: 12 events\n"
    done = runs(kairos, "diff", "a.h5", "b.h5")
    assert done.returncode == 1 and done.stdout == "ttl5: 2 events from 10 us to 12 us 8 ns later\n"
    found = [json.loads(line) for line in runs(kairos, "diff", "a.h5", "b.h5", "--json").stdout.splitlines()]
    assert found == [
        {"channel": "ttl5", "kind": "moved", "count": 2, "first_ns": 10000, "last_ns": 12000, "shift_ns": 8}
    ]
    (kairos.directory / "c.h5").write_text("nothing")
    wrong = runs(kairos, "diff", "a.h5", "c.h5")
    assert wrong.returncode == 1 and len(wrong.stderr.strip().splitlines()) == 1 and "c.h5" in wrong.stderr


def test_slower_device_has_the_waveform_that_the_twin_predicts(kairos):
    stored(kairos, "twin.h5")
    stored(kairos, "slow.h5", BODY, "--set", "acp_read_latency=60", "--set", "net_latency_ns=300000")
    done = runs(kairos, "diff", "twin.h5", "slow.h5")
    assert done.returncode == 0, done.stdout


def test_kernel_that_names_its_file_verifies_although_it_is_repeated_elsewhere(kairos):
    """What an exception says contains the path of the source."""
    checked = BODY.replace("range(5)", "range(5 if len(self.lengths) < 9 else 1)").replace(
        "1 * us", "self.lengths[i]", 1
    )
    stored(kairos, "a.h5", "    def prepare(self):\n        self.lengths = [1 * us] * 5\n" + checked)
    done = runs(kairos, "verify", "a.h5")
    assert done.returncode == 0 and "the same: 12 events" in done.stdout, done.stdout + done.stderr


def test_run_is_repeated_to_the_bit_from_its_file(kairos):
    path = stored(kairos, "a.h5")
    done = runs(kairos, "verify", "a.h5")
    assert done.returncode == 0, done.stdout + done.stderr
    with h5py.File(path) as file:
        digest = file["provenance/hash"][()].decode()
        assert len(file["provenance/kernels"][()].split()) == 1
    assert f"the same: 12 events of the pins, 0 datasets; hash {digest}" in done.stdout
    again = stored(kairos, "b.h5")
    with h5py.File(again) as file:
        assert file["provenance/hash"][()].decode() == digest
    other = stored(kairos, "c.h5", BODY.replace("range(5)", "range(6)"))
    with h5py.File(other) as file:
        assert file["provenance/hash"][()].decode() != digest


def test_file_that_was_changed_does_not_verify(kairos):
    path = stored(kairos, "a.h5")
    with h5py.File(path, "r+") as file:
        text = file["provenance/experiment"][()].decode()
        del file["provenance/experiment"]
        file["provenance/experiment"] = text.replace("2 * us", "3 * us")
    done = runs(kairos, "verify", "a.h5", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and not found["same"]
    assert "the hash in the file is not that of its content" in found["differences"]
    assert any(line.startswith("ttl5: 1 event at") for line in found["differences"])


@pytest.fixture(scope="module")
def ion(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ion")
    (folder / "bench.toml").write_text((EXAMPLES / "ion" / "bench.toml").read_text())
    return database("ion", folder)


def test_run_with_an_ion_is_repeated_with_the_same_photons(kairos, ion):
    experiment = EXAMPLES / "ion" / "photon_counting.py"
    done = kairos("run", experiment, "shots=5", "--no-table", "-o", "a.h5", device_db=ion)
    assert done.returncode == 0, done.stderr
    with h5py.File(kairos.directory / "a.h5") as file:
        assert any(name.startswith("urukul0") for name in file["waveform/tones"])
    done = runs(kairos, "verify", "a.h5")
    assert done.returncode == 0, done.stdout + done.stderr


CHIPS = """from artiq.experiment import *


class Sets(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("urukul0_cpld")
        self.setattr_device("urukul0_ch0")

    @kernel
    def run(self):
        self.core.reset()
        self.urukul0_cpld.init()
        self.urukul0_ch0.init()
        self.urukul0_ch0.set_att(ATTENUATION)
        self.urukul0_ch0.set(100 * MHz, amplitude=0.5)
        self.urukul0_ch0.sw.on()
"""


def test_state_of_chips_is_stored_shown_and_compared(kairos, ion):
    for name, attenuation in (("a.h5", 10.0), ("b.h5", 12.5)):
        file = kairos.write("", CHIPS.replace("ATTENUATION", str(attenuation)))
        done = kairos("run", file, "--no-table", "-o", name, device_db=ion)
        assert done.returncode == 0, done.stderr
    found = json.loads(runs(kairos, "chips", "a.h5", "--json").stdout)
    assert found["urukul0.ch0.PROFILE7"] & 0xFFFFFFFF == round(100e6 / 1e9 * 2**32)
    assert found["urukul0.ch1.PROFILE7"] & 0xFFFFFFFF == 0
    assert found["urukul0.ATT"] & 0xFF == 255 - round(10 / 0.5) * 4 and found["urukul0.CFG"]
    assert f"{found['urukul0.ATT']:#x}" in runs(kairos, "chips", "a.h5").stdout
    done = runs(kairos, "diff", "a.h5", "b.h5")
    assert done.returncode == 1 and "urukul0.ATT: 0x" in done.stdout and "ch0.PROFILE7" not in done.stdout
    with h5py.File(kairos.directory / "b.h5", "r+") as file:
        file["waveform/chips/values"][0] += 1
    done = runs(kairos, "verify", "b.h5")
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 1 and ": 0x" in done.stdout, done.stdout


def test_file_without_chips_is_refused_in_a_line(kairos):
    stored(kairos, "a.h5")
    done = runs(kairos, "chips", "a.h5")
    assert done.returncode == 1 and "has no state of chips" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


VALUES = """
    def run(self):
        values = {"text": "a\\0é", "texts": ["a", "bé"], "empty": [], "ragged": [[1], [1, 2]], "none": None,
                  "z": 1 + 2j, "big": 2**70, "nested": {"a": [1, float("nan")]}, "nan": [float("nan"), 1.0],
                  "pair": (1, "a"), "flag": True, "object": object(), "bytes": b"a\\0", "": 3, "a": 1, "a/b": 2,
                  "flags": [True, False]}
        for key, value in values.items():
            self.set_dataset(key, value)
        self.set_dataset("local", 1, archive=False)
        self.pulse()

    @kernel
    def pulse(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
"""


def test_datasets_of_all_kinds_and_names_verify(kairos):
    path = stored(kairos, "a.h5", VALUES)
    done = runs(kairos, "verify", "a.h5")
    assert done.returncode == 0 and "the same: 2 events of the pins, 17 datasets" in done.stdout, done.stdout
    with h5py.File(path, "r+") as file:
        del file["datasets/flag"], file["datasets/texts"]
        file["datasets/flag"], file["datasets/texts"] = 1, ["a", "b"]
    done = runs(kairos, "verify", "a.h5")
    assert done.stdout.splitlines() == [f"dataset {name}: not what the run had" for name in ("flag", "texts")]


def test_run_that_was_terminated_is_not_repeated_to_its_end(kairos):
    path = stored(kairos, "a.h5")
    with h5py.File(path, "r+") as file:
        file["provenance/status"] = "terminated"
    done = runs(kairos, "verify", "a.h5")
    assert done.returncode == 1 and len(done.stderr.strip().splitlines()) == 1
    assert "a.h5: its run was terminated" in done.stderr and "kairos replay" in done.stderr


def test_difference_of_runs_reports_other_device_databases(kairos):
    stored(kairos, "a.h5")
    database_file = kairos.directory / "renamed.py"
    database_file.write_text(
        (EXAMPLES / "device_db.py").read_text() + "device_db |= {'cooling': device_db['ttl5'], 'ttl5': 'cooling'}\n"
    )
    path = stored(kairos, "b.h5", device_db=database_file)
    done = runs(kairos, "diff", "a.h5", "b.h5")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines() == ["ttl5: called cooling in the second", "the waveforms are the same: 12 events"]
    assert "the runs had other device databases" in done.stderr
    with h5py.File(path, "r+") as file:
        file["waveform/complete"] = False
    done = runs(kairos, "diff", "a.h5", "b.h5")
    assert "the waveform of the second run ends before the run" in done.stderr
