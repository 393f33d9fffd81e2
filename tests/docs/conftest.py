"""Shell lines of pages, run with this `kairos`."""

import os
import subprocess
import sys

import pytest

from tests.support import TIMEOUT


@pytest.fixture
def typed(tmp_path):
    """`typed(command, folder)` runs a shell line with this `kairos`."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "kairos").write_text(f'#!/bin/sh\nexec {sys.executable} -m kairos "$@"\n')
    (tools / "kairos").chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}

    def run(command, folder):
        return subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT
        )

    return run
