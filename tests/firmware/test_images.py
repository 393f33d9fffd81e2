"""Properties of the linked images of both cores.

The instruction `sev` submits an RTIO event (docs/firmware.md). It may therefore occur only in the
kernel core's submission function.
"""

import re
from pathlib import Path

import pytest
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from kairos.contracts import memory
from tests.bench.__main__ import INSTRUCTIONS
from tests.bench.counting import image_sizes
from tests.support.paths import FIRMWARE, ROOT

SUBMISSION = re.compile(r"rtio.*(transaction.*submit|output.*rtio_output)")
"""Mangled names of the two functions that may contain `sev`."""


@pytest.fixture
def image():
    """Returns a function that opens an image of build/firmware by name."""
    files = []

    def open_image(name):
        path = FIRMWARE / name
        if not path.exists():
            pytest.fail(f"not built: {path}. Run `make firmware` first.", pytrace=False)
        files.append(path.open("rb"))
        return ELFFile(files[-1])

    yield open_image
    for file in files:
        file.close()


def is_sev(word):
    """Returns whether the word is an A32 `sev` with any condition code."""
    return word & 0x0FFF_FFFF == 0x0320_F004


def code(elf):
    """Returns name, address and bytes of the executable sections. Those of start-up code lack the flag."""
    for section in elf.iter_sections():
        executable = section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR or section.name == ".vector_table"
        if executable and section["sh_type"] == "SHT_PROGBITS":
            yield section.name, section["sh_addr"], section.data()


def mapping(elf):
    """Returns address and kind ('a', 't', 'd') of each run of A32 code, Thumb code and data, from mapping symbols."""
    symbols = elf.get_section_by_name(".symtab").iter_symbols()
    return sorted((s["st_value"], s.name[1]) for s in symbols if re.match(r"\$[atd](\.|$)", s.name))


def find_sev(elf):
    """Returns addresses of `sev`, A32 or Thumb. Literal pools within code count too: they could be jumped to."""
    thumb = [address for address, kind in mapping(elf) if kind == "t"]
    found = []
    for _, base, data in code(elf):
        words = range(0, len(data) - 3, 4)
        found += [base + at for at in words if is_sev(int.from_bytes(data[at : at + 4], "little"))]
        if any(base <= address < base + len(data) for address in thumb):
            found += [base + at for at in range(0, len(data) - 1, 2) if data[at : at + 2] == b"\x40\xbf"]
    return found


def function_at(elf, address):
    """Returns the name of the function that contains `address`."""
    for symbol in elf.get_section_by_name(".symtab").iter_symbols():
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_value"] <= address:
            if address < symbol["st_value"] + symbol["st_size"]:
                return symbol.name
    return None


def test_scan_recognises_only_sev_instructions():
    assert is_sev(0xE320F004) and is_sev(0x1320F004)
    assert not is_sev(0xE320F002)  # wfe
    assert not is_sev(0xE320F003)  # wfi


@pytest.mark.parametrize("name", ["boot.elf", "loader.elf"])
def test_loader_image_has_no_sev(image, name):
    elf = image(name)
    assert ".text" in {section for section, _, _ in code(elf)}
    assert find_sev(elf) == []


@pytest.mark.parametrize("name", ["runtime.elf", "satman.elf"])
def test_comms_core_image_has_no_sev(image, name):
    elf = image(name)
    sections = {name for name, _, _ in code(elf)}
    assert ".text" in sections and ".kernel_image" not in sections
    assert find_sev(elf) == []


def test_kernel_has_sev_in_the_submission_function_only(image):
    elf = image("kernel.elf")
    found = find_sev(elf)
    assert found, "nothing would ever be submitted"
    names = {function_at(elf, address) for address in found}
    assert all(name and SUBMISSION.search(name) for name in names), names


@pytest.mark.parametrize(
    ("name", "region_name"),
    [("runtime.elf", "RUNTIME"), ("satman.elf", "RUNTIME"), ("kernel.elf", "KERNEL_IMAGE"), ("loader.elf", "LOADER")],
)
def test_images_stay_in_their_regions(image, name, region_name):
    elf, allowed = image(name), getattr(memory, region_name)
    for section in elf.iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_size"]:
            start, end = section["sh_addr"], section["sh_addr"] + section["sh_size"]
            assert allowed.start <= start and end <= allowed.stop, (section.name, hex(start), hex(end))


@pytest.mark.parametrize("name", ["runtime.elf", "satman.elf", "kernel.elf"])
def test_writable_data_is_separate_from_instructions(image, name):
    """Writable data is in separate, non-executable megabytes: jumps into it fault, and the emulator
    need not check for modified instructions after each store."""
    used = [s for s in image(name).iter_sections() if s["sh_flags"] & SH_FLAGS.SHF_ALLOC and s["sh_size"]]
    written = [s for s in used if s["sh_flags"] & SH_FLAGS.SHF_WRITE]
    first = min(s["sh_addr"] for s in written)
    assert first % 2**20 == 0
    assert all(s["sh_addr"] + s["sh_size"] <= first for s in used if s not in written)


def test_first_stage_fits_on_chip_memory_and_embeds_the_second(image):
    elf = image("boot.elf")
    used = [s for s in elf.iter_sections() if s["sh_flags"] & SH_FLAGS.SHF_ALLOC and s["sh_size"]]
    assert min(s["sh_addr"] for s in used) == memory.FIRST_STAGE.start
    assert max(s["sh_addr"] + s["sh_size"] for s in used) <= memory.FIRST_STAGE.stop
    loader = (FIRMWARE / "loader.bin").read_bytes()
    assert any(loader in s.data() for s in used if s["sh_type"] == "SHT_PROGBITS")


def test_second_stage_starts_at_the_first_byte_of_its_image(image):
    """The first byte is the reset vector."""
    section = image("loader.elf").get_section_by_name(".vector_table")
    assert section["sh_addr"] == memory.LOADER.start


def test_kernel_core_starts_at_the_first_byte_of_its_image(image):
    assert image("kernel.elf")["e_entry"] == memory.KERNEL_IMAGE.start


@pytest.mark.parametrize("name", ["runtime.elf", "satman.elf"])
def test_comms_core_image_embeds_the_kernel_image(image, name):
    embedded = image(name).get_section_by_name(".kernel_image").data()
    kernel = (FIRMWARE / "kernel.bin").read_bytes()
    assert embedded[: len(kernel)] == kernel
    assert len(embedded) - len(kernel) < 32


@pytest.mark.parametrize("name", ["runtime.elf", "satman.elf", "kernel.elf"])
def test_buffers_take_no_space_in_the_image(image, name):
    """A static with a non-zero initial value would occupy its full size in the image."""
    large = [
        (symbol.name, symbol["st_size"])
        for symbol in image(name).get_section_by_name(".symtab").iter_symbols()
        if symbol["st_info"]["type"] == "STT_OBJECT"
        and symbol["st_size"] > 16 * 1024
        and symbol["st_shndx"] != "SHN_ABS"
        and image(name).get_section(symbol["st_shndx"]).name == ".data"
    ]
    assert large == []


@pytest.mark.parametrize("name", ["runtime.elf", "satman.elf", "kernel.elf", "loader.elf"])
def test_images_contain_no_large_constant_of_zeros(image, name):
    """An empty buffer that is assigned to another one, rather than emptied in place, is such a constant."""
    longest = 1024
    assert bytes(longest) not in image(name).get_section_by_name(".rodata").data()


def test_images_contain_no_path_of_the_building_machine():
    root, home = str(ROOT).encode(), str(Path.home()).encode()
    for name in ("runtime.elf", "satman.elf", "kernel.elf", "loader.elf", "boot.elf"):
        data = (FIRMWARE / name).read_bytes()
        assert root + b"/" not in data
        if home not in (b"/root", b"/"):
            assert home + b"/" not in data


@pytest.mark.parametrize("name", ["image.runtime_bytes", "image.kernel_bytes"])
def test_images_are_no_larger_than_their_limits(name):
    """Checks the limits of `make bench`."""
    _, limit, _, _ = INSTRUCTIONS[name]
    assert image_sizes()[name] <= limit


@pytest.mark.parametrize("name", ["runtime.elf", "satman.elf", "kernel.elf", "loader.elf", "boot.elf"])
def test_no_image_has_an_allocator(image, name):
    """Hence no code, including interrupt handlers, can use a heap."""
    allocator = re.compile(r"__(rust|rdl|rg)_(alloc|dealloc|realloc)|5alloc5alloc|\b(malloc|free|realloc)\b")
    names = [symbol.name for symbol in image(name).get_section_by_name(".symtab").iter_symbols()]
    assert names
    assert [symbol for symbol in names if allocator.search(symbol)] == []
