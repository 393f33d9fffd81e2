"""The hub's page, typed by a new user in a separate directory: the first ten minutes work as shown."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from tests.support import TIMEOUT
from tests.support.pages import BLOCK, commands, pattern
from tests.support.paths import ROOT
from tests.support.waiting import until

PAGE = (ROOT / "docs" / "hub.md").read_text()
PORTS = (1380, 1381, 1382, 1383, 1390)
"""As on the page: they must be free here."""
STAYS = ("kairos emulate", "kairos hub", "kairos hub watch", "kairos hub log -f")
"""Commands that run until Ctrl-C."""


@pytest.fixture
def typed(tmp_path):
    """`typed(command)` is a process that executes a shell line in the user's directory, and its
    output."""
    for port in PORTS:
        with socket.socket() as attempt:
            try:
                attempt.bind(("127.0.0.1", port))
            except OSError:
                pytest.skip(f"somebody on this machine has the port {port} of the page")
    tools, folder = tmp_path / "tools", tmp_path / "folder"
    tools.mkdir()
    folder.mkdir()
    for name, words in (("kairos", "-m kairos"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        (tools / name).chmod(0o755)
    processes = []

    def start(command):
        output = tmp_path / f"output{len(processes)}"
        with output.open("w") as file:
            process = subprocess.Popen(
                command.split(),
                cwd=folder,
                env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"},
                stdout=file,
                stderr=subprocess.DEVNULL if command == "kairos hub" else subprocess.STDOUT,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        processes.append(process)
        return process, output

    start.folder = folder
    yield start
    for process in reversed(processes):
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT)


def stays(command):
    return command in STAYS or command.startswith(tuple(f"{each} " for each in STAYS if each != "kairos hub"))


def test_commands_of_the_hub_page_work_as_shown(typed):
    seen = 0
    for language, text in BLOCK.findall(PAGE):
        if language == "python":
            name = re.search(r"# (\w+\.py)\n", text)[1]
            (typed.folder / name).write_text(text)
            continue
        for command, lines, _ in commands(text):
            seen += 1
            wanted, (process, output) = pattern(lines), typed(command)
            if stays(command):

                def printed(wanted=wanted, process=process, output=output):
                    return wanted.match(output.read_text()) or process.poll() is not None

                until(printed, output.read_text)
                assert process.poll() is None, output.read_text()
            else:
                assert process.wait(TIMEOUT) == 0, output.read_text()
                assert wanted.fullmatch(output.read_text()), f"$ {command}\n{output.read_text()}"
            if command == "kairos hub":
                until(lambda: " answers" in listed(typed))
    assert seen >= 8


def listed(typed):
    process, output = typed("kairos hub ls")
    process.wait(TIMEOUT)
    return output.read_text()
