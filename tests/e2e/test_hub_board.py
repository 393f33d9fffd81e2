"""A computer with Linux as a device of the hub: its registers, buses, sensors and buffers are files
here, in a directory that stands in for `/`; chips on its buses are tests/support/buses.c, behind
the same files and calls as a driver's.
"""

import json
import os
import struct
import subprocess

import pytest

import kairos.hub
from kairos.hub import Program
from tests.support.command import run_kairos
from tests.support.hub import Hub, fails, known
from tests.support.paths import ROOT
from tests.support.raw_management import Management
from tests.support.waiting import until

ENTRY = """
[[board]]
name = "rack"
root = "root"

[[board.memory]]
block = "clocks"
file = "/dev/mem"
address = 0x1000
size = 0x100
registers = [
    { name = "status", offset = 0x0, access = "r" },
    { name = "divider", offset = 0x4, width = 12 },
    { name = "enable", offset = 0x8, width = 1 },
]

[[board.memory]]
block = "trap"
uio = "trap-control"
registers = [{ name = "gain", offset = 0x10 }]

[[board.memory]]
block = "samples"
file = "/dev/samples"
size = 0x200000
buffer = "rw"
"""
SAMPLES = 0x200000

FILES = {
    "sys/class/uio/uio0/name": "trap-control\n",
    "sys/class/uio/uio0/maps/map0/addr": "0x43c00000\n",
    "sys/class/uio/uio0/maps/map0/size": "0x1000\n",
    "sys/bus/i2c/devices/i2c-1/name": "Cadence I2C at e0004000\n",
    "sys/bus/i2c/devices/1-0050/name": "24c02\n",
    "sys/bus/i2c/devices/i2c-2/name": "mux\n",
    "sys/bus/i2c/devices/i2c-3/name": "SMBus I801 adapter at 0700\n",
    "sys/bus/spi/devices/spi0.0/modalias": "spi:ad9910\n",
    "sys/class/hwmon/hwmon0/name": "xadc\n",
    "sys/class/hwmon/hwmon0/temp1_input": "41500\n",
    "sys/class/hwmon/hwmon0/temp1_max": "85000\n",
    "sys/class/hwmon/hwmon0/in0_input": "1003\n",
    "sys/class/hwmon/hwmon0/in0_label": "vccint\n",
    "proc/device-tree/model": "Xilinx ZC706\0",
    "proc/sys/kernel/osrelease": "6.1.0\n",
    "proc/uptime": "3.5 1.0\n",
    "dev/spidev0.0": "",
}


def tree(root):
    """Create the files of the computer."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    dev = root / "dev"
    (dev / "mem").write_bytes(bytes(0x1000) + struct.pack("<I", 0xC0FFEE) + bytes(0xFFC))
    (dev / "uio0").write_bytes(bytes(0x1000))
    (dev / "samples").write_bytes(bytes(SAMPLES))
    (dev / "i2c-1").write_bytes(bytes(range(256)))
    (dev / "i2c-3").write_bytes(bytes(range(256)))


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    tree(folder / "root")
    library = folder / "buses.so"
    source = ROOT / "tests" / "support" / "buses.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source], check=True)
    hub = Hub(folder, {"away": "127.0.0.1:9"}, entries=ENTRY, environment=os.environ | {"LD_PRELOAD": str(library)})
    yield hub
    hub.close()


@pytest.fixture
def lab(hub):
    with kairos.hub.connect(hub.address) as lab:
        known(lab, "rack")
        yield lab


def test_board_registers_access_mapped_memory(hub, lab):
    registers = lab["rack"].registers
    assert dir(registers) == ["clocks", "trap"] and registers.clocks.divider.width == 12
    assert registers.clocks.status.read() == 0xC0FFEE and not registers.clocks.status.writable
    registers.clocks.divider.write(0x123)
    registers.trap.gain.write(0xFFFFFFFF)
    assert lab["rack"].read("clocks/divider", "trap/gain") == [0x123, 0xFFFFFFFF]
    memory = (hub.folder / "root/dev/mem").read_bytes()
    assert struct.unpack_from("<II", memory, 0x1000) == (0xC0FFEE, 0x123)
    assert (hub.folder / "root/dev/uio0").read_bytes()[0x10:0x14] == b"\xff" * 4
    fails("PERMISSION_DENIED", "clocks/status is read-only", lambda: registers.clocks.status.write(1))
    fails("INVALID_ARGUMENT", "does not fit into the 12 bits", lambda: registers.clocks.divider.write(0x1000))
    fails("NOT_FOUND", "its block has clocks/divider", lambda: lab["rack"].read("clocks/none"))


def test_program_on_board_runs_as_on_core_device(lab):
    program = Program()
    program.write("clocks/enable", 1)
    program.poll("clocks/enable", 1, 1, timeout=0.01)
    with program.loop(500):
        program.write("clocks/divider", 0, step=1)
        program.delay(1e-6)
        program.read("clocks/divider")
    program.modify("clocks/divider", 0xF00, 0xF00)
    program.read("clocks/divider")
    assert lab["rack"].run(program) == [1, *range(500), 499 | 0xF00]
    program = Program()
    program.poll("clocks/enable", 0, 1, timeout=0.01)
    fails("TIMEOUT", "the poll timed out", lambda: lab["rack"].run(program))
    program = Program()
    program.write("clocks/status", 1)
    fails("PERMISSION_DENIED", "cannot be written", lambda: lab["rack"].run(program))


def test_watched_board_registers_are_streamed(lab):
    readings = lab["rack"].watch("clocks/status", period=0.02)
    assert [next(readings)[1] for _ in range(3)] == [[0xC0FFEE]] * 3


def test_board_health_warns_of_a_hot_sensor(hub, lab):
    found = lab["rack"].health()
    assert found["sensors"].condition == "good" and found["sensors"].values["xadc_temp1_celsius"] == 41.5
    assert found["sensors"].values["xadc_vccint_volts"] == 1.003
    assert found["system"].values["uptime_seconds"] == 3.5
    temperature = hub.folder / "root/sys/class/hwmon/hwmon0/temp1_input"
    temperature.write_text("91000\n")
    now = lab["rack"].health()["sensors"]
    temperature.write_text("41500\n")
    assert now.condition == "warning" and now.text == "xadc_temp1_celsius is 91, at most 85 is good"
    assert 'kairos_device_up{device="rack"} 1' in lab.metrics()
    fails("UNIMPLEMENTED", "journalctl", lambda: list(lab["rack"].log()))
    fails("UNIMPLEMENTED", "journalctl", lambda: next(lab["rack"].log(follow=True)))


def test_buses_of_the_board_are_found_and_used(hub, lab):
    board = lab["rack"].board
    buses = {bus.name: bus for bus in board.buses()}
    assert list(buses) == ["i2c-1", "i2c-2", "i2c-3", "spidev0.0"]
    assert [(chip.address, chip.name) for chip in buses["i2c-1"].chips] == [(0x50, "24c02")]
    assert buses["i2c-1"].usable and not buses["i2c-2"].usable and buses["spidev0.0"].text == "ad9910"
    assert board.i2c("i2c-1", 0x50, b"\x20", 3) == bytes([0x20, 0x21, 0x22])
    assert board.i2c("i2c-1", 0x50, b"\x21\xaa") == b""
    assert board.i2c("i2c-1", 0x50, b"\x20", 1, 2) == bytes([0x20, 0xAA, 0x22])
    assert (hub.folder / "root/dev/i2c-1").read_bytes()[0x21] == 0xAA
    assert board.spi("spidev0.0", b"\x01\x02\x03", hertz=1_000_000, mode=3) == b"\x01\x02\x03"
    assert (hub.folder / "root/dev/spidev0.0").read_text() == "mode 3, 1000000 Hz\n"


def test_smbus_adapter_uses_smbus_commands(hub, lab):
    """As on most PCs: transfers with an SMBus command are executed, others are refused with an
    explanation."""
    board, bus = lab["rack"].board, "i2c-3"
    for written in (b"\x10\xaa", b"\x11\xbb\xcc", b"\x20\x01\x02\x03\x04"):
        assert board.i2c(bus, 0x50, written) == b""
    memory = (hub.folder / "root/dev/i2c-3").read_bytes()
    assert (memory[0x10:0x13], memory[0x20:0x24]) == (b"\xaa\xbb\xcc", b"\x01\x02\x03\x04")
    assert board.i2c(bus, 0x50, b"\x10", 1) == b"\xaa" and board.i2c(bus, 0x50, b"\x11", 2) == b"\xbb\xcc"
    assert board.i2c(bus, 0x50, b"\x20") == b"" and board.i2c(bus, 0x50, 1) == b"\x01"
    for parts in ((b"\x10", 3), (b"\x10", 33), (b"\x10\x11", 1), (2,)):
        fails("ABORTED", "supports SMBus only", lambda parts=parts: board.i2c(bus, 0x50, *parts))


def test_command_line_transfers_on_buses(hub):
    for words, code, said in (
        (("buses", "rack"), 0, "SMBus I801"),
        (("i2c", "rack/i2c-3", "0x50", "--write", "0x30", "--read", "2"), 0, "30 31\n"),
        (
            ("i2c", "rack", "0x50", "--read", "2"),
            1,
            "'rack' does not select a bus; available: rack/i2c-1, rack/i2c-2, rack/i2c-3",
        ),
        (("i2c", "rack/i2c-3"), 1, "'kairos hub buses rack'"),
        (("i2c", "rack/i2c-3", "0x50", "--switch", "0x74:1"), 1, "use the separate bus of the switch"),
        (("i2c", "rack/i2c-3", "0x50", "--write", "256"), 2, "from 0 to 255"),
        (("spi", "rack/none", "1"), 1, "the buses are spidev0.0"),
    ):
        done = run_kairos("hub", *words, "--hub", hub.address)
        assert done.returncode == code and said in done.stdout + done.stderr, done
        assert code == 0 or (not done.stdout and len(done.stderr.splitlines()) == 1), done


def test_unsupported_bus_transfer_is_reported(lab):
    board = lab["rack"].board
    fails("ABORTED", "no acknowledgement from address 0x51", lambda: board.i2c("i2c-1", 0x51, 1))
    fails("ABORTED", "a driver of the Linux kernel uses the chip at address 0x57", lambda: board.i2c("i2c-1", 0x57, 1))
    fails("NOT_FOUND", "the buses are i2c-1, i2c-2", lambda: board.i2c("i2c-7", 0x50, 1))
    fails("NOT_FOUND", "load the kernel module i2c-dev", lambda: board.i2c("i2c-2", 0x50, 1))
    for parts in ((), (0,), (8193,), (b"",), tuple([1] * 43)):
        fails("INVALID_ARGUMENT", "has 1 to", lambda parts=parts: board.i2c("i2c-1", 0x50, *parts))
    fails("INVALID_ARGUMENT", "7 bits", lambda: board.i2c("i2c-1", 0x80, 1))
    fails("INVALID_ARGUMENT", "SPI mode", lambda: board.spi("spidev0.0", b"a", mode=4))
    fails("INVALID_ARGUMENT", "1 to 4096 bytes", lambda: board.spi("spidev0.0", b""))
    fails("UNAVAILABLE", "does not answer", lambda: lab["away"].board.i2c("i2c-1", 0x50, 1))
    fails("UNIMPLEMENTED", "is a core device", lambda: lab["away"].board.buses())


def test_board_buffers_are_streamed_and_bounds_checked(hub, lab):
    buffer = lab["rack"].board.buffers["samples"]
    assert (buffer.size, buffer.readable, buffer.writable) == (SAMPLES, True, True)
    data = os.urandom(SAMPLES)
    assert buffer.write(data) == SAMPLES
    assert (hub.folder / "root/dev/samples").read_bytes() == data == buffer.read()
    assert buffer.read(offset=1000, length=8) == data[1000:1008]
    numbers = lab.stream("Memory", "Read", device="rack", buffer="samples", length=400_000, words=True)
    assert b"".join(struct.pack(f"<{len(part.words)}I", *part.words) for part in numbers) == data[:400_000]
    lab.send("Memory", "Write", [{"device": "rack", "buffer": "samples", "offset": 4, "words": [1, 2]}, {"words": [3]}])
    assert buffer.read(length=16) == data[:4] + struct.pack("<3I", 1, 2, 3)
    for place in ({"offset": 2}, {"length": 6}, {"offset": SAMPLES + 4}, {"length": SAMPLES + 4}):
        fails("OUT_OF_RANGE", "not whole words", lambda place=place: buffer.read(**place))
    fails("OUT_OF_RANGE", "exceed samples", lambda: buffer.write(b"abcd", offset=SAMPLES))
    fails("INVALID_ARGUMENT", "whole words", lambda: buffer.write(b"abc"))
    fails("NOT_FOUND", "there are samples", lambda: lab.send("Memory", "Write", [{"device": "rack", "buffer": "none"}]))


def test_registers_of_a_reloaded_driver_are_found_again(hub, lab):
    device = hub.folder / "root/dev/uio0"
    kept = device.rename(device.with_name("gone"))
    until(lambda: not next(each.connected for each in lab.devices() if each.name == "rack"))
    fails("UNAVAILABLE", "uio0 ", lambda: lab["rack"].read("clocks/status"))
    fails("UNAVAILABLE", "does not answer", lambda: lab["rack"].board.buses())
    kept.rename(device)
    known(lab, "rack")
    assert lab["rack"].read("clocks/status") == [0xC0FFEE]


def test_command_line_shows_board_and_its_buffers(hub, lab):
    def run(*words):
        return run_kairos("hub", *words, "--hub", hub.address)

    table = run("ls").stdout
    assert "the hub's computer" in table and "Xilinx ZC706 Linux 6.1.0" in table
    assert json.loads(run("read", "rack/clocks/status", "--json").stdout) == {"rack/clocks/status": 0xC0FFEE}
    assert "24c02" in run("buses", "rack").stdout
    assert json.loads(run("buses", "rack", "--json").stdout)[0]["chips"][0]["address"] == 0x50
    assert run("spi", "rack/spidev0.0", "0x9f", "0").stdout == "9f 00\n"
    file = hub.folder / "dump"
    assert run("memory", "rack/samples", "-o", file).returncode == 0
    assert file.read_bytes() == (hub.folder / "root/dev/samples").read_bytes()
    for words, text, code in (
        (("memory", "rack/none"), "no buffer 'none'", 1),
        (("spi", "rack/spidev0.0", "256"), "bytes must be numbers from 0 to 255", 2),
        (("spi", "rack", "1"), "is not a bus", 2),
    ):
        done = run(*words)
        assert done.returncode == code and text in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_core_device_gateware_is_accessible_below_linux(tmp_path, device):
    """Its registers have the names in its descriptor, found in the gateware's address space; the PL
    is a file here."""
    with Management(device) as management:
        assert management.reply(b"\x85") == 2
        descriptor = management.bytes()
    (tmp_path / "dev").mkdir()
    with (tmp_path / "dev/mem").open("wb") as memory:
        memory.truncate(0x8000_0000)
        memory.seek(0x4000_0000)
        memory.write(descriptor)
    entry = "[[board]]\nname = 'zynq'\nroot = '.'\n[[board.memory]]\ngateware = true\n"
    hub = Hub(tmp_path, {}, entries=entry)
    try:
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "zynq")
            registers = lab["zynq"].registers
            assert registers.rtio.counter.width == 64 and registers.rtio.counter.read() == 0
            assert not registers.initiator.enable.writable
            state = tmp_path / "sys/class/fpga_manager/fpga0/state"
            state.parent.mkdir(parents=True)
            state.write_text("unknown\n")
            (tmp_path / "dev/mem").rename(tmp_path / "dev/kept")
            until(lambda: "fpga0 is 'unknown'" in lab.devices()[0].error)
    finally:
        hub.close()


@pytest.fixture
def loop(tmp_path):
    """A loop device, and the file behind it."""
    file = tmp_path / "disk"
    file.write_bytes(bytes(0x4000))
    made = subprocess.run(["losetup", "--find", "--show", file], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no loop device can be had here: {made.stderr.strip()}")
    device = made.stdout.strip()
    yield device, file
    subprocess.run(["losetup", "--detach", device], check=True)


def test_loop_device_has_registers_and_buffer(tmp_path, loop):
    """A kernel device, in this computer's own /dev: it has no length like a file."""
    device, file = loop
    memory = f"[[board]]\nname = 'rack'\n[[board.memory]]\nblock = 'loop'\nfile = '{device}'\n"
    entry = memory + "address = {}\nsize = 0x1000\nbuffer = 'rw'\nregisters = [{{ name = 'word', offset = 4 }}]\n"
    hub = Hub(tmp_path, {}, entries=entry.format("0x3000"))
    try:
        with kairos.hub.connect(hub.address) as lab:
            known(lab, "rack")
            word = lab["rack"].registers.loop.word
            word.write(0xC0FFEE)
            assert word.read() == 0xC0FFEE and lab["rack"].board.buffers["loop"].read(length=8)[4:] == b"\xee\xff\xc0\0"
    finally:
        hub.close()
    # Written data are visible on the device to everyone.
    with open(device, "rb") as disk:
        disk.seek(0x3004)
        assert disk.read(4) == b"\xee\xff\xc0\0"
    assert file.stat().st_size == 0x4000
    hub = Hub(tmp_path, {}, entries=entry.format("0x4000"))
    try:
        with kairos.hub.connect(hub.address) as lab:
            until(lambda: "has 16384 bytes, not 4096 from 0x4000 on" in lab.devices()[0].error)
    finally:
        hub.close()
