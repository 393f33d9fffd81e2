"""What the manual's first ten minutes show, typed as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support import PATIENCE

MANUAL = Path(__file__).parents[2] / "docs" / "experiments.md"
SECTION = re.compile(r"^## The first ten minutes\n(.*?)^## ", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(block):
    """(command, lines that it prints, exit code) of a console block."""
    for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = entry.rstrip("\n").split("\n")
        code = int(lines.pop()[1:-1]) if lines and re.fullmatch(r"\[\d+\]", lines[-1]) else 0
        yield command, lines, code


def pattern(lines):
    """What the output must be: a line `…` stands for some lines, `…` in a line for some text."""
    parts = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in lines]
    return re.compile("".join(parts) + (r"(?:.*\n)*" if lines and "…" in lines[-1] else ""))


def test_every_command_does_what_the_manual_shows(tmp_path):
    section = SECTION.search(MANUAL.read_text()).group(1)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "kairos").write_text(f'#!/bin/sh\nexec {sys.executable} -m kairos "$@"\n')
    (tools / "kairos").chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    run = 0
    for block in BLOCK.finditer(section):
        language, text = block.groups()
        if language == "python":
            name = re.findall(r"Save this as `(\w+\.py)`", section[: block.start()])[-1]
            (folder / name).write_text(text)
            continue
        for command, lines, code in commands(text):
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
            printed = done.stdout + done.stderr
            assert done.returncode == code, f"$ {command}\n{printed}"
            assert pattern(lines).fullmatch(printed), f"$ {command}\n{printed}\nis not\n" + "\n".join(lines)
            run += 1
    assert run >= 7
    assert {"pins.png", "pins.vcd", "result.h5", "result.png"} <= {path.name for path in folder.iterdir()}
