"""pytest plugin to test experiments on an emulated device with its bench.

With ``pytest_plugins = ["kairos.testing"]`` in the topmost ``conftest.py``, a test that takes
``bench`` gets its own device with everything wired to it::

    def test_beam_has_the_detuned_frequency(bench):
        bench.run("cool.py", detuning=-10e6)
        assert bench.dds("dds_397").at(5e-6).frequency == pytest.approx(110e6, abs=1)
        assert bench.datasets["counts"] > 10
        assert bench.warnings == []
"""

from pathlib import Path

import pytest

from .. import compat
from .bench import Bench
from .signals import Dac, Dds, Pin, Tone

__all__ = ["Bench", "Dac", "Dds", "Pin", "Tone", "bench", "bench_device_db", "bench_file"]

DATABASE = "device_db.py"

# A test may contain experiments with `from artiq.experiment import *`.
compat.install()


@pytest.fixture
def bench_device_db(request) -> Path:
    """The device database of a test's bench: ``device_db.py`` in the test's directory or the
    nearest parent that has one. Override the fixture to use another."""
    folder = request.path.parent
    for candidate in (folder, *folder.parents):
        if (candidate / DATABASE).is_file():
            return candidate / DATABASE
    raise pytest.UsageError(f"there is no {DATABASE} in {folder} or above it: override the fixture bench_device_db")


@pytest.fixture
def bench_file() -> Path | None:
    """The bench file; None: ``bench.toml`` next to the device database, or else the chips of its
    cards. Override the fixture to use another."""
    return None


@pytest.fixture
def bench(bench_device_db, bench_file):
    """A `Bench`: an emulated device for this test only."""
    with Bench(bench_device_db, bench_file) as made:
        yield made
