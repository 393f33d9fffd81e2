"""Runs of the real command: a child process, with the emulator that it starts itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kairos_gateware import build

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
BUILD = Path(os.environ.get("KAIROS_BUILD") or ROOT / "build")
ARTIFACTS = ("emulator/kairos-emulator", "firmware/runtime.elf", "gateware/demo/libkairos_pl.so")

HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")

"""


class Kairos:
    """`kairos(...)` runs the command in a directory of its own; `source(body)` is the text of an experiment."""

    def __init__(self, directory):
        self.directory = directory

    def command(self, *arguments, device_db=EXAMPLES / "device_db.py"):
        return [sys.executable, "-m", "kairos", *map(str, arguments), "--device-db", str(device_db)]

    def __call__(self, *arguments, timeout=60, **options):
        return subprocess.run(
            self.command(*arguments, **options), cwd=self.directory, capture_output=True, text=True, timeout=timeout
        )

    def run(self, body, *arguments, head=HEAD, **options):
        """Run an experiment whose methods are `body` (indented by four)."""
        return self("run", self.write(body, head), *arguments, **options)

    def write(self, body, head=HEAD, name="exp.py"):
        path = self.directory / name
        path.write_text(head + body)
        return path

    def start(self, path, **options):
        """Start a run and return the process, its standard output a pipe. Ctrl-C reaches it also where the tests
        themselves run in the background of a shell, which ignores it."""
        return subprocess.Popen(
            self.command("run", path, **options),
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def interrupt(self, process):
        """Ctrl-C; returns standard output and error."""
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()  # else the endless kernel outlives the test
            raise


@pytest.fixture
def kairos(tmp_path):
    missing = [name for name in ARTIFACTS if not (BUILD / name).exists()]
    if missing:
        pytest.fail(f"not built: {', '.join(missing)} in {BUILD}. Run `make build` first.", pytrace=False)
    return Kairos(tmp_path)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The device database of the gateware variant `lab`, which is built if it is not up to date."""
    output = BUILD / "gateware" / "lab"
    assert build.main(["--variant", "lab", "--board", "sim", "--output", str(output)]) == 0
    path = tmp_path_factory.mktemp("lab") / "lab_db.py"
    path.write_text((output / "device_db.py").read_text().replace("'emulator://'", "'emulator://lab'"))
    return path


@pytest.fixture
def device_db(device, tmp_path):
    """A device database whose core is the device of this test module, which outlives a run."""
    path = tmp_path / "device_db.py"
    text = (EXAMPLES / "device_db.py").read_text()
    assert '"emulator://demo"' in text
    path.write_text(text.replace('"emulator://demo"', f'"{device.host}:{device.port}"'))
    return path


def one_line(done, text, code=1):
    """The run failed with one line that contains `text`."""
    assert done.returncode == code, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("kairos: "), done.stderr
    assert text in lines[0], done.stderr
