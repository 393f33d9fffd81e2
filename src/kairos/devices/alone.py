"""Device databases whose file says only a part of them: one that loads others, from its own folder or anywhere else, or
looks at its surroundings. What repeats a run elsewhere needs what they were."""

import ast
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .database import DeviceDB

__all__ = ["DEVICES", "database_of", "entries_text", "whole_text"]

DEVICES = "devices"
"""Name of the entries among what the file of a run says of its origin, if the text of its database is not enough."""
SYSTEM = "system.toml"

SURROUNDINGS = {"__file__", "__import__", "eval", "exec", "globals", "open"}
"""Names by which a file reaches others."""
PLAIN = (type(None), bool, int, float, str, bytes)


def whole_text(text: str, entries: dict) -> str:
    """Return the text of a device database that has these entries, wherever it is: its own, if possible."""
    return text if _is_complete(text) else entries_text(entries) or text


def database_of(origin: Mapping[str, str], folder: Path) -> DeviceDB:
    """Return the device database of a run, from what its file says of its origin (`kairos.cli.provenance`). Written to
    a `folder`, with the description of the system if its device is the emulated one of that. UsageError."""
    path = folder / "device_db.py"
    path.write_text(origin.get(DEVICES) or origin["device_db"])
    database = DeviceDB.load(path)
    if origin.get("system") and isinstance(core := database.get("core"), dict):
        (folder / SYSTEM).write_text(origin["system"])
        core["arguments"]["host"] = f"emulator://{folder / SYSTEM}"
    return database


@lru_cache(8)
def _is_complete(text: str) -> bool:
    """Return whether a device database is the same wherever its file is."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return True  # it cannot be loaded here either
    imports = any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)
    return not imports and not any(isinstance(node, ast.Name) and node.id in SURROUNDINGS for node in nodes)


def entries_text(entries: dict) -> str:
    """Return a device database that has these entries and needs no other file; empty if a value has no text."""
    try:
        lines = [f"    {_plain(name)!r}: {_plain(entry)!r},\n" for name, entry in entries.items()]
    except TypeError:
        return ""
    return f"device_db = {{\n{''.join(lines)}}}\n"


def _plain(value: Any):
    """Return a value with containers and numbers of Python's own types. TypeError for others."""
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        kind = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
        return kind(_plain(each) for each in value)
    if hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()
    for kind in PLAIN:
        if isinstance(value, kind):
            return value if type(value) is kind else kind(value)
    raise TypeError(f"{type(value).__name__} has no text")
