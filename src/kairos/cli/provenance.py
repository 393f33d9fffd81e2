"""What the results of a run depend on, for the group ``provenance`` of its file: all that is needed to
repeat it.

Files are read when they are loaded, so that edits during the run do not end up in its file.
"""

import os
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .. import __version__, pyon
from ..devices import DEVICES, whole_text
from ..emulator import fingerprints, is_emulated, variant_of
from ..errors import UsageError
from ..files import toml_of
from ..installed import libraries
from . import precompiled
from .opened import OURS, Opened, hash_of_file

__all__ = [
    "CODE",
    "Provenance",
    "hash_of",
    "imported_from_elsewhere",
    "know_imported",
    "models_of",
    "modules_from_elsewhere",
    "packages",
]

CODE = "code:"
"""Before hashes of kernels that do not depend on where their sources are."""
UNCOUNTED = {"hash", "status", "revision", "packages", "python_version"}
"""What names the origin of something else that counts, or should not matter."""


class Provenance:
    """The origin of a run: its experiment `file`, the device database, the `bench` file of an emulated
    device (None: the chips of its cards), the `host` of its core device, and the folder `root` to which
    names of imported files are relative, by default that of the experiment. `entries`: of the database."""

    def __init__(
        self,
        file: Path,
        database: str,
        bench: str | None = None,
        host: str | None = None,
        root: Path | None = None,
        entries: dict | None = None,
    ):
        self._file, self._database = file, Path(database)
        self._opened = Opened()
        self._root = (root or file.parent).resolve()
        self._texts: dict[Path, str] = {}
        self._data: dict[str, str] = {}
        experiment = "" if precompiled.is_precompiled(file.name) else self._read(file)
        text = self._read(self._database)
        self._values = {"experiment": experiment, "device_db": text}
        if entries is not None and (whole := whole_text(text, entries)) != text:
            self._values[DEVICES] = whole
        if bench is not None:
            self._values["bench"] = self._read(Path(bench))
            self._remember(*models_of(Path(bench), self._values["bench"]))
            self._data = data_of(Path(bench), self._values["bench"])
        self._host = host
        if isinstance(host, str) and host.endswith(".toml"):
            self._values["system"] = self._read(Path(host.removeprefix("emulator://")))
        self.refresh()

    def _read(self, path: Path) -> str:
        try:
            return path.read_text(errors="replace")
        except OSError:
            return ""

    def _remember(self, *paths: Path):
        for path in paths:
            if path not in self._texts and path not in (self._file.resolve(), self._database.resolve()):
                self._texts[path] = self._read(path)

    def refresh(self):
        """Read the user's modules that have been imported since, and other code that was executed."""
        self._remember(*_imported())
        self._remember(*(path for file in list(self._opened.code) if (path := _of_user(file)) is not None))

    def _files(self) -> str:
        """Return hash and name of each other file that was read, a line each."""
        found = {**_extensions(), **self._data, **self._opened.hashes}
        paths = {Path(path).resolve(): value for path, value in found.items()}
        named = {path.relative_to(self._root) if path.is_relative_to(self._root) else path for path in paths}
        return "".join(f"{paths[self._root / name]}  {name}\n" for name in sorted(named))

    def values(
        self,
        arguments: dict,
        parameters: dict | None = None,
        libraries: Iterable[str] = (),
        known: dict[str, str] | None = None,
    ) -> dict[str, str]:
        """Return the values of the group by name, without empty ones; `arguments`: all values of the
        experiment's arguments, given or default; `parameters`: the datasets that it has read;
        `libraries`: SHA-256 of its kernels; `known`: values that are known already, by name.

        ``hash`` is that of everything that the run depends on, except the versions of Python and of
        packages: runs of one hash on the emulated device have the same waveform.
        """
        self.refresh()
        known = known or {}
        found = {
            **self._values,
            "kairos_version": __version__,
            "python_version": sys.version.partition(" ")[0],
            "packages": "".join(f"{line}\n" for line in packages()),
            "arguments": pyon.encode({name: _plain(value) for name, value in arguments.items()}),
            "parameters": pyon.encode({name: _plain(value) for name, value in sorted((parameters or {}).items())}),
            "files": self._files(),
            "kernels": "".join(f"{CODE}{line}\n" for line in libraries),
            "revision": known["revision"] if "revision" in known else _revision(self._file.resolve().parent),
            **(fingerprints(variant_of(self._host)) if is_emulated(self._host) else {}),
            **known,
        }
        found |= {f"imported/{_name(path, self._root)}": text for path, text in sorted(self._texts.items())}
        found = {name: value for name, value in found.items() if value}
        return {**found, "hash": hash_of(found)}


def hash_of(values: dict[str, str]) -> str:
    """Return the hash of the values of a group, except those that do not count."""
    counted = sorted((name, value) for name, value in values.items() if name not in UNCOUNTED)
    import hashlib  # imported late: it loads OpenSSL, and a run needs it at its end

    return hashlib.sha256(pyon.encode(counted).encode()).hexdigest()


def _name(path: Path, folder: Path) -> str:
    """Return the name of a file: relative to a folder, or else the whole path."""
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path).lstrip("/")


def know_imported():
    """Look at the modules that are imported now, so that copies of this process need not."""
    _imported()


def imported_from_elsewhere(folder: Path) -> dict[str, str]:
    """Return the hashes of the files of imported modules that belong to no installation and are not in a folder, by
    their paths."""
    paths = sorted({path for path in _imported() if not path.is_relative_to(folder.resolve())})
    return {str(path): hash_of_file(str(path)) for path in paths if path.is_file()}


def modules_from_elsewhere(folder: Path) -> dict[str, Path]:
    """Return the files of imported modules, compiled ones too, that belong to no installation and are not in a folder,
    by the modules' names."""
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    named = {name: file for name, file in files.items() if isinstance(file, str) and file.endswith((".py", ".so"))}
    paths = {name: path for name, file in named.items() if (path := _of_user(file)) is not None}
    elsewhere = {name: path for name, path in paths.items() if not path.is_relative_to(folder.resolve())}
    return {name: path for name, path in elsewhere.items() if name != "__main__" and path.is_file()}


def _imported() -> list[Path]:
    """Return the files of imported modules that belong to no installation."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    found = [_of_user(file) for file in files if isinstance(file, str) and file.endswith(".py")]
    return [path for path in found if path is not None]


@cache
def _installed() -> list[Path]:
    return [*(Path(place).resolve() for place in libraries()), Path(os.__file__).resolve().parent]


@cache
def _known_folders() -> tuple[str, str]:
    """Return the folders of Python's own modules, and of Kairos."""
    return os.path.join(os.path.dirname(os.__file__), ""), OURS


@cache
def _of_user(file: str) -> Path | None:
    """Return the path of a module's file; None if it belongs to an installation."""
    # Most modules are these. In a folder of packages there may be links to the user's own code.
    if file.startswith(_known_folders()) and "site-packages" not in file:
        return None
    path = Path(file).resolve()
    if "site-packages" in path.parts or any(path.is_relative_to(place) for place in _installed()):
        return None
    return path


def _extensions() -> dict[str, str]:
    """Return hashes of imported modules of the user that are compiled, by their paths."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    paths = [_of_user(file) for file in files if isinstance(file, str) and file.endswith(".so")]
    return {str(path): hash_of_file(str(path)) for path in paths if path is not None and path.is_file()}


def models_of(bench: Path, text: str) -> list[Path]:
    """Return the Python files that a bench file names, and those beside them that they import."""
    waiting, found = [path for path in _named_in(bench, text) if path.suffix == ".py"], []
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.append(path)
            waiting += _beside(path, {path.parent, bench.resolve().parent})
    return found


def data_of(bench: Path, text: str) -> dict[str, str]:
    """Return the hashes of the other files that a bench file names, by their paths."""
    return {str(path): hash_of_file(str(path)) for path in _named_in(bench, text) if path.suffix != ".py"}


def _named_in(bench: Path, text: str) -> list[Path]:
    """Return the files that the texts in a bench file are the names of."""
    try:
        waiting: list = [toml_of(text, bench)]
    except UsageError:
        return []
    found = []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and os.path.isfile(bench.parent / value):
            found.append((bench.parent / value).resolve())
    return found


def _beside(path: Path, folders: set[Path]) -> list[Path]:
    """Return the files in these folders, or below them, that a Python file imports anywhere."""
    import ast  # imported late: few runs have models in Python

    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names)}
    found = set()
    for name in names - {""}:
        parts = name.split(".")
        for place in (folder.joinpath(*parts[: end + 1]) for folder in folders for end in range(len(parts))):
            found |= {each for each in (place.with_suffix(".py"), place / "__init__.py") if each.is_file()}
    return sorted(each.resolve() for each in found)


def packages() -> list[str]:
    """Return name and version of the imported packages of others, as ``name==version``."""
    from importlib import metadata  # imported late: only results need it

    found = []
    for name in sorted({name.partition(".")[0] for name in list(sys.modules)} - {"kairos"}):
        if name in sys.stdlib_module_names or name.startswith("_"):
            continue
        try:
            found.append(f"{name}=={metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue  # the user's own, or part of another one
    return found


def _plain(value):
    """Return a value that PYON can represent: of a scan its description, of anything else its text."""
    try:
        pyon.encode(value)
        return value
    except TypeError:
        described = getattr(value, "describe", None)
        return described() if callable(described) else repr(value)


def _revision(folder: Path) -> str:
    """Return the commit of a directory's Git repository, followed by a plus for uncommitted
    changes; empty without one."""
    import subprocess  # imported late: it takes longer than all else here

    try:
        said = [
            subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, timeout=10, check=True).stdout
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        ]
    except (OSError, subprocess.SubprocessError):
        return ""
    return said[0].strip() + ("+" if said[1].strip() else "")
