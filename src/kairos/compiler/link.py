"""Links object files to the shared library that the device loads (kernel ABI, section 1)."""

import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["LinkError", "link"]

_SCRIPT = Path(__file__).with_name("kernel.ld")


class LinkError(Exception):
    """The linker is missing or refused."""


def link(objects: list[bytes]) -> bytes:
    """The shared library made of `objects`, with its debug information."""
    linker = shutil.which("ld.lld")
    if linker is None:
        raise LinkError("the linker ld.lld was not found: install the package lld")
    with tempfile.TemporaryDirectory(prefix="kairos-") as folder:
        paths = [Path(folder) / f"{index}.o" for index in range(len(objects))]
        for path, content in zip(paths, objects, strict=True):
            path.write_bytes(content)
        output = Path(folder) / "kernel.elf"
        command = [linker, "-shared", "--eh-frame-hdr", "-m", "armelf_linux_eabi", "--target2=rel", "--hash-style=both"]
        command += ["-T", str(_SCRIPT), "-o", str(output), *map(str, paths)]
        # Not inheriting the few open descriptors is the linker's business; closing them would forbid the quick spawn.
        result = subprocess.run(command, capture_output=True, text=True, close_fds=False)
        if result.returncode:
            raise LinkError(result.stderr.strip())
        return output.read_bytes()
