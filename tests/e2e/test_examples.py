"""The experiments of `examples/ion`: each demonstrates its docstring on the virtual ion, with few
shots."""

import pytest

from kairos.testing import Bench
from tests.support.gateware import built
from tests.support.paths import EXAMPLES

ION = EXAMPLES / "ion"

pytestmark = pytest.mark.filterwarnings("error::scipy.optimize.OptimizeWarning")


@pytest.fixture(scope="module")
def database():
    built("ion")
    return ION / "device_db.py"


@pytest.fixture
def run(database, tmp_path):
    """Run an example with a picture, and check that there are no warnings; returns its datasets."""

    def run(name, bench=None, **arguments):
        picture = tmp_path / f"{name}.png"
        with Bench(database, bench and ION / bench) as device:
            device.run(ION / f"{name}.py", figure=str(picture), **arguments)
            assert device.warnings == []
            assert picture.read_bytes().startswith(b"\x89PNG")
            return device.datasets

    return run


def test_photon_counting_example_distinguishes_bright_and_dark(run):
    left = run("photon_counting", shots=30)
    assert sum(left["counts.bright"]) / 30 == pytest.approx(20, abs=3)
    assert left["counts.error"] < 0.05


def test_ramsey_example_contrast_decays_with_the_wait(run):
    left = run("ramsey", shots=30, points=5)
    short, long = left["ramsey.contrast"]
    assert short > 0.75 and 0.25 < long < 0.75, "exp(-2/3) is a half"


def test_spectroscopy_example_finds_the_line(run):
    left = run("spectroscopy", shots=10)
    assert left["line.centre_hz"] == pytest.approx(80e6, abs=10e3)
    assert max(left["line.excitation"]) > 0.7 and min(left["line.excitation"]) < 0.2


def test_feedback_example_brightens_the_ion(run):
    first, second = run("feedback", shots=30)["feedback.dark"]
    assert 0.2 < first < 0.8 and second < 0.15


def test_pulse_train_example_turns_the_ion_fully(run):
    none, full, gone = run("pulse_train", shots=20, most=20, step=10)["train.excitation"]
    assert full > 0.75 and max(none, gone) < 0.35


def test_optimise_example_finds_the_pi_pulse(run):
    assert run("optimise", shots=40)["optimise.length_s"] == pytest.approx(10e-6, abs=2.5e-6)


def test_estimation_example_finds_the_detuning(run):
    left = run("estimation", shots=64)
    assert left["estimation.detuning_hz"] == pytest.approx(3e3, abs=5 * left["estimation.width_hz"])
    assert left["estimation.width_hz"] < 600


def test_fragments_example_scans_length_and_detuning(run):
    none, full, gone = run("fragments", shots=20, points=3, stop=20e-6)["scan.excitation"]
    assert full > 0.75 and max(none, gone) < 0.35
    line = run("fragments", scan="pulse.detuning", start=-200e3, stop=200e3, shots=20, points=3)["scan.excitation"]
    assert line[1] > 0.75 and max(line[0], line[2]) < 0.35


def test_sideband_cooling_example_reduces_the_quanta(run):
    warm, cold = run("sideband_cooling", bench="crystal.toml", shots=10, points=1)["sidebands.quanta"]
    assert cold < 0.35 and warm > 2 * cold


def test_calibrations_follow_one_another(database):
    """Persistent datasets live from one run to the next, and can be preset."""
    with Bench(database) as device:
        with pytest.raises(KeyError, match="calibration.line"):
            device.run(ION / "calibrations.py", "HalfTurn", shots=1)
        device.persistent["calibration.line"] = 80.05e6
        device.run(ION / "calibrations.py", "Line", shots=10)
        assert device.persistent["calibration.line"] == pytest.approx(80e6, abs=15e3)
        assert "excitation" not in device.persistent and "excitation" in device.datasets
        device.run(ION / "calibrations.py", "HalfTurn", shots=10)
        assert device.persistent["calibration.half_turn"] == pytest.approx(10e-6, abs=1.5e-6)
        assert set(device.persistent) == {"calibration.line", "calibration.half_turn"}
