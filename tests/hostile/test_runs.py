"""Interrupted, killed and excessive runs: no saved data is lost, and nothing is left behind."""

import os
import random
import resource
import signal
import subprocess
import time

import h5py
import pytest

from tests.support import TIMEOUT
from tests.support.command import one_line, run_kairos
from tests.support.waiting import until


def limited(size):
    """Return options of `subprocess.run` for a process that writes no file larger than `size` bytes, as on a full disk.
    It writes no compiled modules: Python keeps those that are cut off, and later cannot import them."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return {"preexec_fn": limit, "env": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}}


COUNTING = """
    def prepare(self):
        for number in range(5):
            self.set_dataset(f"before.{number}", number, persist=True)

    def report(self, number):
        self.set_dataset("count", number, persist=True)

    @kernel
    def run(self):
        self.core.reset()
        for i in range(2000):
            self.core.break_realtime()
            self.ttl4.pulse(1*us)
            self.report(i)
"""


def datasets(kairos, *words):
    """Runs `kairos datasets` in the folder of the runs."""
    return run_kairos("datasets", *words, cwd=kairos.directory)


@pytest.mark.parametrize("instants", [3, pytest.param(50, marks=pytest.mark.long)])
def test_interrupt_at_any_time_ends_cleanly(kairos, instants):
    rng = random.Random(instants)
    path = kairos.write(COUNTING)
    for number in range(instants):
        output = kairos.directory / f"{number}.h5"
        process = kairos.start(path, "-o", output)
        time.sleep(rng.uniform(0.0, 3.0))
        out, error = kairos.interrupt(process)
        assert process.returncode in (130, -signal.SIGINT, 0), (process.returncode, out, error)
        # Before our code starts, Python handles Ctrl-C.
        assert "Traceback" not in error or "kairos: interrupted" not in error, error
        if output.exists():
            with h5py.File(output) as file:
                names = set(file["datasets"])
            assert "count" not in names or names == {"count", *(f"before.{number}" for number in range(5))}
    done = datasets(kairos, "list")
    assert done.returncode == 0 or "there is no dataset store" in done.stderr, done.stderr


def test_killed_run_keeps_its_persistent_datasets(kairos):
    path = kairos.write(COUNTING)
    process = kairos.start(path)
    until(lambda: "count: " in datasets(kairos, "list").stdout)
    process.kill()
    process.communicate()
    said = datasets(kairos, "list").stdout
    assert "before.0: 0" in said and "before.4: 4" in said, said


def test_full_disk_is_reported_and_old_results_kept(kairos):
    """With files limited to 64 KiB, an error names what does not fit; the rest is written."""
    body = """
    def run(self):
        self.set_dataset("small", 1, persist=True)
        random = __import__("random").Random(1)
        self.set_dataset("large", [random.random() for _ in range(100000)])
"""
    path = kairos.write(body)
    earlier = b"\x89HDF\r\n\x1a\n of an earlier run"
    (kairos.directory / "out.h5").write_bytes(earlier)

    done = subprocess.run(
        kairos.command("run", path, "-o", "out.h5", "-q"),
        cwd=kairos.directory,
        capture_output=True,
        text=True,
        **limited(1 << 16),
        timeout=TIMEOUT,
    )
    assert done.returncode == 1 and done.stderr.startswith("kairos: -o out.h5 cannot be written: "), done.stderr
    assert done.stderr.count("\n") == 1
    assert datasets(kairos, "get", "small").stdout == "1\n"
    assert (kairos.directory / "out.h5").read_bytes() == earlier
    assert sorted(path.name for path in kairos.directory.glob("*.h5*")) == ["out.h5"]


DRAWING = """
    def run(self):
        self.set_dataset("kept", 5)

    def analyze(self):
        import numpy
        from kairos.pictures import drawing, save

        with drawing() as pyplot:
            figure, axes = pyplot.subplots()
            axes.imshow(numpy.random.default_rng(1).random((200, 200)))
            HERE
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("save(figure, 'a.png', dpi=200)", "a.png cannot be written: File too large"),
        ("save(figure, 'a.svg', dpi=200)", "a.svg cannot be written: File too large"),
        ("save(figure, 'a.pdf', dpi=200)", "a.pdf cannot be written: File too large"),
        (
            "save(figure, 'a', dpi=200)",
            "a: the file name of a picture must end with .png, .pdf, .svg, which selects the format",
        ),
        ("figure.savefig('a.png', dpi=200)", "exp.py:LINE: File too large"),
    ],
)
def test_picture_on_full_disk_is_reported(kairos, line, message):
    """With files limited to 32 KiB: one error line, and the datasets are kept."""

    path = kairos.write(DRAWING.replace("HERE", line))
    done = subprocess.run(
        kairos.command("run", path, "-o", "out.h5"),
        cwd=kairos.directory,
        capture_output=True,
        text=True,
        **limited(1 << 15),
        timeout=TIMEOUT,
    )
    one_line(done, message.replace("LINE", str(path.read_text().count("\n"))))
    with h5py.File(kairos.directory / "out.h5") as file:
        assert file["datasets/kept"][()] == 5
    # Ignores files that matplotlib writes for itself
    left = sorted(entry.name for entry in kairos.directory.iterdir())
    assert line.startswith("figure") or left == ["exp.py", "out.h5"], left


LOGGING = """
    def prepare(self):
        self.set_dataset("kept", 5)

    @kernel
    def run(self):
        for number in range(3000):
            core_log("a line of the device's log, which is rather long", number)
"""


def test_log_on_full_disk_is_reported(kairos):
    """Nothing of the log can be written: the run completes, and reports this at its end."""
    done = kairos.run(LOGGING, "--log", "/dev/full", "-o", "out.h5", "--no-table")
    one_line(done, "--log /dev/full cannot be written: No space left on device")
    with h5py.File(kairos.directory / "out.h5") as file:
        assert file["datasets/kept"][()] == 5


def test_failed_run_and_failed_output_are_both_reported(kairos):
    done = kairos.run(
        "    @kernel\n    def run(self):\n        raise ValueError('what went wrong')\n", "--log", "/dev/full"
    )
    assert done.returncode == 1
    assert "what went wrong" in done.stderr and "--log /dev/full cannot be written: " in done.stderr, done.stderr


def test_disk_filled_by_log_is_reported(kairos):
    """The log file is limited to 64 KiB: the run reports at its end what does not fit."""
    limit = """
        import resource
        from kairos.emulator import acquire
        resource.prlimit(acquire("emulator://demo").pid, resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
"""
    body = LOGGING.replace("def prepare(self):\n", "def prepare(self):" + limit)
    done = kairos.run(body, "--log", "log.txt", "-o", "out.h5", "--no-table")
    text = (kairos.directory / "log.txt").read_text()
    one_line(done, f"--log log.txt is incomplete, it ends after {text.count(chr(10)):,} lines: File too large")
    assert (1 << 16) - 200 < len(text) <= 1 << 16 and text.endswith("\n")
    with h5py.File(kairos.directory / "out.h5") as file:
        assert file["datasets/kept"][()] == 5


@pytest.mark.parametrize("kernels", [60, pytest.param(2000, marks=pytest.mark.long)])
def test_thousands_of_consecutive_kernels_run(kairos, kernels):
    body = f"""
    @kernel
    def step(self, number) -> TInt32:
        self.core.break_realtime()
        self.ttl4.pulse(1*us)
        return number + 1

    def run(self):
        number = 0
        for _ in range({kernels}):
            number = self.step(number)
        print("did", number)
"""
    done = kairos.run(body, "--no-table", timeout=20 * TIMEOUT)
    assert done.returncode == 0 and f"did {kernels}" in done.stdout, done.stdout + done.stderr
