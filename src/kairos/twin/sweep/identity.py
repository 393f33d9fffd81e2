"""What a worker computes with, by hash: two workers with the same give the same results.

Kairos' own sources and compiled parts, the versions of packages that are imported, and the user's modules that the
experiment imports from elsewhere than its folder, which does not travel.
"""

import hashlib
import importlib.util
import sys
from importlib import metadata
from pathlib import Path

from ...cli.opened import OURS, hash_of_file
from ...cli.provenance import modules_from_elsewhere, packages
from ...emulator import fingerprints, is_emulated, variant_of
from ...errors import KairosError

__all__ = ["difference", "identity", "own_external"]

PYTHON, KAIROS, PACKAGE, MODULE = "Python", "Kairos", "package ", "module "


def identity(folder: Path, host: str | None) -> dict[str, str]:
    """Return what this process computes with: versions and hashes by name. `folder`: of the experiment; `host`: its
    device, of which the emulated one counts."""
    modules = modules_from_elsewhere(folder)
    return {
        **_installation(host),
        **{f"{PACKAGE}{name}": version for name, version in (line.split("==") for line in packages())},
        **{f"{MODULE}{name}": hash_of_file(str(path)) for name, path in sorted(modules.items())},
    }


def _installation(host: str | None) -> dict[str, str]:
    digest, root = hashlib.sha256(), Path(OURS)
    for path in sorted([*root.rglob("*.py"), *root.glob("_native*.so")]):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    parts = fingerprints(variant_of(host)) if is_emulated(host) else {}
    return {PYTHON: "{}.{}".format(*sys.version_info), KAIROS: digest.hexdigest(), **parts}


def difference(worker: dict[str, str], host: str | None) -> str | None:
    """Return what a worker has that is not here, as a text with what to do; None: it has the same."""
    ours = _installation(host)
    for name, found in worker.items():
        if name.startswith(PACKAGE):
            package = name.removeprefix(PACKAGE)
            if (version := _version(package)) != found:
                return f"{package} {found} instead of {version or 'none'}: install the same there and here"
        elif name.startswith(MODULE):
            module = name.removeprefix(MODULE)
            path = _place(module)
            if path is None or hash_of_file(str(path)) != found:
                what = "another module" if path is not None else "a module that is not here,"
                return f"{what} {module}: copy it, or have it in the experiment's folder"
        elif found != ours.get(name):
            value = f" {found} instead of {ours.get(name)}" if name == PYTHON else ""
            return f"another {name}{value}: install the same version, built from the same sources"
    missing = [name for name in ours if name not in worker]
    return f"no {missing[0]}: install the same version there" if missing else None


def own_external(worker: dict[str, str]) -> dict[str, str]:
    """Return the user's modules of a worker that has the same, as they are here: hashes by path, as
    `imported_from_elsewhere` has them."""
    modules = {name.removeprefix(MODULE): value for name, value in worker.items() if name.startswith(MODULE)}
    places = {str(_place(name)): value for name, value in modules.items()}
    return {path: value for path, value in places.items() if path.endswith(".py")}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _place(module: str) -> Path | None:
    """Return the file of a module, as this process imports it."""
    try:
        file = getattr(sys.modules.get(module), "__file__", None)
        spec = None if file is not None else importlib.util.find_spec(module)
    except (ImportError, ValueError, KairosError):
        return None
    file = file if spec is None else spec.origin
    return None if file is None or not Path(file).is_file() else Path(file).resolve()
