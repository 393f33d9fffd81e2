"""Where the built files are: the emulator, the firmware, the gateware library."""

import os
from pathlib import Path

from ..errors import EmulatorError, UsageError

__all__ = ["SYSTEMS", "build_directory", "built_firmware", "command", "find"]

SYSTEMS = {"pair": ("pair", "satellite")}
"""Systems of several boards that the emulator knows by name, and the variants of their gateware."""

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


def command(what: str) -> tuple[Path, list[str]]:
    """The emulator, and the arguments for a gateware variant, for a system of several boards (`SYSTEMS`), or for the
    description of one, a file whose name ends with ``.toml``.

    EmulatorError if something is missing, with the command that makes it.
    """
    build = build_directory()
    if what.endswith(".toml"):
        if not Path(what).is_file():
            raise EmulatorError(f"there is no description of boards {what}")
        return find((), ())[0], ["--system", what, "--build", str(build)]
    if what in SYSTEMS:
        program, *_ = find(("runtime.elf",), SYSTEMS[what])
        return program, ["--system", what, "--build", str(build)]
    program, firmware, library = find(("runtime.elf",), (what,))
    return program, ["--firmware", str(firmware), "--pl", str(library)]


def find(images: tuple[str, ...], variants: tuple[str, ...]) -> tuple[Path, ...]:
    """Paths of the emulator, of these images of the firmware, and of the gateware libraries of these variants.

    EmulatorError if one is missing, with the command that makes it.
    """
    build = build_directory()
    gateware = build / "gateware"
    libraries = [gateware / variant / "libkairos_pl.so" for variant in variants]
    paths = (build / "emulator" / "kairos-emulator", *(build / "firmware" / image for image in images), *libraries)
    absent = [path.parent.name for path in libraries if not path.is_file()]
    if absent and gateware.is_dir():
        known = sorted(path.parent.name for path in gateware.glob("*/libkairos_pl.so"))
        if known:
            raise EmulatorError(
                f"there is no gateware '{absent[0]}' to emulate in {build}; there is {', '.join(known)}"
            )
    missing = [path for path in paths if not path.is_file()]
    if missing:
        names = " ".join(dict.fromkeys(_TARGETS[path.relative_to(build).parts[0]] for path in missing))
        raise EmulatorError(
            f"the emulator is not built: {', '.join(str(path.relative_to(build)) for path in missing)} missing in "
            f"{build}; build with 'make {names}' in the Kairos checkout (or set KAIROS_BUILD)"
        )
    return paths
