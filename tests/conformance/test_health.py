"""Device failures: the failure report survives the reset and is logged after it."""

import contextlib
import re
import struct

import pytest
from elftools.elf.elffile import ELFFile

from kairos.contracts.memory import REPORT
from tests.support import waiting
from tests.support.connection import Closed, Connection
from tests.support.paths import FIRMWARE, ROOT
from tests.support.raw_management import Management
from tests.support.raw_session import Session

UNDEFINED = 0xE7F000F0
"""An undefined instruction, which the compiler emits for unreachable code."""


def symbol(pattern, image="runtime.elf"):
    """Returns the address of the only function of an image whose name matches the pattern."""
    with (FIRMWARE / image).open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".symtab").iter_symbols()
        (address,) = {s["st_value"] for s in symbols if re.search(pattern, s.name)}
    return address


@pytest.fixture
def device(tmp_path, start_device):
    device = start_device(tmp_path, gateware=False)
    yield device
    device.close()


def write(device, address, *words):
    for n, word in enumerate(words):
        device.control("write", address=address + 4 * n, value=word)


def interrupt(device):
    """Causes a network interrupt."""
    with contextlib.suppress(OSError):
        Connection(device, 1382).close()


def log(device):
    """Returns the log as a client reads it, once the device answers."""
    with Management(device) as client:
        return client.log()


def test_fault_of_core_0_is_reported_once_after_reset(device):
    handler = symbol("^_irq_handler$")
    write(device, handler, UNDEFINED)
    interrupt(device)
    printed = waiting.printed(device, "Ethernet link up", 2)
    said = f"undefined instruction at {handler:#010x}"
    assert re.search(rf"ERROR\(comms\): {said}", printed), printed
    assert re.search(rf"ERROR\(comms::report\): before this start: {said}, \d+\.\d\d\d s after its start", log(device))
    with Management(device) as client:
        assert client.reply(b"\x05") == 3
    waiting.printed(device, "Ethernet link up", 3)
    assert "before this start" not in log(device)


def test_panic_of_core_0_resets_the_device(device):
    """The interrupt handler is overwritten with a call of a function that panics."""
    panic, place = symbol("panic_already_mutably_borrowed"), REPORT.stop - 0x1_0000
    # ldr r0, [pc, #4]; ldr pc, [pc, #-4]; function; argument: file name (address, length),
    # line and column.
    write(device, place, place + 16, 4, 12, 34, struct.unpack("<I", b"a.rs")[0])
    write(device, symbol("^_irq_handler$"), 0xE59F0004, 0xE51FF004, panic, place)
    interrupt(device)
    waiting.printed(device, "Ethernet link up", 2)
    assert re.search(r"before this start: panic: panicked at a\.rs:12:34:", log(device))


def test_failure_is_reported_even_without_its_text(device):
    """The byte of REBOOT_STATUS that failing firmware sets is present, but no report in memory."""
    unlock, reboot_status, reset = 0xF800_0008, 0xF800_0258, 0xF800_0200
    write(device, unlock, 0xDF0D)
    write(device, reboot_status, 0x46 << 24)
    write(device, reset, 1)
    waiting.printed(device, "Ethernet link up", 2)
    assert "before this start: the comms core failed, and its message is lost" in log(device)
    with Management(device) as client:
        assert client.reply(b"\x05") == 3
    waiting.printed(device, "Ethernet link up", 3)
    assert "before this start" not in log(device)


def test_fault_of_core_1_is_reported_at_once_and_after_reset(device):
    loader = symbol(r"13kairos_kernel3elf8describe", "kernel.elf")
    write(device, loader, UNDEFINED)
    library = (ROOT / "tests" / "kernels" / "empty.elf").read_bytes()
    with Session(device) as session, pytest.raises(Closed):
        session.load(library)
    said = f"undefined instruction, at {loader:#010x}"
    assert f"kernel core: {said}" in log(device)
    with Management(device) as client:
        assert client.reply(b"\x05") == 3
    waiting.printed(device, "Ethernet link up", 2)
    text = log(device)
    assert f"before this start, kernel core: {said}" in text and "comms core failed" not in text


def test_fault_is_reported_after_kernel_overwrote_the_rings(device):
    library = (ROOT / "tests" / "kernels" / "scribble.elf").read_bytes()
    with Session(device) as session:
        assert session.load(library) is None
        session.run()
        with pytest.raises(Closed):
            session.until_end()
    assert re.search(r"kernel core: undefined instruction, at \+0x[0-9a-f]+ of the kernel", log(device))
    with Session(device) as session:
        assert session.load((ROOT / "tests" / "kernels" / "empty.elf").read_bytes()) is None
        session.run()
        assert session.until_end() == ([], None)


RETURN = 0xE12FFF1E
"""`bx lr`: written over a task's function, so that the task is never polled again."""
GICC_CTLR = 0xF8F0_0100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param((GICC_CTLR, 0), None, id="executor"),
        pytest.param((r"^_R.*10Background3run", RETURN), "the network", id="network"),
        pytest.param(
            (r"^_R.*TaskStorage.*7session12___serve_task.*4poll", RETURN),
            "the supervision of the kernel core",
            id="supervision",
        ),
    ],
)
def test_watchdog_resets_a_stuck_core(device, words, said):
    """With a session open, core 0's interrupts are disabled or a task stops. The next start reports the reset."""
    place, word = words
    with Session(device):
        write(device, place if isinstance(place, int) else symbol(place), word)
        printed = waiting.printed(device, "Ethernet link up", 2)
    assert "before this start: reset by the watchdog" in printed
    kept = re.findall(r"before this start: (.*) had no heartbeat, (.*) s after its start", printed)
    assert [who for who, _ in kept] == ([said] if said else [])


def test_watchdog_ignores_idle_device_and_long_kernel(device):
    """The device is idle for longer than the watchdog period, then runs an endless kernel."""
    library = (ROOT / "tests" / "kernels" / "endless.elf").read_bytes()
    with Session(device) as session:
        device.pass_time(7)
        session.load(library)
        session.run()
        device.pass_time(0.2)
    assert "watchdog" not in log(device)


def test_sensor_values_are_logged_at_boot(device):
    printed = waiting.printed(device, "VCCINT")
    said = r"INFO\(comms::sensors\): 4[45]\.\d °C, VCCINT 1\.000 V, VCCAUX 1\.800 V, VCCBRAM 1\.000 V, VCCPINT 1\.000 V"
    assert re.search(said + r", VCCPAUX 1\.800 V, VCCO_DDR 1\.500 V\n", printed), printed


def test_hot_chip_is_logged_as_warning(tmp_path, start_device):
    device = start_device(tmp_path, gateware=False, settings=["chip_celsius=90"])
    try:
        printed = waiting.printed(device, "VCCINT")
        assert re.search(
            r" WARN\(comms::sensors\): too hot, or a supply is out of limits: (90\.0|89\.9) °C,", printed
        ), printed
    finally:
        device.close()
