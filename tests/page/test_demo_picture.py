"""The last step of `make demo`: a laboratory, its hub and a picture of the page."""

import os
import subprocess
import sys

import pytest

from kairos.scope.tests.chromium import BROWSER
from tests.support import TIMEOUT
from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.processes import processes

SCRIPT = EXAMPLES / "lab" / "page_picture.py"


def demo(folder, **environment):
    """Run the step; returns what it prints."""
    command = [sys.executable, SCRIPT, folder / "lab", folder / "page.png"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=4 * TIMEOUT, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_demo_without_chromium_reports_it_and_names_the_address(tmp_path):
    built("ion")
    said = demo(tmp_path, PATH="/nowhere")
    assert said[0].startswith("no picture of the page: Chromium is not installed")
    assert said[-1] == "then open http://127.0.0.1:1390 in a browser" and len(said) == 3
    assert (tmp_path / "lab" / "repository" / "rabi_flop.py").exists()


@pytest.mark.long
def test_demo_takes_a_picture_and_leaves_no_process(tmp_path):
    built("ion")
    if BROWSER is None:
        pytest.skip("there is no Chromium")
    for _ in range(2):  # the second one in the folder of the first
        said = demo(tmp_path)
        assert said[0] == f"wrote {tmp_path / 'page.png'}: the page during a Rabi flop"
        assert (tmp_path / "page.png").read_bytes()[16:24] == bytes(
            [0, 0, 1440 >> 8, 1440 & 255, 0, 0, 900 >> 8, 900 & 255]
        )
        assert processes(tmp_path) == {}
