"""Startup and idle kernels: device behaviour without a host, observed through log and pins."""

import pytest

from tests.support import sd_card
from tests.support.kernels import edges, kernel, marks, run_empty
from tests.support.raw_analyzer import dump
from tests.support.raw_management import Management
from tests.support.raw_moninj import Client
from tests.support.raw_session import Session
from tests.support.waiting import let_pass, silent, until


class Alone:
    """A device with an SD card, and its log and pins."""

    def __init__(self, start_device, directory, keys=()):
        card = sd_card.make(directory / "card", [])
        if keys:
            first = directory / "first"
            first.mkdir()
            self.device = start_device(first, sd=card)
            for key, value in keys:
                self.write(key, value)
            self.device.close()
        self.device = start_device(directory, sd=card)

    def log(self):
        with Management(self.device) as client:
            return client.log()

    def until(self, text, count=1):
        """Waits until the log contains this text `count` times."""
        until(lambda: self.log().count(text) >= count, self.log)
        return self.log()

    def write(self, key, value):
        with Management(self.device) as client:
            assert client.config_write(key, value)

    def pulses(self):
        return [level for _, level in edges(self.device)].count(1)


@pytest.fixture
def alone(start_device, tmp_path):
    devices = []

    def start(keys=()):
        one = Alone(start_device, tmp_path, keys)
        devices.append(one.device)
        return one

    yield start
    for device in devices:
        device.close()


def test_idle_kernel_runs_once_written_until_removed(alone):
    one = alone()
    assert "idle kernel" not in one.log()
    one.write(b"idle_kernel", kernel("idle"))
    log = one.until("by itself", 3)
    assert "INFO(kernel): by itself" in log and "idle kernel: running" in log
    assert one.pulses() >= 2
    with Management(one.device) as client:
        assert client.config_remove(b"idle_kernel")
    one.until("idle kernel: stopped")
    before = one.log().count("by itself")
    let_pass(one.device, 0.3)
    assert one.log().count("by itself") == before


def test_session_interrupts_the_idle_kernel_until_its_end(alone):
    one = alone()
    one.write(b"idle_kernel", kernel("idle"))
    one.until("by itself")
    with Session(one.device) as session:
        one.until("idle kernel: stopped")
        run_empty(session)
        # The core belongs to the client, even while the client is idle.
        before = one.log().count("by itself")
        let_pass(one.device, 0.3)
        assert one.log().count("by itself") == before
        assert session.load(kernel("rtio")) is None
        session.run()
        assert marks(session.until_end()[0]) == [1]
    one.until("by itself", before + 2)
    # Replaced by an endless idle kernel.
    one.write(b"idle_kernel", kernel("endless"))
    one.until("called the host")
    with Session(one.device) as session:
        run_empty(session)


def test_erasing_the_configuration_stops_the_idle_kernel(alone):
    one = alone()
    one.write(b"idle_kernel", kernel("idle"))
    one.until("by itself")
    with Management(one.device) as client:
        assert client.reply(b"\x0f") == 1
    one.until("idle kernel: stopped")
    before = one.log().count("by itself")
    let_pass(one.device, 0.3)
    assert one.log().count("by itself") == before


@pytest.mark.parametrize(
    "library, text",
    [
        (b"main.elf in a tar", "it is neither an ELF file nor an archive"),
        (b"\x7fELF and no more", "it cannot be loaded: "),
        (kernel("missing"), "symbol lookup error: "),
        (kernel("rpc"), "it called the host, but there is none"),
        (kernel("flood"), "it called the host, but there is none"),
        (kernel("overflow"), "it called the host"),
    ],
)
def test_failing_idle_kernel_is_logged_and_device_stays_usable(alone, library, text):
    one = alone()
    one.write(b"idle_kernel", library)
    log = one.until("idle kernel: it ")
    assert f"ERROR(runtime::session::standalone): idle kernel: {text}" in log.replace(
        "it cannot be loaded: symbol", "symbol"
    )
    assert log.count("idle kernel: it ") == 1
    with Session(one.device) as session:
        run_empty(session)
    one.write(b"idle_kernel", kernel("idle"))
    one.until("by itself")


def test_startup_kernel_runs_once_at_boot(alone):
    one = alone([(b"startup_kernel", kernel("idle"))])
    log = one.until("startup kernel: finished")
    assert log.count("by itself") == 1
    with Session(one.device) as session:
        run_empty(session)
    assert one.log().count("startup kernel: running") == 1


def test_no_client_is_answered_while_the_startup_kernel_runs(alone):
    one = alone([(b"startup_kernel", kernel("standstill")), (b"idle_kernel", kernel("idle"))])
    log = one.until("startup kernel: running")
    waiting = Session(one.device, greeting=None)
    waiting.write(b"ARTIQ coredev\n")
    one.device.pass_time(0.5)
    assert silent(one.device, waiting)
    log = one.log()
    assert "by itself" not in log and "session with" not in log
    waiting.close()
    # The other services keep working.
    assert dump(one.device).messages
    with Client(one.device) as monitor:
        assert monitor.get(4, 1) == 0


def test_failed_startup_kernel_lets_clients_connect(alone):
    one = alone([(b"startup_kernel", kernel("exceptions"))])
    log = one.until("startup kernel: it ")
    with Session(one.device) as session:
        run_empty(session)
    assert log.count("startup kernel: ") == 2
