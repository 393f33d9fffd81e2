"""The C interface of the simulated logic: one description, from which its header, the emulator's types and the Python
binding are made."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .facts import FactError, Subject

__all__ = ["files"]

SOURCE = "src/contracts/pl_library/ports.toml"
HEADER = "src/gateware/kairos_gateware/verilated/kairos_pl.h"
RUST = "src/emulator/src/pl/ports.rs"
PYTHON = "src/gateware/kairos_gateware/verilated/pl_ports.py"
SIZES = {"u64": 8, "u32": 4, "u16": 2, "u8": 1}
TYPES = {
    "int": ("int ", "c_int", "ctypes.c_int"),
    "u32": ("uint32_t ", "u32", "ctypes.c_uint32"),
    "u64": ("uint64_t ", "u64", "ctypes.c_uint64"),
    "text": ("const char *", "*const c_char", "ctypes.c_char_p"),
    "instance": ("kairos_pl *", "*mut c_void", "ctypes.c_void_p"),
    "const instance": ("const kairos_pl *", "*const c_void", "ctypes.c_void_p"),
    "inputs": ("const kairos_pl_in *", "*const Inputs", "ctypes.POINTER(PlIn)"),
    "outputs": ("kairos_pl_out *", "*mut Outputs", "ctypes.POINTER(PlOut)"),
    "u32 out": ("uint32_t *", "*mut u32", "ctypes.POINTER(ctypes.c_uint32)"),
    "u64 out": ("uint64_t *", "*mut u64", "ctypes.POINTER(ctypes.c_uint64)"),
    "u64 words out": ("const uint64_t **", "*mut *const u64", "ctypes.POINTER(ctypes.POINTER(ctypes.c_uint64))"),
}
"""Type of an argument or result: in C (up to the name), Rust and ctypes."""
LINE = 120


@dataclass
class Field:
    """A field of a structure; `length`: the name of its length if it is an array."""

    name: str
    type: str
    length: str | None
    note: str


@dataclass
class Function:
    """A function, without the prefix of its name; `returns`, and types in `arguments` by name: of `TYPES`. emulator:
    it calls it."""

    name: str
    returns: str | None
    arguments: dict[str, str]
    doc: list[str]
    emulator: bool


def files(_subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each generated file by its path. FactError if the description is not as it should be."""
    facts = tomllib.loads((root / SOURCE).read_text())
    notes = dict(facts["notes"])
    structures = {name: _fields(facts[name], notes, facts["lengths"]) for name in ("inputs", "outputs")}
    if notes:
        raise FactError(f"ports.toml: notes on fields that there are not: {', '.join(sorted(notes))}")
    functions = [_function(name, fact) for name, fact in facts["functions"].items()]
    header = _header(facts, structures, functions)
    return {HEADER: header, RUST: _rust(facts, structures, functions), PYTHON: _python(facts, structures, functions)}


def _function(name: str, fact: dict) -> Function:
    doc, called = fact["doc"].strip().splitlines(), fact.get("emulator", True)
    function = Function(name, fact.get("returns"), fact.get("arguments", {}), doc, called)
    unknown = {function.returns, *function.arguments.values()} - {None, *TYPES}
    if unknown:
        raise FactError(f"ports.toml: {name}: unknown type: {', '.join(sorted(unknown))}")
    return function


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


def _header(facts: dict, structures: dict[str, list[Field]], functions: list[Function]) -> str:
    lines = [
        "/* The programmable logic as a shared library: the C interface of verilated gateware, for the emulator.",
        " *",
        " * The signals are those of the processing system's ports (docs/interfaces.md, section 6). A field holds one",
        " * clock cycle's value of the port of the same name; single-bit signals are 0 or 1 in a byte.",
        " *",
        f" * Generated from {SOURCE} by src/contracts/generate.py: do not edit.",
        " */",
        "#ifndef KAIROS_PL_H",
        "#define KAIROS_PL_H",
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
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", "", "typedef struct kairos_pl kairos_pl;"]
    for function in functions:
        arguments = ", ".join(f"{TYPES[kind][0]}{name}" for name, kind in function.arguments.items()) or "void"
        returns = TYPES[function.returns][0] if function.returns else "void "
        lines += ["", "/* " + "\n * ".join(function.doc) + " */", f"{returns}kairos_pl_{function.name}({arguments});"]
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _rust(facts: dict, structures: dict[str, list[Field]], functions: list[Function]) -> str:
    lines = [
        "//! The simulated logic as a library: structures and types of functions of `kairos_pl.h`.",
        "//!",
        f"//! Generated from `{SOURCE}` by `src/contracts/generate.py`: do not edit.",
        "",
        "use std::ffi::{c_char, c_void};",
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
    for function in functions:
        if not function.emulator:
            continue
        arguments = ", ".join(TYPES[kind][1] for kind in function.arguments.values())
        returns = f" -> {TYPES[function.returns][1]}" if function.returns else ""
        lines += ["", f"/// `kairos_pl_{function.name}`"]
        lines.append(f'pub type {function.name.capitalize()}Fn = unsafe extern "C" fn({arguments}){returns};')
    return "\n".join([*lines, ""])


def _python(facts: dict, structures: dict[str, list[Field]], functions: list[Function]) -> str:
    names = [*(facts[name]["python"] for name in structures), *(f"MAX_{name}" for name in facts["lengths"])]
    names += ["ABI", "FUNCTIONS"]
    lines = [
        '"""The simulated logic as a library: structures and types of functions of kairos_pl.h.',
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
    lines += ["", "", "FUNCTIONS = {"]
    for function in functions:
        arguments = ", ".join(TYPES[kind][2] for kind in function.arguments.values())
        returns = TYPES[function.returns][2] if function.returns else None
        row = f'    "kairos_pl_{function.name}": ({returns}, [{arguments}]),'
        if len(row) > LINE:
            row = f'    "kairos_pl_{function.name}": (\n        {returns},\n        [{arguments}],\n    ),'
        lines.append(row)
    lines += ["}", '"""Types of result and arguments of each function."""']
    return "\n".join([*lines, ""])
