"""The example of shaped pulses: an ion driven by a pulse core. The stated output of its converters
equals the core's samples, and rotates the ion."""

import sys

import numpy as np
import pytest

from kairos.pulse import Recording
from kairos.testing import Bench
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

FOLDER = EXAMPLES / "shaped"
LATENCY_NS = 128
"""From the engines' output to the converters' connectors, 16 cycles."""
HELD_DB = -0.092
"""Sample-and-hold attenuation of an 80 MHz tone at 1 ns per sample: 20 log10(sin(x)/x), x = 0.08
pi."""


@pytest.fixture(scope="module")
def database():
    built("pulse")
    return FOLDER / "device_db.py"


def test_ion_rotation_equals_the_area_of_the_pulse(database, tmp_path):
    picture = tmp_path / "shaped.png"
    with Bench(database) as bench:
        made = bench.run(FOLDER / "shaped_rabi.py", points=8, shots=40, figure=str(picture))
        assert bench.warnings == []
        expected = sys.modules[type(made).__module__].expected
        wanted = np.array([expected(peak) for peak in made.peaks])
        errors = np.sqrt(np.maximum(wanted * (1 - wanted), 0.02) / 40)
        assert np.abs((bench.datasets["excitation"] - wanted) / errors).max() < 4
        assert wanted.max() > 0.9
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_entangling_example_reaches_its_fidelity(database, tmp_path):
    picture = tmp_path / "parity.png"
    with Bench(database, FOLDER / "crystal.toml") as bench:
        bench.run(FOLDER / "entangling.py", points=8, shots=30, figure=str(picture))
        assert bench.warnings == []
        none, one, both = bench.datasets["populations"][0]
        assert one <= 0.1 and 0.2 < none < 0.8, "after the gate alone none or both are bright"
        assert bench.datasets["contrast"] > 0.85
        assert bench.datasets["fidelity"] > 0.9
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_stated_tones_equal_the_samples(database, tmp_path):
    """To 0.1 % of full scale, at each nanosecond of a pulse."""
    with Bench(database) as bench:
        bench.run(FOLDER / "shaped_rabi.py", points=2, shots=1)
        rows = bench.device.control.request("tones", part="pulse0_out0", output=0)["tones"]
        recording = Recording.of(bench.device)
        reply = bench.device.control.request("pulses", path=str(tmp_path / "words"))
        origin_ns = reply["origin_ns"]
        assert bench.dds("pulse0_out0.tone0").changes[-1].power is None, "it ends"
    # Of two shots, the first has amplitude 0.
    begin, end = rows[0][0], rows[-1][0]
    assert 5990 <= end - begin <= 6010 and len(rows) > 500
    at = begin - LATENCY_NS - origin_ns
    samples = recording.samples(0, at, at + end - begin) / 32767
    times = np.array([row[0] for row in rows])
    expected = np.zeros(end - begin)
    for number, (start, hz, dbm, turns) in enumerate(rows[:-1]):
        ns = np.arange(start, times[number + 1])
        amplitude = 10 ** ((dbm - 10 - HELD_DB) / 20)
        expected[ns - begin] = amplitude * np.cos(2 * np.pi * (turns + hz * (ns - start) * 1e-9))
    assert np.abs(samples).max() > 0.9
    assert np.abs(expected - samples).max() < 1e-3


def test_clocked_run_gives_the_same_tones(kairos, database):
    counts = []
    for options in [(), ("--no-skip",)]:
        done = kairos("run", FOLDER / "shaped_rabi.py", "points=2", "shots=2", *options, device_db=database)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "standard errors from the expected curve" in done.stdout
        counts.append(done.stdout.split("kernel compiled")[0])
    assert counts[0] == counts[1]
