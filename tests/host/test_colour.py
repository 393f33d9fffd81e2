"""Diagnostics are coloured only on terminals, unless the environment forbids it."""

import os
import pty
import re
import subprocess
import sys

import pytest

from tests.support.command import HEAD

BODY = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pluse(1 * us)
"""
COLOUR = re.compile(r"\x1b\[[\d;]*m")


def on_terminal(command, directory, **environment):
    """Returns a command's output on a terminal, as text."""
    own, its = pty.openpty()
    with subprocess.Popen(
        command, cwd=directory, stdout=its, stderr=its, env={**os.environ, "TERM": "xterm", **environment}
    ) as process:
        os.close(its)
        said = b""
        try:
            while more := os.read(own, 4096):
                said += more
        except OSError:
            pass  # the other end is closed
        process.wait()
    os.close(own)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("words", [["run"], ["check"], ["compile"]])
def test_diagnostics_are_coloured_only_on_terminals(kairos, words):
    path = kairos.write(BODY, HEAD)
    plain = kairos(*words, path)
    assert not COLOUR.search(plain.stdout + plain.stderr) and "error: " in plain.stdout + plain.stderr
    command = kairos.command(*words, path)
    shown = on_terminal(command, kairos.directory, NO_COLOR="")
    assert "\x1b[1;31merror\x1b[0m: " in shown and "\x1b[1;31m^^^^^\x1b[0m" in shown
    assert "\x1b[36mhelp\x1b[0m: did you mean 'pulse'?" in shown
    for environment in ({"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}):
        assert not COLOUR.search(on_terminal(command, kairos.directory, **environment))
    errors = [line for line in (plain.stdout + plain.stderr).splitlines() if line]
    assert [line for line in COLOUR.sub("", shown).splitlines() if line] == errors


def test_plain_error_has_bold_prefix(tmp_path):
    command = [sys.executable, "-m", "kairos", "devices"]
    assert "\x1b[1mkairos: \x1b[0mthere is no device database" in on_terminal(command, tmp_path, NO_COLOR="")
