"""LLVM's linker, against which the compiler's own is tested."""

import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["LINKER", "link"]

LINKER = shutil.which("ld.lld")
_SCRIPT = Path(__file__).with_name("kernel.ld")


def link(objects: list[bytes]) -> bytes:
    """The shared library made of `objects`, with its debug information."""
    with tempfile.TemporaryDirectory(prefix="kairos-") as folder:
        paths = [Path(folder) / f"{index}.o" for index in range(len(objects))]
        for path, content in zip(paths, objects, strict=True):
            path.write_bytes(content)
        output = Path(folder) / "kernel.elf"
        command = [LINKER, "-shared", "--eh-frame-hdr", "-m", "armelf_linux_eabi", "--target2=rel", "--hash-style=both"]
        command += ["-T", str(_SCRIPT), "-o", str(output), *map(str, paths)]
        subprocess.run(command, check=True)
        return output.read_bytes()
