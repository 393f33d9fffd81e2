"""A device that fails: what it said is kept over the reset, and reported after it."""

import contextlib
import os
import re
import socket
import struct
import time
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from .raw_management import Management
from .raw_session import Closed, Session

ROOT = Path(__file__).parents[2]
FIRMWARE = Path(os.environ.get("KAIROS_BUILD") or ROOT / "build") / "firmware"

UNDEFINED = 0xE7F000F0
"""An instruction that is none, as the compiler uses it for what cannot be reached."""


def symbol(pattern, image="runtime.elf"):
    """Address of the one function of an image whose name has this in it."""
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
    """Something comes from the network."""
    with contextlib.suppress(OSError):
        socket.create_connection((device.host, device.ports[1382]), 5).close()


def wait_for(device, text, count=1):
    deadline = time.monotonic() + 20
    while (printed := device.uart()).count(text) < count:
        assert time.monotonic() < deadline, f"{text!r} was not printed {count} times:\n{printed}"
        time.sleep(0.02)
    return printed


def log(device):
    """The log that a client gets, once the device answers."""
    with Management(device) as client:
        return client.log()


def test_a_fault_of_core_0_is_told_after_the_reset_once(device):
    handler = symbol("^_irq_handler$")
    write(device, handler, UNDEFINED)
    interrupt(device)
    printed = wait_for(device, "Ethernet link up", 2)
    said = f"undefined instruction at {handler:#010x}"
    assert re.search(rf"ERROR\(runtime\): {said}", printed), printed
    assert re.search(
        rf"ERROR\(runtime::report\): before this start: {said}, \d+\.\d\d\d s after its start", log(device)
    )
    with Management(device) as client:
        assert client.reply(b"\x05") == 3
    wait_for(device, "Ethernet link up", 3)
    assert "before this start" not in log(device)


def test_a_panic_of_core_0_resets_the_device(device):
    """The handler of interrupts becomes a call of the function that panics."""
    panic, place = symbol("panic_already_mutably_borrowed"), 0x062F_0000
    # ldr r0, [pc, #4]; ldr pc, [pc, #-4]; the function; its argument: file name (address, length), line and column.
    write(device, place, place + 16, 4, 12, 34, struct.unpack("<I", b"a.rs")[0])
    write(device, symbol("^_irq_handler$"), 0xE59F0004, 0xE51FF004, panic, place)
    interrupt(device)
    wait_for(device, "Ethernet link up", 2)
    assert re.search(r"before this start: panic: panicked at a\.rs:12:34:", log(device))


def test_a_fault_of_core_1_is_told_at_once_and_after_a_reset(device):
    loader = symbol(r"13kairos_kernel3elf.*7Symbols3new", "kernel.elf")
    write(device, loader, UNDEFINED)
    library = (ROOT / "tests" / "kernels" / "empty.elf").read_bytes()
    with Session(device) as session, pytest.raises(Closed):
        session.load(library)
    said = f"undefined instruction, at {loader:#010x}"
    assert f"kernel core: {said}" in log(device)
    with Management(device) as client:
        assert client.reply(b"\x05") == 3
    wait_for(device, "Ethernet link up", 2)
    text = log(device)
    assert f"before this start, kernel core: {said}" in text and "comms core failed" not in text
