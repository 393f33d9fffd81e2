"""Waveforms that the twin predicts for the runs of a laboratory, in their files."""

import re

import h5py
import pytest

from kairos import emulator
from kairos.contracts import session
from tests.support.command import run_kairos
from tests.support.gateware import built
from tests.support.laboratory import Laboratory
from tests.support.paths import EXAMPLES
from tests.support.waiting import until

SETTINGS = """
[rehearsal]
default = "warn"
pipelines = { night = "off" }
"""
PULSES = """from artiq.experiment import *
from timing import length


class Pulses(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_argument("gap", NumberValue(1e-6, unit="us"))

    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(self.width)
        delay(self.gap)
        self.ttl4.pulse(self.width)

    def prepare(self):
        self.width = length * self.get_dataset("scale", 1.0)


class Fails(Pulses):
    def analyze(self):
        raise ValueError("of the user")


class Host(EnvExperiment):
    def run(self):
        self.set_dataset("n", 1)
"""


def laboratory(folder, settings=SETTINGS, device_db=None):
    built("demo")
    made = Laboratory(folder, settings, device_db or (EXAMPLES / "device_db.py").read_text())
    (folder / "repository" / "day").mkdir()
    (folder / "repository" / "day" / "pulses.py").write_text(PULSES)
    (folder / "repository" / "timing.py").write_text("length = 1e-6\n")
    return made.start()


@pytest.fixture
def lab(tmp_path):
    made = laboratory(tmp_path)
    yield made
    made.close()


def ran(lab, pipeline="main", name="Pulses", **arguments):
    rid = lab.submit({**lab.expid(name, **arguments), "file": "day/pulses.py"}, pipeline)
    lab.ends(rid)
    return rid


def said(path, name):
    with h5py.File(path) as file:
        return file[name].asstr()[()] if name in file else None


def predicted(lab, rid):
    """Return the file of a run, once its waveform is predicted."""
    path = lab.file_of(rid)
    until(lambda: said(path, "waveform/source") is not None, lambda: (lab.folder / "output").read_text())
    return path


def runs(lab, *words):
    return run_kairos("runs", *map(str, words), "--lab", str(lab.folder))


def test_run_gets_the_predicted_waveform_and_is_verified(lab):
    one, other = ran(lab), ran(lab, gap=1.8e-6)
    path = predicted(lab, one)
    assert said(path, "waveform/source") == "twin" and said(path, "provenance/status") == "completed"
    assert said(path, "provenance/imported/timing.py") == "length = 1e-6\n"
    predicted(lab, other)
    done = runs(lab, "diff", one, other)
    assert done.stdout == "ttl4: 2 events from 2 us to 3 us 800 ns later\n", done.stdout + done.stderr
    done = runs(lab, "verify", one)
    assert done.returncode == 0 and f"hash {said(path, 'provenance/hash')}" in done.stdout, done.stdout + done.stderr
    assert "the same: 4 events of the pins, as predicted" in done.stdout
    assert not list((lab.folder / ".kairos" / "predictions").iterdir())


def test_prediction_has_the_parameters_and_sources_of_the_run(lab):
    lab.set_dataset("scale", 2.0, True)
    rid = ran(lab, name="Fails")
    lab.set_dataset("scale", 3.0, True)
    (lab.folder / "repository" / "timing.py").write_text("length = 5e-6\n")
    path = predicted(lab, rid)
    assert "ValueError" in said(path, "waveform/failure")
    done = runs(lab, "verify", rid)
    assert done.returncode == 0, done.stdout + done.stderr
    later = ran(lab)
    predicted(lab, later)
    done = runs(lab, "diff", rid, later)
    assert "from 3 us" in done.stdout or "2 us" in done.stdout, done.stdout
    assert said(path, "provenance/hash") != said(lab.file_of(later), "provenance/hash")


def test_run_without_rehearsals_or_kernels_has_only_its_hash(lab):
    night, host = lab.file_of(ran(lab, "night")), lab.file_of(ran(lab, name="Host"))
    until(lambda: not list((lab.folder / ".kairos" / "predictions").glob("*.json")))
    for path in (night, host):
        assert said(path, "provenance/hash") and said(path, "waveform/source") is None
    assert said(night, "provenance/kernels") and said(night, "provenance/gateware")
    for words in (["diff", night, host], ["verify", night]):
        done = runs(lab, *words)
        assert done.returncode == 1 and re.fullmatch("kairos: .* has no waveform: .*\n", done.stderr), done.stderr


def test_setting_predicts_runs_that_are_not_rehearsed(tmp_path):
    lab = laboratory(tmp_path, "[rehearsal]\nwaveforms = true\n")
    try:
        path = predicted(lab, ran(lab))
        assert said(path, "waveform/source") == "twin"
    finally:
        lab.close()


def test_prediction_is_made_by_the_next_laboratory(lab):
    rid = ran(lab)
    path = lab.file_of(rid)
    lab.kill()
    assert said(path, "waveform/source") is None
    lab.start()
    predicted(lab, rid)


def test_run_on_another_device_is_compared_with_its_twin(tmp_path):
    settings = {"acp_read_latency": "60", "net_latency_ns": "300000"}
    device = emulator.Emulator("demo", emulator.Options(forward={session.PORT: 0}, settings=settings))
    text = (EXAMPLES / "device_db.py").read_text()
    try:
        device.wait_ready()
        hardware = text.replace("emulator://demo", f"127.0.0.1:{device.port(session.PORT)}")
        assert hardware != text
        lab = laboratory(tmp_path, f'{SETTINGS}twin = "emulator://demo"\n', hardware)
        try:
            rid = ran(lab)
            path = predicted(lab, rid)
            assert said(path, "waveform/url") == "emulator://demo" and said(path, "provenance/firmware") is None
            done = runs(lab, "verify", rid)
            assert done.returncode == 0, done.stdout + done.stderr
        finally:
            lab.close()
    finally:
        device.stop()
