"""Reading the facts: one TOML file for each subject, checked as it is read.

What every subject may have:

    doc             what it is about
    [constants]     NAME = {type, value, doc}; type: u8, u16, u32, usize, str, or bytes (text in UTF-8)
    [enums.Name]    doc, type, members; columns: what else a member says, with the heading in tables; attributes: which
                    of these become functions of the enum in Rust, with the enum that they are members of
    [flags.Name]    doc, type, members (values are bits)
    [layouts]       Name = {doc, fields}: records in messages (`layouts.py`)

Some have tables of their own, which the makers know by the subject's name.
"""

import itertools
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import layouts
from .errors import FactError
from .layouts import Layout

__all__ = ["Constant", "Enum", "FactError", "Member", "Subject", "camel", "load"]

INTEGERS = {"u8": 8, "u16": 16, "u32": 32, "usize": 32}
COMMON = {"doc", "constants", "enums", "flags", "layouts"}
OWN = {
    "configuration": {"keys"},
    "exceptions": {"exceptions"},
    "kernel_symbols": {"groups", "runtime"},
    "mathematics": {"functions"},
    "memory": {"regions"},
    "registers": {"blocks"},
    "rpc": {"tags"},
}


@dataclass(frozen=True)
class Constant:
    """A named number, text, or row of bytes."""

    name: str
    type: str
    value: Any
    doc: str


@dataclass(frozen=True)
class Member:
    """One of an enumeration. more: what else is said of it, by column."""

    name: str
    value: int
    doc: str
    more: dict[str, Any]


@dataclass(frozen=True)
class Enum:
    """Names for numbers; of flags, each a bit."""

    name: str
    type: str
    doc: str
    members: tuple[Member, ...]
    columns: dict[str, str]
    attributes: dict[str, str]


@dataclass(frozen=True)
class Subject:
    """What one file says. own: its tables that only the makers understand."""

    name: str
    doc: str
    constants: tuple[Constant, ...]
    enums: tuple[Enum, ...]
    flags: tuple[Enum, ...]
    layouts: tuple[Layout, ...]
    own: dict[str, Any] = field(default_factory=dict)


def camel(name: str) -> str:
    """snake_case to CamelCase."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def load(folder: Path) -> dict[str, Subject]:
    """The subjects by name. FactError if one is not as it should be."""
    return {path.stem: _subject(path) for path in sorted(folder.glob("*.toml")) if path.name != "Cargo.toml"}


def _subject(path: Path) -> Subject:
    try:
        facts = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise FactError(f"{path.name}: {error}") from None
    own = OWN.get(path.stem, set())
    if unknown := facts.keys() - COMMON - own:
        raise FactError(f"{path.name}: unknown: {', '.join(sorted(unknown))}")
    if missing := own - facts.keys():
        raise FactError(f"{path.name}: {', '.join(sorted(missing))} is missing")
    where = path.name
    subject = Subject(
        name=path.stem,
        doc=_take(where, facts, "doc"),
        constants=tuple(_constant(where, name, fact) for name, fact in facts.get("constants", {}).items()),
        enums=tuple(_enum(where, name, fact) for name, fact in facts.get("enums", {}).items()),
        flags=tuple(_enum(where, name, fact, bits=True) for name, fact in facts.get("flags", {}).items()),
        layouts=layouts.read(where, facts.get("layouts", {})),
        own={name: facts[name] for name in own},
    )
    _check_attributes(where, subject)
    _check_regions(where, subject.own.get("regions", {}))
    return subject


def _take(where: str, fact: dict, key: str) -> Any:
    if key not in fact:
        raise FactError(f"{where}: '{key}' is missing")
    return fact[key]


def _constant(where: str, name: str, fact: dict) -> Constant:
    where = f"{where}, {name}"
    kind, value = _take(where, fact, "type"), _take(where, fact, "value")
    if not re.fullmatch("[A-Z][A-Z0-9_]*", name):
        raise FactError(f"{where}: constants are written in capitals")
    if kind in INTEGERS:
        _check_range(where, kind, value)
    elif kind not in ("str", "bytes") or not isinstance(value, str):
        raise FactError(f"{where}: {value!r} is no {kind}")
    return Constant(name, kind, value, _take(where, fact, "doc"))


def _check_range(where: str, kind: str, value: Any) -> None:
    if not isinstance(value, int) or not 0 <= value < 2 ** INTEGERS[kind]:
        raise FactError(f"{where}: {value!r} is no {kind}")


def _enum(where: str, name: str, fact: dict, bits: bool = False) -> Enum:
    where = f"{where}, {name}"
    kind = _take(where, fact, "type")
    if kind not in INTEGERS:
        raise FactError(f"{where}: numbers of type {kind} are not known")
    members, seen = [], {}
    columns = fact.get("columns", {})
    for label, entry in _take(where, fact, "members").items():
        place = f"{where}, {label}"
        value = _take(place, entry, "value")
        _check_range(place, kind, value)
        if value in seen:
            raise FactError(f"{place}: {seen[value]} has the number {value} already")
        if bits and value.bit_count() != 1:
            raise FactError(f"{place}: {value} is not one bit")
        if lacking := [column for column in columns if column not in entry]:
            raise FactError(f"{place}: '{lacking[0]}' is missing")
        seen[value] = label
        more = {key: text for key, text in entry.items() if key not in ("value", "doc")}
        members.append(Member(label, value, _take(place, entry, "doc"), more))
    return Enum(name, kind, _take(where, fact, "doc"), tuple(members), columns, fact.get("attributes", {}))


def _check_regions(where: str, regions: dict[str, dict]) -> None:
    """Regions of memory that are in use at the same time must not overlap."""
    for name, region in regions.items():
        for key in ("when", "start", "end", "doc"):
            _take(f"{where}, {name}", region, key)
        if region["when"] not in ("run", "boot", "always") or not 0 <= region["start"] < region["end"] < 1 << 32:
            raise FactError(f"{where}, {name}: a region has addresses of 32 bits, and is there to run, boot, or always")
    for when in ("run", "boot"):
        used = sorted((r["start"], r["end"], name) for name, r in regions.items() if r["when"] in (when, "always"))
        for (_, end, name), (start, _, other) in itertools.pairwise(used):
            if start < end:
                raise FactError(f"{where}: {name} and {other} overlap")


def _check_attributes(where: str, subject: Subject) -> None:
    """What members say by an attribute must be members of the enum that it names."""
    known = {enum.name: {member.name for member in enum.members} for enum in subject.enums}
    for enum in subject.enums:
        for attribute, target in enum.attributes.items():
            for member in enum.members:
                said = member.more.get(attribute)
                for word in said if isinstance(said, list) else [said]:
                    if word not in known.get(target, ()):
                        raise FactError(f"{where}, {enum.name}, {member.name}: {target} has no member {word!r}")
