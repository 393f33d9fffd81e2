"""Where the built files are: the emulator, the firmware, the gateware library."""

import os
from pathlib import Path

from ..errors import EmulatorError, UsageError

__all__ = ["build_directory", "built_firmware", "find"]

_TARGETS = {"firmware": "firmware", "gateware": "gateware", "emulator": "emulator"}


def build_directory() -> Path:
    """``KAIROS_BUILD``, else ``build/`` of the checkout this file belongs to, else of the current directory."""
    if configured := os.environ.get("KAIROS_BUILD"):
        return Path(configured)
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "Makefile").is_file():
        return checkout / "build"
    return Path("build").resolve()


def built_firmware(name: str) -> Path:
    """Path of an image of the built firmware, such as ``boot.elf``; UsageError if it is not there."""
    path = build_directory() / "firmware" / name
    if not path.is_file():
        raise UsageError(f"there is no {path}: build it with 'make firmware', or name another file")
    return path


def find(variant: str) -> tuple[Path, Path, Path]:
    """Paths of the emulator, the firmware and the gateware library of `variant`.

    EmulatorError if one is missing, with the command that makes it.
    """
    build = build_directory()
    paths = (
        build / "emulator" / "kairos-emulator",
        build / "firmware" / "runtime.elf",
        build / "gateware" / variant / "libkairos_pl.so",
    )
    if not paths[2].is_file() and paths[2].parent.parent.is_dir():
        known = sorted(path.parent.name for path in paths[2].parent.parent.glob("*/libkairos_pl.so"))
        if known:
            raise EmulatorError(f"there is no gateware '{variant}' to emulate in {build}; there is {', '.join(known)}")
    missing = [path for path in paths if not path.is_file()]
    if missing:
        names = " ".join(_TARGETS[path.relative_to(build).parts[0]] for path in missing)
        raise EmulatorError(
            f"the emulator is not built: {', '.join(str(path.relative_to(build)) for path in missing)} missing in "
            f"{build}; build with 'make {names}' in the Kairos checkout (or set KAIROS_BUILD)"
        )
    return paths
