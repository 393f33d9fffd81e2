"""Signals that end a command: when they are raised."""

import subprocess
import sys
import textwrap

import pytest

from tests.support import TIMEOUT

PROGRAM = """
import os, signal, sys, time
from kairos.cli import signals

for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # which `nohup`, or a shell's `&`, have had ignored
    signal.signal(getattr(signal, name), signal.SIG_DFL)

sys.path.insert(0, sys.argv[1])
signals.end_orderly()
if sys.argv[2] == "library":
    signals._arrivals.libraries += (sys.argv[1],)
try:
    import slow
    while True:
        time.sleep(0.01)
except signals.Terminated as error:
    print(error.number, os.environ.get("PASSED"))
"""
SLOW = """
import os, signal, time

os.kill(os.getpid(), signal.{name})
end = time.monotonic() + {seconds}
while time.monotonic() < end:
    pass
os.environ["PASSED"] = "whole"
"""


def ended(folder, kind, name="SIGTERM", seconds=0.1):
    """Return what a program prints that is signalled while it imports a module of this kind."""
    (folder / "slow.py").write_text(textwrap.dedent(SLOW).format(name=name, seconds=seconds))
    command = [sys.executable, "-c", PROGRAM, str(folder), kind]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT).stdout.split()


@pytest.mark.parametrize("name, number", [("SIGINT", "2"), ("SIGTERM", "15"), ("SIGHUP", "1")])
def test_signal_while_library_is_imported_waits_for_its_end(tmp_path, name, number):
    assert ended(tmp_path, "library", name) == [number, "whole"]


def test_signal_while_library_does_not_end_its_import_is_raised(tmp_path):
    assert ended(tmp_path, "library", seconds=1e6) == ["15", "None"]


def test_signal_while_a_file_of_the_user_is_imported_is_raised_at_once(tmp_path):
    assert ended(tmp_path, "own file", seconds=1e6) == ["15", "None"]


EARLY = """
import importlib.abc, os, signal, sys

class Signals(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "kairos.cli.candidates":
            os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, signal.SIG_DFL)
sys.meta_path.insert(0, Signals())
sys.argv = ["kairos", "run", "none.py", "-o", "none.h5"]
from kairos.cli import main
sys.exit(main())
"""


def test_signal_while_command_is_imported_names_missing_files(tmp_path):
    done = subprocess.run([sys.executable, "-c", EARLY], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 143
    assert done.stderr == "kairos: interrupted\nkairos: the run had not begun, so -o none.h5 is not written\n"
