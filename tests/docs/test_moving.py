"""The page on moving a laboratory: its commands, one after the other, in a folder with what the page says."""

import os
import shutil
import subprocess
import sys

from tests.support import TIMEOUT
from tests.support.gateware import built
from tests.support.pages import BLOCK, commands, pattern
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "moving.md").read_text()
DESCRIPTION = ROOT / "src" / "gateware" / "kairos_gateware" / "description" / "lab.json"
SHUTTER = '''"""An experiment of a laboratory with ARTIQ."""

from artiq.experiment import *


class Shutter(EnvExperiment):
    """Opens a shutter"""

    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_argument("open_time", NumberValue(2 * us, unit="us"), tooltip="how long it is open")

    @kernel
    def run(self):
        self.core.reset()
        for i in range(3):
            self.ttl4.pulse(self.open_time)
            delay(5 * us)
        self.core.wait_until_mu(now_mu())

    def analyze(self):
        self.set_dataset("shutter.opened", [1.0, 2.0, 3.0])
'''


def test_commands_of_moving_page_print_shown_output(tmp_path):
    built("lab")
    folder, tools = tmp_path / "laboratory", tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    (tools / "kairos").write_text(f'#!/bin/sh\nexec {sys.executable} -m kairos "$@"\n')
    (tools / "kairos").chmod(0o755)
    shutil.copy(DESCRIPTION, folder)
    (folder / "shutter.py").write_text(SHUTTER)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    count = 0
    for _, text in BLOCK.findall(PAGE):
        for command, lines, code in commands(text):
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT
            )
            printed = done.stdout + done.stderr
            assert done.returncode == code, f"$ {command}\n{printed}"
            assert pattern(lines).fullmatch(printed), f"$ {command}\n{printed}\nis not\n" + "\n".join(lines)
            count += 1
    assert count >= 9
    assert {"results.h5", "shutter.png", "opened.png"} <= {path.name for path in folder.iterdir()}
