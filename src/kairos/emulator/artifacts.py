"""Locations of the built files: emulator, firmware, gateware library.

In a checkout they are in ``build/``. When installed, they come with the packages ``kairos-device``,
which has firmware and gateware in the same layout as ``build/``, ``kairos-emulator`` and ``kairos-hub``,
the programs.
"""

import json
import os
from functools import cache
from pathlib import Path

from ..errors import EmulatorError, UsageError

__all__ = [
    "SYSTEMS",
    "boards",
    "build_directory",
    "built_database",
    "built_firmware",
    "channels",
    "command",
    "find",
    "fingerprints",
    "hub",
]

SYSTEMS = {
    "pair": ("pair", "satellite"),
    "chain": ("chain", "relay", "satellite"),
    "star": ("star", "satellite"),
    "pulse_pair": ("pulse_pair", "pulse_satellite"),
    "tree": ("tree", "fork", "satellite"),
}
"""Systems of several boards that the emulator knows by name, and their gateware variants."""

LIBRARY = "libkairos_pl.so"
"""The gateware of a variant as a library."""

DEVICE = "kairos-device"
"""The package with firmware and gateware."""

EMULATOR = "kairos-emulator"
"""Name of the emulator's package and program."""

HUB = "kairos-hub"
"""Name of the hub's package and program."""


def build_directory() -> Path:
    """Return ``KAIROS_BUILD``, else ``build/`` of the checkout this file belongs to, else the
    installed files, else ``build/`` of the current directory."""
    return _chosen() or _installed_device() or Path("build").resolve()


def _chosen() -> Path | None:
    """Return ``KAIROS_BUILD``, else ``build/`` of the checkout, or None."""
    if configured := os.environ.get("KAIROS_BUILD"):
        return Path(configured)
    checkout = Path(__file__).resolve().parents[3]
    return checkout / "build" if (checkout / "Makefile").is_file() else None


def _installed_device() -> Path | None:
    """The folder of ``kairos-device``, or None."""
    from importlib import resources  # imported late: a checkout does not need it

    try:
        # Packages are unpacked on installation, so their files have paths.
        return Path(str(resources.files(DEVICE.replace("-", "_"))))
    except ModuleNotFoundError:
        return None


def _program(path: Path) -> Path:
    """Return a program of the build directory, or the installed one if no such directory was chosen."""
    if path.is_file() or _chosen() is not None:
        return path
    from importlib import metadata  # imported late: a checkout does not need it

    try:
        files = metadata.files(path.name) or ()
    except metadata.PackageNotFoundError:
        return path
    # Its location depends on the installation scheme (user, environment, prefix).
    return next((Path(str(file.locate())) for file in files if file.name == path.name), path)


def hub(traces: bool = False) -> Path:
    """Return the path of the hub's program, or of the one with `traces`, which no package has; UsageError if it
    does not exist."""
    path = _program(build_directory() / "hub" / (f"{HUB}-traces" if traces else HUB))
    if traces and not path.is_file():
        raise UsageError(f"there is no {path}: build it with 'make hub-traces' in the Kairos checkout")
    if not path.is_file():
        raise UsageError(f"there is no {path}: {how_to_get('hub')}")
    return path


def how_to_get(*parts: str) -> str:
    """Return advice for missing `parts` (``firmware``, ``gateware``, ``emulator``, ``hub``), as the end of a
    sentence."""
    if _chosen() is None:
        packages = dict.fromkeys({"emulator": EMULATOR, "hub": HUB}.get(part, DEVICE) for part in parts)
        return f"install it with 'pip install {' '.join(packages)}' (or set KAIROS_BUILD)"
    return f"build with 'make {' '.join(dict.fromkeys(parts))}' in the Kairos checkout (or set KAIROS_BUILD)"


def built_firmware(name: str) -> Path:
    """Return the path of a firmware image, such as ``boot.elf``; UsageError if it does not exist."""
    path = build_directory() / "firmware" / name
    if not path.is_file():
        raise UsageError(f"there is no {path}: {how_to_get('firmware')}, or name another file")
    return path


def built_database(variant: str) -> Path:
    """Return the path of a gateware's device database; UsageError if it is not built."""
    path = gateware(variant, "device_db.py")
    if not path.is_file():
        raise UsageError(f"there is no {path}: {how_to_get('gateware', f'VARIANT={variant}')}")
    return path


def channels(variant: str) -> set[int] | None:
    """Return the numbers of all RTIO channels of a gateware and the boards behind it; None if they are not known, as
    those of a system that a file describes."""
    try:
        described = json.loads(gateware(variant, "descriptor.json").read_bytes())
    except (EmulatorError, OSError, ValueError):
        return None
    return {channel["number"] for channel in described["channels"]}


def command(what: str) -> tuple[Path, list[str]]:
    """Return the emulator, and its arguments for a gateware variant, a system of several boards
    (`SYSTEMS`), or the description of a system, a file whose name ends with ``.toml``.

    EmulatorError if something is missing, with the command that builds it.
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


def boards(what: str) -> int:
    """Return the number of boards of what `command` takes, or 1 if its description cannot be read; of a system in
    `SYSTEMS`, in which boards may share a variant, at least the number."""
    if not what.endswith(".toml"):
        return len(SYSTEMS.get(what, (what,)))
    # Imported late: only a system that the user describes has such a file.
    import tomllib

    try:
        return len(tomllib.loads(Path(what).read_text()).get("board", [])) or 1
    except (OSError, ValueError, TypeError):
        return 1


def fingerprints(what: str) -> dict[str, str]:
    """Return the SHA-256 of the files that an emulated device (see `command`) consists of, by the
    names ``emulator``, ``firmware``, ``gateware``; empty if they are missing."""
    try:
        program, arguments = command(what)
    except EmulatorError:
        return {}
    files = [Path(word) for word in arguments if word.endswith((".elf", ".so"))]
    if what in SYSTEMS:
        build = build_directory()
        files = [*sorted((build / "firmware").glob("*.elf")), *(gateware(name, LIBRARY) for name in SYSTEMS[what])]
    found: dict[str, str] = {"emulator": _digest(program)}
    for kind, ending in (("firmware", ".elf"), ("gateware", ".so")):
        own = [_digest(path) for path in files if path.suffix == ending]
        found |= {kind: " ".join(own)} if own else {}
    return found


@cache
def _digest(path: Path) -> str:
    import hashlib  # imported late: it loads OpenSSL, and a run needs it at its end

    return hashlib.sha256(path.read_bytes()).hexdigest()


def gateware(variant: str, name: str) -> Path:
    """Return the path of a file of a gateware variant, which may not exist; EmulatorError if only
    other variants exist."""
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
    """Return the paths of the emulator, of these firmware images, and of these variants' gateware
    libraries.

    EmulatorError if one is missing, with the command that builds it.
    """
    build = build_directory()
    libraries = [gateware(variant, LIBRARY) for variant in variants]
    paths = (_program(build / "emulator" / EMULATOR), *(build / "firmware" / image for image in images), *libraries)
    missing = [path for path in paths if not path.is_file()]
    if missing:
        names = [str(path.relative_to(build)) for path in missing]
        raise EmulatorError(
            f"the emulator is not built: {', '.join(names)} missing in {build}; "
            f"{how_to_get(*(name.partition('/')[0] for name in names))}"
        )
    return paths
