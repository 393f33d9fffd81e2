"""Stub packages for editors: they say what the import hook provides, and editors find them."""

import subprocess
import sys
from pathlib import Path

import pytest

from kairos.compat.stubs import stubs
from tests.support import TIMEOUT

ROOT = Path(__file__).parents[2]
PACKAGES = ("artiq-stubs", "sipyco-stubs")


def test_stubs_agree_with_table():
    found = {
        path.relative_to(ROOT / "src").as_posix(): path.read_text()
        for package in PACKAGES
        for path in (ROOT / "src" / package).rglob("*.pyi")
    }
    assert found == stubs(), "run: python -m kairos.compat.stubs src"


def test_wheel_contains_all_stub_packages():
    text = (ROOT / "pyproject.toml").read_text()
    assert all(f'"{package}"' in text for package in PACKAGES)


@pytest.mark.parametrize(
    "code, expected",
    [
        ("from artiq.experiment import *\nEnvExp", "EnvExperiment"),
        ("from artiq.coredevice.ad9910 import AD9910\nAD9910.frequency_to_f", "frequency_to_ftw"),
        ("import artiq.coredevice.urukul as u\nu.CPL", "CPLD"),
        ("import artiq.", "experiment"),
        ("from artiq.coredevice.t", "ttl"),
        ("from artiq.master.worker_db import DatasetM", "DatasetManager"),
        ("from sipyco.pc_rpc import simple_s", "simple_server_loop"),
        ("from artiq.language import environment\nenvironment.HasEnv", "HasEnvironment"),
    ],
)
def test_editor_completes_names_of_artiq(code, expected):
    import jedi

    script = jedi.Script(code, path=str(ROOT / "scratch.py"))
    assert expected in [completion.name for completion in script.complete()]


def test_notebook_imports_artiq_after_loading_extension():
    cells = "%load_ext kairos\nfrom artiq.experiment import *\nprint(EnvExperiment.__module__)\n"
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--quick", "--no-confirm-exit"],
        input=cells, capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert "kairos.experiment.environment" in done.stdout, done.stdout + done.stderr
