"""What a worker needs to compute points: the files of an experiment, its device database, its bench.

Everything travels as text, so that a worker may be on another computer. It works in a folder with a
copy of the experiment's own folder.
"""

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ... import __version__, pyon
from ...errors import UsageError
from ...files import read, toml_of
from .toml import toml

__all__ = [
    "BENCH",
    "DATABASE",
    "Task",
    "bench_text",
    "folder_files",
    "numbers_of",
    "resolved",
    "source",
    "whole",
    "with_values",
]

DATABASE, BENCH = "device_db.py", "bench.toml"
LARGEST, MOST, TOTAL = 1 << 20, 500, 20 << 20
"""Files of an experiment's folder: the largest in bytes, how many, and all together."""
SKIPPED = {".git", "__pycache__", ".kairos", "results", "node_modules"}


@dataclass(frozen=True)
class Task:
    """A sweep, as its workers see it."""

    files: dict[str, str]
    """Texts of the files in the experiment's folder, by path."""
    file: str
    """The experiment's, relative to that folder."""
    class_name: str | None
    device_db: str
    bench: str | None
    """Text of the bench file; None: the chips of the cards."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Arguments that do not vary, as typed."""
    twin: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    """Timing parameters of the emulator."""
    datasets: dict[str, Any] = field(default_factory=dict)
    """Broadcast datasets that it may read."""
    within_s: float | None = None
    """Seconds after which a point has failed."""
    version: str = __version__
    """Of Kairos: what another one computes is another sweep."""

    def encode(self) -> bytes:
        """Return it as text."""
        return pyon.encode(asdict(self)).encode()

    @classmethod
    def decode(cls, text: bytes) -> "Task":
        """Return the task that was encoded. UsageError if that was another version of Kairos."""
        said = pyon.decode(text.decode())
        if said.get("version") != __version__:
            raise UsageError(f"the sweep is by Kairos {said.get('version', 'of long ago')}, its worker {__version__}")
        return cls(**said)

    @property
    def digest(self) -> str:
        """Hash of all that it consists of."""
        return hashlib.sha256(self.encode()).hexdigest()

    def write(self, folder: Path):
        """Write its files into a folder."""
        for name, text in {**self.files, DATABASE: self.device_db}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode(errors="surrogateescape"))


def source(path: Path) -> str:
    """Return the text of a file, which may be in another encoding than UTF-8. UsageError."""
    return read(path).decode(errors="surrogateescape")


def bench_text(path: Path) -> str:
    """Return the text of a bench file. UsageError if it is no TOML."""
    try:
        text = read(path).decode()
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    toml_of(text, path)
    return text


def folder_files(folder: Path) -> dict[str, str]:
    """Return the texts of the files in a folder and below it; large ones and binary ones are left out."""
    found, total = {}, 0
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if SKIPPED & set(parts) or any(part.startswith(".") for part in parts) or not path.is_file():
            continue
        size = path.stat().st_size
        if size > LARGEST or len(found) == MOST or total + size > TOTAL:
            continue
        try:
            text = source(path)
        except UsageError:
            continue
        if "\0" in text:
            continue
        found[Path(*parts).as_posix()] = text
        total += size
    return found


def resolved(name: str, bench: str | None) -> str:
    """Return the full name of a number of the bench file that is called `name`, or ends with it;
    UsageError if there is none, or several."""
    known = list(_leaves(bench or ""))
    short = [full for full in known if full == name or full.endswith(f".{name}")]
    units = [full for full in known if f".{name}_" in f".{full}" and "." not in full.rpartition(f"{name}_")[2]]
    found = [name] if name in known else short or units
    if len(found) > 1:
        raise UsageError(f"{name} may be {' or '.join(sorted(found))}: give the full name")
    if found:
        return found[0]
    section = name.split(".")[:2]
    if len(section) == 2 and any(full.split(".")[:2] == section for full in known):
        return name  # a number that has its default
    raise UsageError(
        f"neither the experiment has an argument {name}, nor the bench a number of this name"
        f"{'; the bench has ' + ', '.join(known[:20]) if known else ''}"
    )


def _leaves(bench: str) -> dict[str, Any]:
    """Return the values of a bench file, but for true and false, by their full names."""
    return dict(_below(toml_of(bench, BENCH)))


def _below(table: dict, prefix: str = ""):
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _below(value, f"{name}.")
        elif isinstance(value, list):
            yield from _below({str(n): each for n, each in enumerate(value)}, f"{name}.")
        elif not isinstance(value, bool):
            yield name, value


def numbers_of(bench: str) -> dict[str, float]:
    """Return the numbers of a bench file by their full names."""
    return {name: float(value) for name, value in _leaves(bench).items() if isinstance(value, int | float)}


def whole(bench: str, values: dict[str, float]) -> dict[str, float]:
    """Return numbers as the bench file has them: whole ones stay whole."""
    leaves = _leaves(bench)
    return {name: round(value) if isinstance(leaves[name], int) else value for name, value in values.items()}


def with_values(bench: str, values: dict[str, Any], beside: Path | None = None) -> str:
    """Return a bench file in which numbers have other values, by their full names; UsageError. `beside`: the folder of
    the file, if the new one is elsewhere: models in Python are found from there."""
    table = toml_of(bench, BENCH)
    for model in table.get("python", {}).values() if beside is not None else ():
        if isinstance(model.get("file"), str):
            model["file"] = str(beside.absolute() / model["file"])
    for name, value in values.items():
        *path, last = name.split(".")
        place: Any = table
        for step in path:
            try:
                place = place[int(step)] if isinstance(place, list) else place.setdefault(step, {})
            except (AttributeError, IndexError, ValueError):
                raise UsageError(f"the bench has no number {name}") from None
        if isinstance(place, list):
            place[int(last)] = value
        elif isinstance(place, dict):
            place[last] = value
        else:
            raise UsageError(f"the bench has no number {name}")
    return toml(table)
