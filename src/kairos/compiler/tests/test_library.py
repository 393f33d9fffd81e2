"""The library itself: its form follows the kernel ABI, and its addresses map back to the source."""

import importlib.util
import io
import struct

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from kairos import _native, compiler
from kairos.compiler import codegen
from kairos.compiler.tests import lld
from kairos.compiler.tests.jit import Core, Experiment
from kairos.contracts.library import DT_CALLS, DT_CALLS_SIZE, FINGERPRINT, FINGERPRINT_BYTES
from kairos.language import TFloat, TInt32, TList, TNone, delay, kernel, syscall

GLOB_DAT, JUMP_SLOT, RELATIVE = 21, 22, 23
REL_TAGS = {"DT_REL", "DT_RELSZ", "DT_RELENT", "DT_JMPREL", "DT_PLTRELSZ", "DT_SYMTAB", "DT_STRTAB", "DT_HASH"}


@syscall
def rtio_output(target: TInt32, data: TInt32) -> TNone:
    raise NotImplementedError


class Sample(Experiment):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.values = [1.5, 2.5]

    def measure(self) -> TList(TFloat):
        return [1.0]

    @kernel
    def run(self):
        for value in self.measure():
            rtio_output(self.count, 1)
            delay(value)
            self.count += 1
        try:
            self.values[self.count] = 1.0
        except IndexError:
            print("out of range")
        return self.count

    @kernel
    def fail(self):
        self.inner(self.count)

    @kernel
    def inner(self, n):
        return 1 // n


@pytest.fixture(scope="module")
def kernel_library():
    sample = Sample()

    def set_result(_value):
        pass

    return compiler.compile_kernel(sample.run, (), {}, core=Core(), set_result=set_result)


@pytest.fixture(scope="module")
def elf(kernel_library):
    return ELFFile(io.BytesIO(kernel_library.library))


def test_library_has_header_of_an_arm_library(elf):
    assert (elf["e_ident"]["EI_CLASS"], elf["e_ident"]["EI_DATA"]) == ("ELFCLASS32", "ELFDATA2LSB")
    assert (elf["e_type"], elf["e_machine"], elf["e_flags"], elf["e_entry"]) == ("ET_DYN", "EM_ARM", 0x05000400, 0)


def test_library_is_recognised_by_its_header(kernel_library):
    def fingerprint(library):
        return library[FINGERPRINT : FINGERPRINT + FINGERPRINT_BYTES]

    sample, core = Sample(), Core()
    again = compiler.compile_kernel(sample.run, (), {}, core=core, set_result=lambda _: None)
    other = compiler.compile_kernel(sample.run, (), {}, core=core, set_result=None)
    known = fingerprint(kernel_library.library)
    assert any(known) and fingerprint(again.library) == known == fingerprint(again.unstripped)
    assert fingerprint(other.library) != known


def test_library_segments_have_expected_kinds_and_flags(elf):
    kinds = [segment["p_type"] for segment in elf.iter_segments()]
    assert kinds == ["PT_LOAD", "PT_LOAD", "PT_LOAD", "PT_DYNAMIC", "PT_GNU_EH_FRAME", "PT_ARM_EXIDX"]
    assert [segment["p_flags"] for segment in elf.iter_segments()][:3] == [4, 7, 6]
    for segment in elf.iter_segments():
        assert segment["p_offset"] == segment["p_vaddr"] or segment["p_type"] == "PT_GNU_EH_FRAME"


def test_dynamic_section_has_required_entries(elf):
    tags = {tag.entry.d_tag for tag in elf.get_section_by_name(".dynamic").iter_tags()}
    assert tags >= REL_TAGS
    assert not tags & {"DT_NEEDED", "DT_INIT", "DT_FINI", "DT_TEXTREL", "DT_RELA"}
    assert isinstance(elf.get_section_by_name(".dynamic"), DynamicSection)


def test_library_relocations_are_of_three_kinds(elf):
    sections = [section for section in elf.iter_sections() if isinstance(section, RelocationSection)]
    kinds = {relocation["r_info_type"] for section in sections for relocation in section.iter_relocations()}
    assert kinds == {GLOB_DAT, JUMP_SLOT, RELATIVE}


def test_library_defines_and_imports_expected_symbols(elf):
    symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())[1:]
    defined = {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}
    imported = {symbol.name for symbol in symbols} - defined
    assert defined == {"__modinit__", "__bss_start", "_end", "_sstack_guard"}
    assert imported == {
        "__artiq_personality",
        "__artiq_raise",
        "__artiq_resume",
        "__kairos_end_catch",
        "__kairos_in_flight",
        "__aeabi_d2lz",
        "round",
        "rpc_recv",
        "rpc_send",
        "rpc_send_async",
        "rtio_cursor",
        "rtio_output",
    }


def test_hash_table_finds_every_symbol(elf):
    table = elf.get_section_by_name(".hash")
    for symbol in elf.get_section_by_name(".dynsym").iter_symbols():
        if symbol.name and symbol["st_shndx"] != "SHN_UNDEF":
            assert table.get_symbol(symbol.name).name == symbol.name


def test_unwind_index_is_sorted_and_ends_in_a_sentinel(elf):
    segment = next(segment for segment in elf.iter_segments() if segment["p_type"] == "PT_ARM_EXIDX")
    data = segment.data()
    starts = []
    for offset in range(0, len(data), 8):
        word = int.from_bytes(data[offset : offset + 4], "little")
        signed = word - (1 << 31) if word & (1 << 30) else word
        starts.append(segment["p_vaddr"] + offset + signed)
    assert starts == sorted(starts)
    assert data[-4:] == (1).to_bytes(4, "little")
    text = elf.get_section_by_name(".text")
    assert starts[0] == text["sh_addr"] and starts[-1] == text["sh_addr"] + text["sh_size"]


def test_calls_of_the_firmware_are_listed(elf):
    text, plt, calls = (elf.get_section_by_name(name) for name in (".text", ".plt", ".calls"))
    tags = {tag.entry.d_tag: tag.entry.d_val for tag in elf.get_section_by_name(".dynamic").iter_tags()}
    assert tags[DT_CALLS] == calls["sh_addr"] and tags[DT_CALLS_SIZE] == calls["sh_size"]
    places = [place for (place,) in struct.iter_unpack("<I", calls.data())]
    assert len(places) > 10 and places == sorted({*places})
    for place in places:
        (word,) = struct.unpack_from("<I", text.data(), place - text["sh_addr"])
        target = place + 8 + 4 * ((word & 0xFFFFFF) - ((word & 0x800000) << 1))
        assert word >> 24 & 0xE == 0xA and plt["sh_addr"] <= target < plt["sh_addr"] + plt["sh_size"]


def test_library_has_no_send_event(elf):
    text = elf.get_section_by_name(".text").data()
    words = {text[offset : offset + 4] for offset in range(0, len(text), 4)}
    assert (0xE320F004).to_bytes(4, "little") not in words


def test_debug_information_is_not_sent(kernel_library, elf):
    assert not any(section.name.startswith(".debug") for section in elf.iter_sections())
    assert len(kernel_library.library) < len(kernel_library.unstripped)


TWO_PARTS = """\
from kairos.compiler.tests.test_library import *


class Two(Experiment):
    @kernel
    def run(self):
        # 120 times
        rtio_output(5, 1)
        self.often(self.int32())

    @kernel
    def often(self, count):
        for n in range(count):
            rtio_output(5, n)
"""


def test_addresses_in_both_object_files_lead_to_the_source(tmp_path):
    """Rarely executed code is a separate object file (`parts.rs`); the linker combines their line
    tables."""
    path = tmp_path / "two.py"
    path.write_text(TWO_PARTS.replace("        # 120 times\n", "        rtio_output(5, 1)\n" * 119))
    spec = importlib.util.spec_from_file_location("two", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = module.Two().run
    program, _ = compiler._front_end(run, (), {}, Core(), None, False)
    assert len(codegen.generate(program)) == 2
    compiled = compiler.compile_kernel(run, (), {}, core=Core(), set_result=None)
    elf = ELFFile(io.BytesIO(compiled.unstripped))
    calls = [place for (place,) in struct.iter_unpack("<I", elf.get_section_by_name(".calls").data())]
    frames = compiled.symbolize([place + 4 for place in calls])
    lines = {frame.line for frame in frames if frame.file == str(path)}
    assert lines == {*range(7, 128), 132}


def test_library_addresses_lead_to_source_lines():
    compiled = compiler.compile_kernel(Sample().fail, (), {}, core=Core(), set_result=None)
    elf = ELFFile(io.BytesIO(compiled.unstripped))
    symbols = {symbol.name: symbol for symbol in elf.get_section_by_name(".symtab").iter_symbols()}
    start = next(symbol for name, symbol in symbols.items() if name.endswith("Sample.fail"))["st_value"]
    frames = compiled.symbolize([start + 12])
    assert frames[-1].function.endswith("Sample.fail")
    assert frames[-1].file == __file__
    with open(__file__, encoding="utf-8") as source:
        lines = source.readlines()
    assert "def fail" in lines[frames[-1].line - 1] or "self.inner" in lines[frames[-1].line - 1]


@pytest.mark.parametrize("wanted", [False, True])
def test_attributes_are_written_back_on_request(wanted):
    compiled = compiler.compile_kernel(Sample().run, (), {}, core=Core(), set_result=None, attribute_writeback=wanted)
    symbols = ELFFile(io.BytesIO(compiled.unstripped)).get_section_by_name(".symtab").iter_symbols()
    assert ("kairos.write_back" in {symbol.name for symbol in symbols}) == wanted


def test_built_in_exceptions_have_fixed_keys():
    embedding = compiler.EmbeddingMap()
    assert embedding.retrieve_str(0) == "0:artiq.coredevice.exceptions.RTIOUnderflow"
    assert embedding.retrieve_str(10) == "0:IndexError"
    assert embedding.retrieve_str(19) == "0:ZeroDivisionError"
    assert embedding.retrieve_str(22) == "0:artiq.coredevice.exceptions.CXPError"
    assert embedding.store_str("0:ValueError") == 18
    assert embedding.store_str("new") == 24


def test_result_function_has_object_number_one():
    def set_result(_value):
        pass

    compiled = compiler.compile_kernel(Sample().fail, (), {}, core=Core(), set_result=set_result)
    assert compiled.embedding.retrieve_object(1) is set_result


@pytest.mark.skipif(lld.LINKER is None, reason="ld.lld is not installed")
def test_own_linker_agrees_with_lld():
    program, _ = compiler._front_end(Sample().run, (), {}, Core(), None, True)
    objects = codegen.generate(program)
    ours, theirs = (ELFFile(io.BytesIO(content)) for content in (_native.link(objects)[0], lld.link(objects)))

    def relocations(elf, name):
        symbols = elf.get_section_by_name(".dynsym")
        found = elf.get_section_by_name(name).iter_relocations()
        return sorted((r["r_info_type"], symbols.get_symbol(r["r_info_sym"]).name) for r in found)

    for name in (".rel.dyn", ".rel.plt"):
        assert relocations(ours, name) == relocations(theirs, name)

    def words(elf, name):
        """Return the content without address-dependent parts."""
        return elf.get_section_by_name(name).data()

    assert len(words(ours, ".text")) == len(words(theirs, ".text"))
    assert words(ours, ".rodata") == words(theirs, ".rodata")
    assert len(words(ours, ".ARM.exidx")) == len(words(theirs, ".ARM.exidx"))
    for function in ours.get_section_by_name(".symtab").iter_symbols():
        same = theirs.get_section_by_name(".symtab").get_symbol_by_name(function.name)
        if function.name and function["st_info"]["type"] == "STT_FUNC":
            offset = function["st_value"] - ours.get_section_by_name(".text")["sh_addr"]
            assert offset == same[0]["st_value"] - theirs.get_section_by_name(".text")["sh_addr"]


VARIED = """\
import numpy as np

from kairos.compiler.tests.test_library import *


class Varied(Experiment):
    def __init__(self):
        super().__init__()
        self.total = 0
        self.limits = [1.0, 2.5]
        self.table = np.arange(6).reshape(2, 3)

    def host(self, number) -> TInt32:
        return number

    @kernel
    def run(self):
        pair, text, row = (True, 0.5), "a", self.table[1]
        wide = np.int64(1) << 40
        for n in range(self.host(3)):
            try:
                wide += self.twice(n) + row[n % 3]
                self.total += n
                if n > 1:
                    raise ValueError("too many")
            except ValueError:
                rtio_output(5, np.int32(wide) + len(text))
        for limit in self.limits:
            rtio_output(5, self.host(np.int32(limit * pair[1])))

    @kernel
    def twice(self, number):
        rtio_output(6, number)
        return 2 * number
"""


@pytest.fixture
def varied(tmp_path):
    path = tmp_path / "varied.py"
    path.write_text(VARIED)
    spec = importlib.util.spec_from_file_location("varied", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Varied()


def test_description_of_variables_does_not_change_the_code(varied):
    for run in (varied.run, Sample().run, Sample().fail):
        plain, described = (
            compiler.compile_kernel(run, (), {}, core=Core(), set_result=None, variables=variables)
            for variables in (False, True)
        )
        head = slice(FINGERPRINT, FINGERPRINT + FINGERPRINT_BYTES)
        one, other = bytearray(plain.library), bytearray(described.library)
        one[head] = other[head] = bytes(FINGERPRINT_BYTES)
        assert one == other


def test_variables_are_described_for_debuggers(varied):
    compiled = compiler.compile_kernel(varied.run, (), {}, core=Core(), set_result=None, variables=True)
    dwarf = ELFFile(io.BytesIO(compiled.unstripped)).get_dwarf_info()
    found = {}
    for unit in dwarf.iter_CUs():
        for die in unit.iter_DIEs():
            if die.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter") and "DW_AT_type" in die.attributes:
                form = die.get_DIE_from_attribute("DW_AT_type").attributes["DW_AT_name"].value.decode()
                found[die.attributes["DW_AT_name"].value.decode()] = form
    assert found["n"] == "i" and found["wide"] == "I" and found["pair"] == "(bf)" and found["row"] == "a1I"
    assert "total@" in found["self"] and ":lf," in found["self"] and ":a2I," in found["self"]
