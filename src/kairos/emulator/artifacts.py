"""Locations of the built files: emulator, firmware, gateware library.

In a checkout they are in ``build/``. Installed, they come with the packages ``kairos-device``,
which has firmware and gateware in folders as ``build/`` has them, and ``kairos-emulator``, the
program.
"""

import os
from importlib import metadata, resources
from pathlib import Path

from ..errors import EmulatorError, UsageError

__all__ = ["SYSTEMS", "build_directory", "built_database", "built_firmware", "command", "find"]

SYSTEMS = {
    "pair": ("pair", "satellite"),
    "chain": ("chain", "relay", "satellite"),
    "star": ("star", "satellite"),
    "tree": ("tree", "fork", "satellite"),
}
"""Systems of several boards that the emulator knows by name, and the variants of their gateware."""

LIBRARY = "libkairos_pl.so"
"""Gateware as a library, of each variant."""

DEVICE = "kairos-device"
"""The package that has firmware and gateware."""

EMULATOR = "kairos-emulator"
"""The emulator: its package, and the program in it."""


def build_directory() -> Path:
    """``KAIROS_BUILD``, else ``build/`` of the checkout this file belongs to, else what is
    installed, else ``build/`` of the current directory.
    """
    if configured := os.environ.get("KAIROS_BUILD"):
        return Path(configured)
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "Makefile").is_file():
        return checkout / "build"
    return _installed_device() or Path("build").resolve()


def _installed_device() -> Path | None:
    """The folder of ``kairos-device``, or None."""
    try:
        # A package is unpacked when it is installed: its files have paths.
        return Path(str(resources.files(DEVICE.replace("-", "_"))))
    except ModuleNotFoundError:
        return None


def _emulator(build: Path) -> Path:
    """The emulator: of `build`, or the installed one where that is installed too."""
    path = build / "emulator" / EMULATOR
    if path.is_file() or build != _installed_device():
        return path
    try:
        files = metadata.files(EMULATOR) or ()
    except metadata.PackageNotFoundError:
        return path
    # Where it lies depends on how it was installed (for a user, in an environment, below a prefix).
    return next((Path(str(file.locate())) for file in files if file.name == EMULATOR), path)


def how_to_get(*parts: str) -> str:
    """What to do where `parts` (``firmware``, ``gateware``, ``emulator``) are missing, as the end of a sentence."""
    if build_directory() == _installed_device():
        packages = dict.fromkeys(EMULATOR if part == "emulator" else DEVICE for part in parts)
        return f"install it with 'pip install {' '.join(packages)}' (or set KAIROS_BUILD)"
    return f"build with 'make {' '.join(dict.fromkeys(parts))}' in the Kairos checkout (or set KAIROS_BUILD)"


def built_firmware(name: str) -> Path:
    """Path of an image of the built firmware, such as ``boot.elf``; UsageError if it is not there."""
    path = build_directory() / "firmware" / name
    if not path.is_file():
        raise UsageError(f"there is no {path}: {how_to_get('firmware')}, or name another file")
    return path


def built_database(variant: str) -> Path:
    """Path of the device database that comes with a gateware; UsageError if it is not built."""
    path = gateware(variant, "device_db.py")
    if not path.is_file():
        raise UsageError(f"there is no {path}: {how_to_get('gateware', f'VARIANT={variant}')}")
    return path


def command(what: str) -> tuple[Path, list[str]]:
    """The emulator, and the arguments for a gateware variant, for a system of several boards
    (`SYSTEMS`), or for the description of one, a file whose name ends with ``.toml``.

    EmulatorError if something is missing, with the command that makes it.
    """
    build = build_directory()
    if what.endswith(".toml"):
        if not Path(what).is_file():
            where = "" if Path(what).is_absolute() else f" in {Path.cwd()}, where this runs"
            raise EmulatorError(f"there is no description of boards {what}{where}")
        return find((), ())[0], ["--system", what, "--build", str(build)]
    if what in SYSTEMS:
        program, *_ = find(("runtime.elf", "satman.elf"), SYSTEMS[what])
        return program, ["--system", what, "--build", str(build)]
    program, firmware, library = find(("runtime.elf",), (what,))
    return program, ["--firmware", str(firmware), "--pl", str(library)]


def gateware(variant: str, name: str) -> Path:
    """Path of a file of a gateware variant, which may be missing; EmulatorError if only other variants are there."""
    folder = build_directory() / "gateware"
    if not (folder / variant / name).is_file():
        known = sorted(path.parent.name for path in folder.glob(f"*/{LIBRARY}"))
        if known and variant not in known:
            raise EmulatorError(
                f"there is no gateware '{variant}' for the emulator in {folder}; available: {', '.join(known)}. "
                f"In a checkout, `make gateware VARIANT={variant}` builds it if a description exists"
            )
    return folder / variant / name


def find(images: tuple[str, ...], variants: tuple[str, ...]) -> tuple[Path, ...]:
    """Paths of the emulator, of these images of the firmware, and of the gateware libraries of these variants.

    EmulatorError if one is missing, with the command that makes it.
    """
    build = build_directory()
    libraries = [gateware(variant, LIBRARY) for variant in variants]
    paths = (_emulator(build), *(build / "firmware" / image for image in images), *libraries)
    missing = [path for path in paths if not path.is_file()]
    if missing:
        names = [str(path.relative_to(build)) for path in missing]
        raise EmulatorError(
            f"the emulator is not built: {', '.join(names)} missing in {build}; "
            f"{how_to_get(*(name.partition('/')[0] for name in names))}"
        )
    return paths
