"""Runs that are ended by signals, however many and at whatever time: what was asked for is written, or named as not
written."""

import os
import signal
import time

import h5py
import pytest

from kairos.emulator import Emulator
from kairos.errors import EmulatorError

FILES = {"-o": "out.h5", "--vcd": "out.vcd", "--scope": "out.html", "--plot": "out.png"}
OPTIONS = [word for each in FILES.items() for word in each]
BODY = """
    def run(self):
        self.set_dataset("counts", [1, 2, 3])
        self.pulses()

    @kernel
    def pulses(self):
        self.core.reset()
        for i in range(3):
            self.ttl4.pulse(2*us)
            delay(1*us)
        self.core.wait_until_mu(now_mu())
        print("running")
        while True:
            pass
"""


def missing(kairos, error):
    """Return the files that are neither written nor named on standard error; removes those written."""
    found = []
    for option, name in FILES.items():
        path = kairos.directory / name
        if not (path.exists() or f"{option} {name}" in error):
            found.append(option)
        path.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_second_signal_loses_no_file(kairos, number):
    process = kairos.start(kairos.write(BODY), *OPTIONS)
    assert process.stdout.readline() == "running\n"
    for _ in range(3):
        process.send_signal(number)
        time.sleep(0.02)
    said, error = kairos.interrupt(process, number)
    assert process.returncode == 128 + number, error
    assert "Traceback" not in error
    with h5py.File(kairos.directory / "out.h5") as file:
        assert file["datasets/counts"][:].tolist() == [1, 2, 3]
    assert all((kairos.directory / name).exists() for name in FILES.values()), error
    assert all(f"wrote {name}" in said for name in FILES.values()), said


@pytest.mark.parametrize("after_s", [0.3, 0.5, 0.8, 1.2, pytest.param(2.0, marks=pytest.mark.long)])
def test_early_signal_loses_no_file_silently(kairos, after_s):
    process = kairos.start(kairos.write(BODY), *OPTIONS)
    time.sleep(after_s)
    _, error = kairos.interrupt(process)
    # Before our code starts, Python handles Ctrl-C.
    if "kairos: " in error:
        assert process.returncode == 130 and missing(kairos, error) == [], error


def test_later_signal_skips_pictures_and_names_them(kairos):
    """A user who waits for a picture may change their mind; the data are written first."""
    slow = BODY.replace(
        "    def run(self):",
        "    def run(self):\n        from kairos.waveform import plot\n        "
        "import time\n        plot.windows = lambda *_: print('drawing', flush=True) or time.sleep(1e6)",
        1,
    )
    process = kairos.start(kairos.write(slow), *OPTIONS)
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    while "drawing" not in (line := process.stdout.readline()):
        assert line, "it has ended"
    time.sleep(1.1)  # within a second it would be the same wish
    _, error = kairos.interrupt(process)
    assert process.returncode == 130
    assert "--plot out.png is not written: interrupted" in error, error
    assert missing(kairos, error) == []


def test_interrupted_request_leaves_connection_usable():
    """The reply to it arrives later, and is no reply to the next request."""
    emulator = Emulator("demo")
    try:
        emulator.wait_ready()

        def raise_(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, raise_)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            emulator.control.request("wait", **{"for": "time", "time_ns": 10**18}, timeout_ms=1000)
        signal.signal(signal.SIGALRM, before)
        assert emulator.control.status()["time_ns"] > 0
        assert "text" in emulator.control.request("uart")
    finally:
        emulator.stop()


def test_stopped_emulator_is_reported_and_working_one_is_not():
    emulator = Emulator("demo")
    try:
        emulator.wait_ready()
        emulator.control.timeout = 0.3
        os.kill(emulator.pid, signal.SIGSTOP)
        with pytest.raises(EmulatorError, match="does not answer"):
            emulator.control.status()
    finally:
        os.kill(emulator.pid, signal.SIGCONT)
        emulator.stop()
