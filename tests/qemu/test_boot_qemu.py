"""The firmware on unmodified QEMU: an independent check of everything on the processing system's side.

QEMU models the chip without programmable logic, and contains no code of this project. It starts
core 1 differently from the chip (docs/firmware.md).
"""

import re
import shutil
import subprocess

import pytest

from tests.support.connection import assert_closed
from tests.support.kernels import kernel, run_empty
from tests.support.paths import FIRMWARE
from tests.support.ports import free_port
from tests.support.raw_management import Management
from tests.support.raw_session import SYNC, Session, encode
from tests.support.states import running
from tests.support.waiting import patiently, until

RUNTIME = FIRMWARE / "runtime.elf"
LOG_LINE = re.compile(r"\[ *\d+\.\d{6}s\] +(TRACE|DEBUG|INFO|WARN|ERROR)\([^)]+\): .+")


def why_not():
    """Returns the reason why QEMU cannot be used, or None."""
    program = shutil.which("qemu-system-arm")
    if program is None:
        return "qemu-system-arm is not installed"
    version = re.search(r"version (\d+)", subprocess.run([program, "--version"], capture_output=True, text=True).stdout)
    if version is None or int(version[1]) < 10:
        return f"qemu-system-arm is older than version 10 ({version and version[1]})"
    return None


pytestmark = pytest.mark.skipif(
    why_not() is not None, reason=f"NOT CHECKED ON QEMU: {why_not()} (Debian: in bookworm-backports)"
)


def forward(port, guest):
    return f"hostfwd=tcp:127.0.0.1:{port}-:{guest}"


class Qemu:
    """A running machine: `connect()` returns a greeted session, `uart()` the printed text. `host` and
    `ports` are like an emulated device's, for clients on bare sockets."""

    def __init__(self, directory):
        if not RUNTIME.exists():
            pytest.fail(f"not built: {RUNTIME}. Run `make firmware` first.", pytrace=False)
        self.uart_file = directory / "uart"
        self.host, self.ports = "127.0.0.1", {1380: free_port(), 1381: free_port()}
        self.process = subprocess.Popen(
            ["qemu-system-arm", "-M", "xilinx-zynq-a9", "-smp", "2", "-m", "512", "-nographic", "-monitor", "none"]
            + ["-serial", f"file:{self.uart_file}", "-kernel", str(RUNTIME)]
            + ["-nic", f"user,{','.join(forward(host, guest) for guest, host in self.ports.items())}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def connect(self):
        """Opens a session. QEMU accepts before the guest listens: retries until the greeting is answered."""
        return patiently(lambda: Session(self))

    def uart(self):
        return self.uart_file.read_text() if self.uart_file.exists() else ""

    def wait_for(self, text):
        """Waits until the UART has printed `text`."""
        until(lambda: text in self.uart(), lambda: f"{text!r} was not printed:\n{self.uart()}")

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def qemu(tmp_path_factory):
    machine = Qemu(tmp_path_factory.mktemp("qemu"))
    yield machine
    machine.close()


@pytest.fixture
def session(qemu):
    with qemu.connect() as connection:
        yield connection


def test_banner_names_firmware_and_missing_gateware(qemu, session):
    qemu.wait_for("kernel core ready")
    text = qemu.uart()
    for part in (
        "Kairos runtime ",
        "memory: ",
        "no gateware",
        "network: 10.0.2.15/24",
        "Ethernet link up",
        "XADC gives no readings",
    ):
        assert part in text, text
    for line in text.splitlines():
        assert LOG_LINE.fullmatch(line), line


def test_system_info_request_is_answered_on_qemu(session):
    session.send(3)
    assert session.read(9) == SYNC + b"\x02ARZQ"


def test_core_1_loads_and_runs_kernels(session):
    for _ in range(3):
        run_empty(session)


def test_core_1_rejects_invalid_library(session):
    assert "ELF" in session.load(b"junk")
    run_empty(session)


def test_calls_with_every_type_round_trip_on_qemu(qemu, session):
    """The host replies with the same value, which the kernel sends back once more. (`session`: the guest listens.)"""
    with Session(qemu) as client:
        assert client.load(kernel("rpc")) is None
        client.run()
        sent, returned = {}, {}
        while client.message(7, 10) == 10:
            request = client.request()
            if request.is_async:
                returned[request.service - 200] = request.arguments[0]
                continue
            sent[request.service] = request.arguments[0]
            client.reply(request.tag, encode(request.tag, request.arguments[0])[0])
        assert client.unpack("B") == 0
    assert len(sent) == 21 and sent == returned


def test_exceptions_pass_between_host_and_kernel_on_qemu(qemu, session):
    with Session(qemu) as client:
        assert client.load(kernel("rpc_exception")) is None
        client.run()
        client.message(10)
        assert client.request().arguments == [3]
        client.raise_exception(name=40, message=41, params=(1, -2, 1 << 50))
        requests, exception = client.until_end()
    assert [request.arguments for request in requests] == [[40]]
    assert [(one["id"], one["message"], one["params"]) for one in exception.exceptions] == [(40, 41, (1, -2, 1 << 50))]


def test_management_answers_log_and_configuration_without_card(qemu, session):
    with Management(qemu) as client:
        assert "Kairos runtime " in client.log()
        assert client.config_read(b"ip") is None
        assert client.config_write(b"ip", b"10.0.2.15") is False
        assert client.reply(b"\x02") == 1
        client.write(b"\x04")
        assert_closed(client)
    with Management(qemu) as client:
        assert "malformed input, request of unknown type 4" in client.log()


def test_running_kernel_is_killed_when_its_client_disconnects(qemu):
    with qemu.connect() as session:
        running(session)
    with qemu.connect() as session:
        run_empty(session)


def test_fault_is_reported_and_device_stays_usable(qemu):
    with qemu.connect() as session:
        assert session.load(kernel("undefined")) is None
        session.run()
        _, exception = session.until_end()
    assert "undefined instruction" in exception.exceptions[0]["message"]
    with qemu.connect() as session:
        run_empty(session)


def test_malformed_input_closes_connection_and_next_client_is_served(qemu):
    with qemu.connect() as session:
        session.send(0x5A)
        assert_closed(session)
    qemu.wait_for("malformed input, request of unknown type 90")
    with qemu.connect() as session:
        run_empty(session)


def test_silent_and_invalid_clients_do_not_disturb_others(qemu):
    with qemu.connect() as session:
        silent = Session(qemu, greeting=None)
        with Session(qemu, greeting=None) as wrong:
            wrong.write(b"GET / HTTP/1.1")
            assert_closed(wrong)
        run_empty(session)
        assert_closed(silent)  # closed after the greeting timeout
        run_empty(session)
        silent.close()
