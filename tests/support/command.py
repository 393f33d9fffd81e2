"""Runs of the real command: a child process, with the emulator it starts itself."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

from . import TIMEOUT
from .paths import EXAMPLES
from .prepared import run

HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")

"""


def killed_after(process: subprocess.Popen, seconds: float) -> threading.Timer:
    """Kill a process after this time, unless that is cancelled: whoever waits for its output gets to the end of it."""
    overdue = threading.Timer(seconds, process.kill)
    overdue.daemon = True
    overdue.start()
    return overdue


def first_line(process: subprocess.Popen) -> str:
    """Return the first line of a process; empty if it ends, or says nothing and is killed."""
    overdue = killed_after(process, TIMEOUT)
    try:
        return process.stdout.readline()
    finally:
        overdue.cancel()


@contextmanager
def bounded(process: subprocess.Popen):
    """Context of a process, which is killed at its end, or when that has not come in time."""
    overdue = killed_after(process, 2 * TIMEOUT)
    with process:
        try:
            yield process
        finally:
            overdue.cancel()
            process.kill()


def heed_signals():
    """Let signals end this process, as the tests' own may ignore them: in the background of a shell, or under nohup."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run_kairos(*words, timeout=TIMEOUT, **options):
    """Run the command with these words only; `options`: for `subprocess.Popen`."""
    return run([sys.executable, "-m", "kairos", *map(str, words)], timeout, **options)


class Kairos:
    """`kairos(...)` runs the command in a separate directory, `run(body)` an experiment with these
    methods."""

    def __init__(self, directory):
        self.directory = directory

    def command(self, *arguments, device_db=EXAMPLES / "device_db.py"):
        return [sys.executable, "-m", "kairos", *map(str, arguments), "--device-db", str(device_db)]

    def __call__(self, *arguments, timeout=TIMEOUT, env=(), **options):
        """Run the command; `env`: additional environment variables."""
        return run(self.command(*arguments, **options), timeout, cwd=self.directory, env={**os.environ, **dict(env)})

    def run(self, body, *arguments, head=HEAD, **options):
        """Run an experiment whose methods are `body` (indented by four spaces)."""
        return self("run", self.write(body, head), *arguments, **options)

    def write(self, body, head=HEAD, name="exp.py"):
        path = self.directory / name
        path.write_text(head + body)
        return path

    def start(self, path, *arguments, **options):
        """Start a run and return the process, with its standard output as a pipe. Signals reach it
        even if the tests themselves run in the background of a shell or under nohup, which ignore
        them. It is killed if it does not end in time."""
        process = subprocess.Popen(
            self.command("run", path, *arguments, **options),
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_signals,
        )
        killed_after(process, 2 * TIMEOUT)
        return process

    def interrupt(self, process, number=signal.SIGINT):
        """Send Ctrl-C, or another signal; returns standard output and error."""
        process.send_signal(number)
        try:
            return process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()  # otherwise the endless kernel would outlive the test
            raise


def one_line(done, text, code=1):
    """Assert that the run failed with one line that contains `text`."""
    assert done.returncode == code, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("kairos: "), done.stderr
    assert text in lines[0], done.stderr
