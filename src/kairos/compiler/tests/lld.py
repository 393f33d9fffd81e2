"""LLVM's linker, a reference for the compiler's own.

Run as a program it prints its linker script, with which tests/kernels/build links kernels written
in C.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["LINKER", "link", "script"]

LINKER = shutil.which("ld.lld")

_READ, _WRITE, _EXECUTE = 4, 2, 1
_CODE = ".text .plt .rodata .ARM.extab .dynsym .gnu.hash .hash .dynstr .rel.dyn .ARM.exidx .rel.plt .got .got.plt"
_SEGMENTS = {
    "text": (_READ | _WRITE | _EXECUTE, _CODE.split()),
    "data": (_READ | _WRITE, [".data", ".dynamic", ".bss"]),
}
"""Loaded segments (kernel ABI, section 1), each with its permissions and its sections in order."""
_INPUTS = {".got": ".got", ".data": ".data.rel.ro .data.rel.ro.* .data .data.*"}
"""Input sections of a library's section, where they are not its name and that name followed by a
dot."""
_SYMBOLS = {".bss": ("__bss_start = .;", ". = ALIGN(4); _end = .;")}
"""Definitions before and after a section's content."""


def script() -> str:
    """Return the linker script of a kernel library."""
    headers = [f"headers PT_LOAD FILEHDR PHDRS FLAGS({_READ});"]
    headers += [f"{name} PT_LOAD FLAGS({flags});" for name, (flags, _) in _SEGMENTS.items()]
    headers += [f"dynamic PT_DYNAMIC FLAGS({_READ | _WRITE});", f"index PT_GNU_EH_FRAME FLAGS({_READ});"]
    sections = [". = SIZEOF_HEADERS;"]
    for segment, (_, names) in _SEGMENTS.items():
        for name in names:
            before, after = _SYMBOLS.get(name, ("", ""))
            also = " :dynamic" if name == ".dynamic" else ""
            content = f"{before} *({_INPUTS.get(name, f'{name} {name}.*')}) {after}"
            sections.append(f"{name} : {{ {content} }} :{segment}{also}")
    sections.append(". = ALIGN(0x1000); _sstack_guard = .;")
    return "\n".join(["PHDRS {", *headers, "}", "SECTIONS {", *sections, "}", ""])


def link(objects: list[bytes]) -> bytes:
    """Link `objects` to a shared library, with its debug information."""
    with tempfile.TemporaryDirectory(prefix="kairos-") as folder:
        paths = [Path(folder) / f"{index}.o" for index in range(len(objects))]
        for path, content in zip(paths, objects, strict=True):
            path.write_bytes(content)
        (Path(folder) / "kernel.ld").write_text(script())
        output = Path(folder) / "kernel.elf"
        command = [LINKER, "-shared", "--eh-frame-hdr", "-m", "armelf_linux_eabi", "--target2=rel", "--hash-style=both"]
        command += ["-T", f"{folder}/kernel.ld", "-o", str(output), *map(str, paths)]
        subprocess.run(command, check=True)
        return output.read_bytes()


if __name__ == "__main__":
    print(script(), end="")
