"""Failures of a run: one clear message, a non-zero exit code, and a device that still runs the next
kernel."""

import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile

import h5py
import pytest

from tests.support import TIMEOUT
from tests.support.command import HEAD, one_line
from tests.support.paths import EXAMPLES
from tests.support.waiting import until
from tests.support.waveforms import pulses_of_vcd

GOOD = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl4.pulse(1 * us)
        self.core.wait_until_mu(now_mu())
        print("good")
"""


@pytest.fixture
def still_works(kairos, device_db):
    """Check after the test that the device of this module still runs a kernel."""
    yield
    done = kairos("run", kairos.write(GOOD, name="good.py"), device_db=device_db)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "good"


def test_underflow_names_channel_and_line(kairos, device_db, still_works):
    done = kairos("run", EXAMPLES / "underflow.py", device_db=device_db)
    assert done.returncode == 1
    *_, last, advice = done.stderr.strip().splitlines()
    assert advice.startswith("  = help: ") and "break_realtime" in advice
    assert done.stderr.count("slack -") == 1
    message = r".*\.RTIOUnderflow: RTIO underflow at \d+ mu, channel 0x0004:ttl4, slack -\d+ mu"
    assert re.fullmatch(message, last), last
    assert "Core Device Traceback:" in done.stderr
    assert re.search(r'File ".*underflow\.py", line 16', done.stderr)
    assert "self.ttl4.off()" in done.stderr


def test_pulses_before_exception_are_shown(kairos):
    done = kairos("run", EXAMPLES / "underflow.py", "--vcd", "a.vcd")
    assert done.returncode == 1
    assert re.search(r"^ttl4 +0 .*stays high$", done.stdout, re.MULTILINE)
    assert (kairos.directory / "a.vcd").exists()


def test_exception_of_rpc_is_shown_with_its_source_line(kairos, device_db, still_works):
    done = kairos.run(
        """
    def ask(self) -> TInt32:
        raise ValueError("the laser is off")

    @kernel
    def run(self):
        self.core.reset()
        self.ask()
""",
        device_db=device_db,
    )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == "ValueError: the laser is off"
    assert 'raise ValueError("the laser is off")' in done.stderr


def test_rpc_result_of_wrong_type_is_rejected(kairos, device_db, still_works):
    done = kairos.run(
        """
    def ask(self) -> TInt32:
        return "three"

    @kernel
    def run(self):
        self.ask()
""",
        device_db=device_db,
    )
    assert done.returncode == 1
    assert "type mismatch: cannot serialize 'three' as int32; returned by Exp.ask" in done.stderr


def test_user_exception_class_is_raised_on_host(kairos, device_db, still_works):
    head = HEAD.replace("class Exp", "class NoIon(Exception):\n    pass\n\n\nclass Exp")
    done = kairos.run(
        """
    def run(self):
        try:
            self.search()
        except NoIon as error:
            print("caught", error)

    @kernel
    def search(self):
        raise NoIon("no ion after {0} tries", 3)
""",
        head=head,
        device_db=device_db,
    )
    assert done.returncode == 0, done.stderr
    assert "caught no ion after 3 tries" in done.stdout


def test_missing_device_is_reported_with_a_suggestion(kairos):
    done = kairos.run(GOOD, head=HEAD.replace('"ttl5"', '"tt15"'))
    one_line(done, "the device 'tt15' is not in the device database")
    assert "did you mean 'ttl5'?" in done.stderr or "did you mean 'ttl1" in done.stderr


def test_syntax_error_is_shown_with_its_line(kairos):
    done = kairos.run("\n    @kernel\n    def run(self):\n        delay(1*us\n")
    assert done.returncode == 1
    assert "not valid Python" in done.stderr and "delay(1*us" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('x = 1 + "a"', ()),
        ("self.ttl4.pulze(1*us)", ("pulze",)),
        ("self.ttl4.pulse(undefined_name)", ("undefined_name",)),
        ("x = {1: 2}", ()),
        ("async def f(): pass", ()),
        ("x = {n: 1 for n in [1]}", ()),
        ("delay(1)", ()),
    ],
)
def test_compile_error_is_shown_with_its_line(kairos, line, words):
    done = kairos.run(f"\n    @kernel\n    def run(self):\n        self.core.reset()\n        {line}\n")
    assert done.returncode == 1
    assert done.stderr.startswith("kairos: the kernel does not compile"), done.stderr
    assert re.search(r"exp\.py:14", done.stderr), done.stderr
    assert line in done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr and "panicked" not in done.stderr


def test_interrupt_ends_endless_kernel(kairos, device_db, still_works):
    process = kairos.start(
        kairos.write(
            """
    @kernel
    def run(self):
        self.core.reset()
        print("running")
        while True:
            pass
"""
        ),
        device_db=device_db,
    )
    assert process.stdout.readline() == "running\n"
    _, errors = kairos.interrupt(process)
    assert process.returncode == 130
    assert errors.strip() == "kairos: interrupted: the connection is closed, and the device stops the kernel"


def test_interrupted_or_failed_run_keeps_results(kairos):
    body = """
    def run(self):
        self.set_dataset("counts", [1, 2, 3])
        self.pulse()

    @kernel
    def pulse(self):
        self.core.reset()
        self.ttl4.pulse(2*us)
        delay(1*ms)
        self.core.wait_until_mu(now_mu())
        print("running")
        END
"""
    files = ("-o", "out.h5", "--vcd", "out.vcd")
    path, found = kairos.write(body.replace("END", "while True: pass")), []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = kairos.start(path, *files)
        assert process.stdout.readline() == "running\n"
        kairos.interrupt(process, number)
        assert process.returncode == 128 + number
        found.append(results(kairos))
    assert found == [([1, 2, 3], 2000)] * 3
    for end in ('raise ValueError("over")', "at_mu(0)\n        self.ttl4.on()"):
        assert kairos.run(body.replace("END", end), *files).returncode == 1
        assert results(kairos) == found[0]
    # Also before there is any kernel.
    early = """
    def run(self):
        self.set_dataset("counts", [4])
        raise ValueError("too early")
"""
    assert kairos.run(early, "-o", "early.h5").returncode == 1
    with h5py.File(kairos.directory / "early.h5") as file:
        assert (
            file["datasets/counts"][:].tolist() == [4]
            and "self.set_dataset" in file["provenance/experiment"].asstr()[()]
        )


def results(kairos):
    """Return the datasets written by a run, and the length of its first pulse."""
    with h5py.File(kairos.directory / "out.h5") as file:
        counts = file["datasets/counts"][:].tolist()
    first, *_ = pulses_of_vcd((kairos.directory / "out.vcd").read_text())["ttl4"]
    for name in ("out.h5", "out.vcd"):
        (kairos.directory / name).unlink()
    return counts, first[1] - first[0]


def test_interrupt_ends_run_and_its_emulator(kairos):
    process = kairos.start(
        kairos.write("\n    @kernel\n    def run(self):\n        print(1)\n        while True: pass\n")
    )
    assert process.stdout.readline() == "1\n"
    _, errors = kairos.interrupt(process)
    assert process.returncode == 130
    # The command's pipes close only when no child holds them: communicate() has returned, so none
    # does.
    done = kairos.run(GOOD)
    assert done.returncode == 0, done.stderr


def test_port_in_use_is_reported_in_one_line(kairos):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = kairos.run(GOOD, "--forward", f"{port}:1380")
    one_line(done, str(port))
    assert "use" in done.stderr


def database(path, address):
    text = (EXAMPLES / "device_db.py").read_text()
    path.write_text(text.replace("emulator://demo", address))
    return path


def test_unresponsive_device_is_reported_in_one_line(kairos, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        done = kairos.run(GOOD, device_db=database(tmp_path / "db.py", address))
    one_line(done, "no answer from the core device at 127.0.0.1")


def test_unreachable_device_is_reported_in_one_line(kairos, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    done = kairos.run(GOOD, device_db=database(tmp_path / "db.py", f"127.0.0.1:{port}"))
    one_line(done, "refuses connections")


@pytest.mark.parametrize("damage", ["cut", "header", "empty", "text"])
def test_corrupt_library_is_rejected_and_next_one_loads(device, damage, kairos, still_works):
    from kairos.errors import ConnectionLost, LoadError
    from kairos.session import Session

    assert kairos("compile", EXAMPLES / "underflow.py", "-o", "kernel.elf").returncode == 0
    library = (kairos.directory / "kernel.elf").read_bytes()
    broken = {
        "cut": library[: len(library) // 2],
        "header": library[:16] + b"\xff" * 36 + library[52:],
        "empty": b"",
        "text": b"not a library at all" * 20,
    }[damage]
    session = Session(device.host, device.port)
    try:
        with pytest.raises(LoadError, match="the core device refused the kernel: .+") as caught:
            session.load(broken)
        assert not isinstance(caught.value, ConnectionLost)
        # The same connection accepts the next library.
        session.load(library)
    finally:
        session.close()


def test_broken_firmware_image_is_reported_by_the_emulator(kairos):
    """A broken firmware image: the emulator's message reaches the user."""
    import os
    import shutil

    from tests.support.paths import BUILD

    build = kairos.directory / "build"
    for name in ("emulator/kairos-emulator", "gateware/demo/libkairos_pl.so"):
        (build / name).parent.mkdir(parents=True)
        os.symlink(BUILD / name, build / name)
    (build / "firmware").mkdir()
    (build / "firmware" / "runtime.elf").write_bytes(b"not an image")
    previous = os.environ.get("KAIROS_BUILD")
    os.environ["KAIROS_BUILD"] = str(build)
    try:
        done = kairos.run(GOOD)
    finally:
        if previous is None:
            del os.environ["KAIROS_BUILD"]
        else:
            os.environ["KAIROS_BUILD"] = previous
        shutil.rmtree(build)
    one_line(done, "runtime.elf is not a 32-bit little-endian ARM ELF file")


ENDLESS = """
    @kernel
    def run(self):
        print("running")
        while True:
            pass
"""


def test_stack_overflow_is_reported_with_user_lines(kairos, device_db, still_works):
    done = kairos.run(
        """
    @kernel
    def deeper(self, n):
        if n < 0:
            return 0
        return self.deeper(n + 1) + n

    @kernel
    def run(self):
        print(self.deeper(0))
""",
        device_db=device_db,
    )
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr and "stack overflow" in done.stderr
    assert "return self.deeper(n + 1) + n" in done.stderr, "the traceback shows the user's code"


def test_list_too_long_for_stack_is_reported(kairos, device_db, still_works):
    done = kairos.run(
        """
    def number(self) -> TInt32:
        return 2000000000

    @kernel
    def run(self):
        x = [1.5] * self.number()
        print(len(x))
""",
        device_db=device_db,
    )
    assert done.returncode == 1
    message = "RuntimeError: a list of 2000000000 elements is too long for the stack of a kernel"
    assert done.stderr.strip().splitlines()[-1] == message


def children(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(text) for text in done.stdout.split()]


def test_killed_emulator_is_reported_in_one_line(kairos):
    process = kairos.start(kairos.write(ENDLESS))
    assert process.stdout.readline() == "running\n"
    [emulator] = children(process.pid)
    os.kill(emulator, signal.SIGKILL)
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert errors.startswith("kairos: the emulator ended (signal 9)"), errors


def test_killed_run_leaves_no_process_or_file(kairos, monkeypatch):
    with tempfile.TemporaryDirectory() as temporary:
        monkeypatch.setenv("TMPDIR", temporary)
        process = kairos.start(kairos.write(ENDLESS))
        assert process.stdout.readline() == "running\n"
        [emulator] = children(process.pid)
        process.kill()
        process.communicate(timeout=TIMEOUT)
        until(lambda: not os.path.exists(f"/proc/{emulator}"), lambda: "the emulator outlives its host")
        assert os.listdir(temporary) == []


def test_run_with_long_temporary_path_succeeds(kairos, monkeypatch, tmp_path):
    temporary = tmp_path / ("long" * 30)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    done = kairos.run("""
    @kernel
    def run(self):
        print("runs")
""")
    assert done.returncode == 0 and "runs" in done.stdout, done.stdout + done.stderr


def test_unwritable_standard_output_is_reported(kairos):
    path = kairos.write(GOOD)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            kairos.command("run", path), stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT
        )
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == "kairos: the output cannot be written: No space left on device"
    assert "During handling" not in done.stderr


PRINTS = """
    def run(self):
        self.set_dataset("before", 1)
        print("not written")
        self.print_there()
        self.set_dataset("behind", 2)

    @kernel
    def print_there(self):
        print("nor this", 3)
"""


@pytest.mark.parametrize("buffered", ["", "1"])
def test_experiment_printing_to_full_disk_continues(kairos, buffered):
    """A measurement is worth more than its output: all of it is done and kept, and the failure
    reported at its end."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            kairos.command("run", kairos.write(PRINTS), "-o", "out.h5"),
            cwd=kairos.directory,
            env=os.environ | {"PYTHONUNBUFFERED": buffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT,
        )
    one_line(done, "the output cannot be written: No space left on device")
    with h5py.File(kairos.directory / "out.h5") as file:
        assert (file["datasets/before"][()], file["datasets/behind"][()]) == (1, 2)


def test_closed_output_pipe_ends_run_silently(kairos):
    command = shlex.join(kairos.command("run", kairos.write(PRINTS), "-o", "out.h5"))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} | true"],
        cwd=kairos.directory,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert (done.returncode, done.stderr) == (1, "")
    with h5py.File(kairos.directory / "out.h5") as file:
        assert file["datasets/before"][()] == 1


def test_number_in_device_database_is_rejected(kairos, tmp_path):
    path = tmp_path / "odd.py"
    path.write_text((EXAMPLES / "device_db.py").read_text() + '\ndevice_db["ttl5"] = 5\n')
    one_line(kairos.run(GOOD, device_db=path), "is neither a dictionary nor the name of another entry")


def test_failed_kernel_does_not_block_next_run(kairos):
    done = kairos.run(
        """
    def text(self) -> TStr:
        return "\\ud800"

    @kernel
    def ask(self):
        print(self.text())

    @property
    def setting(self):
        return 1

    @setting.setter
    def setting(self, value):
        raise ValueError("read only")

    @kernel
    def write(self):
        self.setting += 1

    @kernel
    def good(self):
        print("good")

    def run(self):
        for kernel in (self.ask, self.write):
            try:
                kernel()
            except Exception as error:
                print(type(error).__name__, error)
            self.good()
"""
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("RPCReturnValueError type mismatch: cannot serialize '\\ud800' as str")
    assert "half a surrogate pair" in lines[0] and lines[2] == "ValueError read only"
    assert lines[1] == lines[3] == "good"
