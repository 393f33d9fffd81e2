"""The package `kairos.contracts`: a module for each subject, laid out as ruff does it."""

import textwrap
from pathlib import Path

from .facts import Constant, Enum, Subject
from .rust import row, text

__all__ = ["files", "module"]

NOTICE = "Generated from src/contracts/{name}.toml by src/contracts/generate.py: do not edit."
WIDTH = 120
UNUSED = {"boot", "drtio", "initiator", "intercore", "link", "notes", "registers", "rpc", "rtio"}
"""Subjects that the host does not use."""


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """The package's modules."""
    used = (subject for subject in subjects.values() if subject.name not in UNUSED)
    made = {f"src/kairos/contracts/{subject.name}.py": module(subject) for subject in used}
    made["src/kairos/contracts/__init__.py"] = package("Facts that the device and other parts of Kairos rely on too.")
    return made


def package(doc: str) -> str:
    """Text of a package's `__init__`."""
    return f'"""{doc}\n\nGenerated from src/contracts/*.toml by src/contracts/generate.py: do not edit.\n"""\n'


def module(subject: Subject) -> str:
    """The text of a subject's module."""
    names: list[str] = []
    body: list[str] = []
    for constant in subject.constants:
        names.append(constant.name)
        body += ["", *_constant(constant)]
    for enum in (*subject.enums, *subject.flags):
        names.append(enum.name)
        body += ["", "", *_enum(enum)]
    for flags in subject.flags:
        if "text" in flags.members[0].more:
            names.append(f"{_capitals(flags.name)}_TEXTS")
            body += ["", "", f"{names[-1]} = {{"]
            body += [f"    {flags.name}.{m.name.upper()}: {text(m.more['text'])}," for m in flags.members]
            body += ["}", '"""What a message calls them."""']
    for name, lines in OWN.get(subject.name, lambda _: [])(subject):
        names.append(name)
        body += ["", *([""] if body and body[-1].startswith("    ") else []), *lines]
    imports = ["", "from enum import IntEnum"] if any("(IntEnum)" in line for line in body) else []
    head = [f'"""{subject.doc}', "", NOTICE.format(name=subject.name), '"""', *imports, "", *_exports(names)]
    out = "\n".join([*head, *body]) + "\n"
    return "# ruff: noqa: E501\n" + out if any(len(line) > WIDTH for line in out.splitlines()) else out


def _exports(names: list[str]) -> list[str]:
    short = f"__all__ = [{', '.join(text(name) for name in names)}]"
    if len(short) <= WIDTH:
        return [short]
    return ["__all__ = [", *[f"    {text(name)}," for name in names], "]"]


def _capitals(name: str) -> str:
    return "".join("_" + c if c.isupper() and n else c for n, c in enumerate(name)).upper()


def _doc(doc: str, indent: str = "") -> list[str]:
    lines = textwrap.wrap(f'"""{doc}"""', WIDTH - len(indent), break_on_hyphens=False)
    return [indent + line for line in lines]


def _constant(constant: Constant) -> list[str]:
    match constant.type:
        case "bytes":
            value = row(constant.value)
        case "str":
            value = text(constant.value)
        case _:
            value = str(constant.value)
            if constant.value >= 1 << 24:
                value = "0x" + f"{constant.value:_X}"
    return [f"{constant.name} = {value}", *_doc(constant.doc)]


def _enum(enum: Enum) -> list[str]:
    lines = [f"class {enum.name}(IntEnum):", *_doc(enum.doc, "    "), ""]
    for member in enum.members:
        lines += [f"    {member.name.upper()} = {member.value}", *_doc(member.doc, "    ")]
    return lines


def _mapping(name: str, doc: str, entries: dict[str, str]) -> tuple[str, list[str]]:
    """A dictionary; the values are written as they are."""
    lines = [f"{name} = {{", *[f"    {text(key)}: {value}," for key, value in entries.items()], "}", *_doc(doc)]
    return name, lines


def _exceptions(subject: Subject) -> list[tuple[str, list[str]]]:
    known = subject.own["exceptions"]
    prefix = {True: "HOST_PREFIX", False: "HOST_BUILTIN_PREFIX"}
    lines = ["PREALLOCATED = ("]
    lines += [f"    {prefix[entry.get('device', False)]} + {text(entry['name'])}," for entry in known]
    lines += [")", *_doc("Names in the host's string table, by id.")]
    prelude = ["PRELUDE = (" + ", ".join(text(e["name"]) for e in known if e.get("prelude")) + ")"]
    prelude += _doc("Those that kernels know without an import.")
    numbers = {entry["name"]: str(number) for number, entry in enumerate(known)}
    return [("PREALLOCATED", lines), ("PRELUDE", prelude), _mapping("IDS", "Ids, by name.", numbers)]


def _drtio(subject: Subject) -> list[tuple[str, list[str]]]:
    made = []
    for enum in (enum for enum in subject.enums if enum.name != "AuxiliaryPacket"):
        packets = {}
        for member in enum.members:
            fields = [f"({text(name)}, {bits})" for name, bits in (field.split() for field in member.more["fields"])]
            packets[member.name] = f"({', '.join(fields)}{',' * (len(fields) == 1)})"
        made.append(_mapping(f"{_capitals(enum.name)}_FIELDS", "Fields of each packet: name, width in bits.", packets))
    return made


def _registers(subject: Subject) -> list[tuple[str, list[str]]]:
    lines = ["BLOCKS = {"]
    for block, registers in subject.own["blocks"].items():
        lines.append(f"    {text(block)}: {{")
        for name, register in registers.items():
            parts = (str(register["bits"]), text(register["access"]), text(register["doc"]))
            lines += [f"        {text(name)}: (", *[f"            {part}," for part in parts], "        ),"]
        lines.append("    },")
    lines += ["}", *_doc("Registers of each block by name: width in bits, access (r, w), what it is for.")]
    fields = {
        f"{block}_{name}": "{" + ", ".join(f"{text(label)}: {bit}" for label, bit in register["fields"].items()) + "}"
        for block, registers in subject.own["blocks"].items()
        for name, register in registers.items()
        if "fields" in register
    }
    return [("BLOCKS", lines), _mapping("FIELDS", "Bits of registers, by the register's name.", fields)]


def _mathematics(subject: Subject) -> list[tuple[str, list[str]]]:
    functions = subject.own["functions"]
    arguments = {symbol: str(fact.get("arguments", "x: f64").count(":")) for symbol, fact in functions.items()}
    hosts = {fact["host"]: text(symbol) for symbol, fact in functions.items() if "host" in fact}
    return [
        _mapping("ARGUMENTS", "Number of arguments, by the name in C.", arguments),
        _mapping("HOST_FUNCTIONS", "The function of NumPy or SciPy that a kernel may call, and its name in C.", hosts),
    ]


def _kernel_symbols(subject: Subject) -> list[tuple[str, list[str]]]:
    lines = ["SIGNATURES = {"]
    unlisted = []
    for facts in subject.own["groups"].values():
        for name, fact in facts["symbols"].items():
            if "arguments" in fact:
                inner = ", ".join(text(kind) for kind in fact["arguments"]) + "," * (len(fact["arguments"]) == 1)
                lines.append(f"    {text(name)}: (({inner}), {text(fact.get('returns', 'none'))}),")
            else:
                unlisted.append(name)
    lines += ["}", *_doc("Types of the arguments and of the result, in the kernel language's words, by name.")]
    others = ["OTHERS = (", *[f"    {text(name)}," for name in unlisted]]
    others += [f"    {text(name)}," for name in subject.own["runtime"]["symbols"].split()]
    others += [")", *_doc("Names that are not called as C functions, and those of the run-time library.")]
    return [("SIGNATURES", lines), ("OTHERS", others)]


def _memory(subject: Subject) -> list[tuple[str, list[str]]]:
    made = []
    for name, region in subject.own["regions"].items():
        start, end = (f"0x{region[key]:08X}" for key in ("start", "end"))
        made.append((name, [f"{name} = range({start}, {end})", *_doc(region["doc"])]))
    return made


def _configuration(subject: Subject) -> list[tuple[str, list[str]]]:
    keys = subject.own["keys"]
    limits = []
    for name, fact in keys.items():
        for limit, word in (("min", "Shortest"), ("max", "Longest")):
            if limit in fact:
                constant = f"{name}_{limit}".upper()
                limits.append((constant, [f"{constant} = {fact[limit]}", *_doc(f"{word} value of {name} in bytes.")]))
    return limits + [
        _mapping("KEYS", "What each key of the configuration is for.", {n: text(f["doc"]) for n, f in keys.items()})
    ]


OWN = {
    "configuration": _configuration,
    "drtio": _drtio,
    "exceptions": _exceptions,
    "kernel_symbols": _kernel_symbols,
    "mathematics": _mathematics,
    "memory": _memory,
    "registers": _registers,
}
