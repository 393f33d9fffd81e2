"""The boot image, parsed according to the vendor's format description (UG585, section 6.3.2; UG1283)."""

import json
import struct
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module

import pytest

from kairos.boot import CHIPS, boot_image, check_chip
from kairos.boot.files import Elf, firmware, gateware
from kairos.errors import UsageError
from tests.support.paths import FIRMWARE, GATEWARE


def word(image, at):
    return struct.unpack_from("<I", image, at)[0]


@dataclass
class Partition:
    name: str
    load: int
    entry: int
    attributes: int
    data: bytes


def partitions(image):
    """Parses and checks the header and the tables."""
    assert word(image, 0x20) == 0xAA995566 and image[0x24:0x28] == b"XNLX"
    assert word(image, 0x48) == ~sum(word(image, at) for at in range(0x20, 0x48, 4)) & 0xFFFFFFFF
    assert all(word(image, at) == 0xFFFFFFFF for at in range(0xA0, 0x8A0, 8)), "registers to be set"
    images, table = word(image, 0x98), word(image, 0x9C)
    count, first = word(image, images + 4), 4 * word(image, images + 12)
    assert 4 * word(image, images + 8) == table
    names, at = [], first
    while True:
        following, own, zero, parts = struct.unpack_from("<4I", image, at)
        assert zero == 0 and parts == 1 and 4 * own == table + 64 * len(names)
        name = b"".join(image[n : n + 4][::-1] for n in range(at + 16, at + 64, 4))
        names.append(name.split(b"\0")[0].decode())
        if following == 0:
            break
        at = 4 * following
    assert len(names) == count
    found = []
    for n in range(count + 1):
        fields = struct.unpack_from("<16I", image, table + 64 * n)
        assert fields[15] == ~sum(fields[:15]) & 0xFFFFFFFF
        if n == count:
            assert fields[:15] == (0,) * 15
            break
        assert fields[0] == fields[1] == fields[2] and fields[5] % 16 == 0
        data = image[4 * fields[5] : 4 * (fields[5] + fields[1])]
        assert len(data) == 4 * fields[1]
        found.append(Partition(names[n], fields[3], fields[4], fields[6], data))
    return found


def test_parts_of_image_are_at_documented_offsets(image):
    loader, bitstream, *program = partitions(image)
    first = Elf.parse(FIRMWARE / "boot.elf")
    assert (loader.name, loader.load, loader.entry, loader.attributes) == ("boot.elf", 0, first.entry, 0x10)
    offset, length = word(image, 0x30), word(image, 0x34)
    assert image[offset : offset + length] == loader.data and offset % 64 == 0
    assert (word(image, 0x38), word(image, 0x3C), word(image, 0x40)) == (0, first.entry, length)
    assert length < 192 * 1024
    assert bitstream.attributes == 0x20 and bitstream.data == gateware(GATEWARE / "kairos_sim.bit")
    runtime = Elf.parse(FIRMWARE / "runtime.elf")
    loaded = [(address, data) for address, data, _ in runtime.segments if data]
    assert [(part.load, part.data[: len(data)]) for part, (_, data) in zip(program, loaded, strict=True)] == loaded
    assert [part.entry for part in program if part.entry] == [runtime.entry]
    assert all(part.attributes == 0x10 for part in program)


def test_loaded_image_is_the_same_by_every_path(tmp_path):
    whole = Elf.parse(FIRMWARE / "runtime.elf")
    path = tmp_path / "stripped"
    path.write_bytes(firmware(FIRMWARE / "runtime.elf"))
    assert Elf.parse(path) == whole


def test_bitstream_for_the_chip_of_another_board_is_refused(tmp_path):
    path = tmp_path / "kairos.bit"
    lead = [0xFFFFFFFF, 0xAA995566, 0x20000000]
    for words, board, reason in [
        ([0x30018001, 0x1372C093], "kasli_soc", None),  # silicon revision 1
        ([0x30018001, 0x0372C093], "zc706", "is for the XC7Z030, and a zc706 has the XC7Z045: choose its --board"),
        ([0x30018001, 0x13722093], "kasli_soc", "is for the XC7Z010, and a kasli_soc has the XC7Z030"),
        ([0x20000000] * 2, "kasli_soc", "it does not say for which chip it is"),
    ]:
        path.write_bytes(struct.pack(f">{len(lead + words)}I", *lead, *words))
        with pytest.raises(UsageError, match=reason) if reason else nullcontext():
            check_chip(path, board)
    assert check_chip(GATEWARE / "kairos_sim.bit", "zc706") is None
    for board, chip in CHIPS.items():
        platform = import_module(f"kairos_gateware.boards.{board}").BOARD.platform()
        assert platform.device.upper().startswith(chip), board


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("header", [b"", b"\0\x09\x0f\xf0a\0\x05demo\0"])
def test_bitstream_of_either_byte_order_is_loaded(tmp_path, order, header):
    words = [0xFFFFFFFF, 0xBB, 0x11220044, 0xFFFFFFFF, 0xAA995566, 0x20000000, 1, 2, 3]
    path = tmp_path / "file"
    path.write_bytes(header + struct.pack(f"{order}9I", *words) + b"\0")
    assert gateware(path) == struct.pack("<9I", *words)


def test_invalid_files_are_refused_with_reason(tmp_path):
    path = tmp_path / "file"
    for content, reason in [
        (b"hello", "not an ELF file"),
        (b"\x7fELF" + bytes(60), "this ELF file is not for 32-bit ARM"),
        ((FIRMWARE / "kernel.elf").read_bytes()[:2000], "truncated"),
    ]:
        path.write_bytes(content)
        with pytest.raises(UsageError, match=reason):
            firmware(path)
    with pytest.raises(UsageError, match="no sync word"):
        gateware(path)
    with pytest.raises(UsageError, match="is not a loader"):
        boot_image(FIRMWARE / "runtime.elf", FIRMWARE / "runtime.elf")
    with pytest.raises(UsageError, match="cannot be read"):
        firmware(tmp_path / "missing")


def test_chosen_board_states_its_assumptions(tmp_path):
    def image(*arguments):
        command = [sys.executable, "-m", "kairos", "image", "-o", str(tmp_path / "image"), *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    done = image("--board", "kasli_soc")
    assert done.returncode == 1 and "DRAM at 1.35 V" in done.stderr and "--unconfirmed" in done.stderr
    assert not (tmp_path / "image").exists()
    assert image("--board", "kasli_soc", "--unconfirmed").stdout.endswith("for board kasli_soc\n")
    kasli = (tmp_path / "image").read_bytes()
    assert image().stdout.endswith("for board zc706\n")
    assert kasli != (tmp_path / "image").read_bytes()
    done = image("--board", "kasli")
    assert done.returncode == 1 and "only zc706, kasli_soc, ebaz4205, redpitaya" in done.stderr
    assert image("--board", "?").stdout.split() == ["zc706", "kasli_soc", "ebaz4205", "redpitaya"]
    rows = [json.loads(line) for line in image("--board", "?", "--json").stdout.splitlines()]
    assert [row["board"] for row in rows] == ["zc706", "kasli_soc", "ebaz4205", "redpitaya"]


def test_satellite_boots_its_own_firmware(tmp_path):
    path = tmp_path / "image"
    command = [sys.executable, "-m", "kairos", "image", "-o", str(path), "--satellite"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.endswith("for board zc706, a satellite\n"), done.stderr
    _, *program = partitions(path.read_bytes())
    satman = Elf.parse(FIRMWARE / "satman.elf")
    loaded = [(address, data) for address, data, _ in satman.segments if data]
    assert [(part.load, part.data[: len(data)]) for part, (_, data) in zip(program, loaded, strict=True)] == loaded
    both = subprocess.run([*command, "--firmware", "x.elf"], capture_output=True, text=True)
    assert both.returncode == 2 and "--satellite and --firmware exclude each other" in both.stderr
