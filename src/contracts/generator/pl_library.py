"""The C interface of the simulated logic: one description, from which its header, the emulator's structures and the
Python binding's are made."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .facts import FactError, Subject

__all__ = ["files"]

SOURCE = "src/contracts/pl_library/ports.toml"
HEADER = "src/gateware/kairos_gateware/verilated/kairos_pl_ports.h"
RUST = "src/emulator/src/pl/ports.rs"
PYTHON = "src/gateware/kairos_gateware/verilated/pl_ports.py"
SIZES = {"u64": 8, "u32": 4, "u16": 2, "u8": 1}


@dataclass
class Field:
    """A field of a structure; `length`: the name of its length if it is an array."""

    name: str
    type: str
    length: str | None
    note: str


def files(_subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each generated file by its path. FactError if the description is not as it should be."""
    facts = tomllib.loads((root / SOURCE).read_text())
    notes = dict(facts["notes"])
    structures = {name: _fields(facts[name], notes, facts["lengths"]) for name in ("inputs", "outputs")}
    if notes:
        raise FactError(f"ports.toml: notes on fields that there are not: {', '.join(sorted(notes))}")
    return {HEADER: _header(facts, structures), RUST: _rust(facts, structures), PYTHON: _python(facts, structures)}


def _fields(fact: dict, notes: dict[str, str], lengths: dict) -> list[Field]:
    fields: list[Field] = []
    for group in fact["groups"]:
        length = group.get("length")
        if group["type"] not in SIZES or (length is not None and length not in lengths):
            raise FactError(f"ports.toml: {fact['name']}: unknown type or length in {group}")
        if fields and SIZES[group["type"]] > SIZES[fields[-1].type]:
            raise FactError(f"ports.toml: {fact['name']}: {group['type']} after a smaller type would need padding")
        fields += [Field(name, group["type"], length, notes.pop(name, "")) for name in group["names"].split()]
    if len({field.name for field in fields}) < len(fields):
        raise FactError(f"ports.toml: {fact['name']}: there are two fields of one name")
    return fields


def _header(facts: dict, structures: dict[str, list[Field]]) -> str:
    lines = [
        "/* Ports of the simulated logic, for kairos_pl.h.",
        " *",
        f" * Generated from {SOURCE} by src/contracts/generate.py: do not edit.",
        " */",
        "#ifndef KAIROS_PL_PORTS_H",
        "#define KAIROS_PL_PORTS_H",
        "",
        "#include <stdint.h>",
        "",
        f"/* {facts['abi_doc']} */",
        f"#define KAIROS_PL_ABI {facts['abi']}",
    ]
    for name, length in facts["lengths"].items():
        lines += [f"/* {length['doc']} */", f"#define KAIROS_PL_MAX_{name} {length['value']}"]
    for name, fields in structures.items():
        lines += ["", f"/* {facts[name]['doc']} */", f"typedef struct {facts[name]['name']} {{"]
        for field in fields:
            array = f"[KAIROS_PL_MAX_{field.length}]" if field.length else ""
            note = f" /* {field.note} */" if field.note else ""
            lines.append(f"    uint{field.type[1:]}_t {field.name}{array};{note}")
        lines.append(f"}} {facts[name]['name']};")
    return "\n".join([*lines, "", "#endif", ""])


def _rust(facts: dict, structures: dict[str, list[Field]]) -> str:
    lines = [
        "//! Ports of the simulated logic: the structures of `kairos_pl_ports.h`.",
        "//!",
        f"//! Generated from `{SOURCE}` by `src/contracts/generate.py`: do not edit.",
        "",
        f"/// {facts['abi_doc']}",
        f"pub const ABI: u32 = {facts['abi']};",
    ]
    for name, length in facts["lengths"].items():
        lines += [f"/// {length['doc']}", f"pub const MAX_{name}: usize = {length['value']};"]
    for name, fields in structures.items():
        lines += ["", f"/// {facts[name]['doc']}", "#[allow(missing_docs)]", "#[repr(C)]", "#[derive(Clone, Copy)]"]
        lines.append(f"pub struct {facts[name]['rust']} {{")
        for field in fields:
            kind = f"[{field.type}; MAX_{field.length}]" if field.length else field.type
            lines += [f"    /// {field.note[0].upper()}{field.note[1:]}."] if field.note else []
            lines.append(f"    pub {field.name}: {kind},")
        lines.append("}")
    return "\n".join([*lines, ""])


def _python(facts: dict, structures: dict[str, list[Field]]) -> str:
    names = [*(facts[name]["python"] for name in structures), *(f"MAX_{name}" for name in facts["lengths"]), "ABI"]
    lines = [
        '"""Ports of the simulated logic: the structures of kairos_pl_ports.h.',
        "",
        f"Generated from {SOURCE} by src/contracts/generate.py: do not edit.",
        '"""',
        "",
        "import ctypes",
        "",
        f"__all__ = [{', '.join(f'{chr(34)}{name}{chr(34)}' for name in sorted(names))}]",
        "",
        f"ABI = {facts['abi']}",
        f'"""{facts["abi_doc"]}"""',
    ]
    for name, length in facts["lengths"].items():
        lines += [f"MAX_{name} = {length['value']}", f'"""{length["doc"]}"""']
    for name, fields in structures.items():
        lines += ["", "", f"class {facts[name]['python']}(ctypes.Structure):"]
        lines += [f'    """`{facts[name]["name"]}`: {facts[name]["doc"][0].lower()}{facts[name]["doc"][1:]}"""', ""]
        lines.append("    _fields_ = [")
        for field in fields:
            kind = f"ctypes.c_uint{field.type[1:]}"
            array = f" * MAX_{field.length}" if field.length else ""
            lines.append(f'        ("{field.name}", {kind}{array}),')
        lines.append("    ]")
    return "\n".join([*lines, ""])
