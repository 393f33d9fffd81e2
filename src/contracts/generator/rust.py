"""The crate `kairos-contracts`: a module for each subject, laid out as rustfmt does it."""

import json
import textwrap
from pathlib import Path

from . import layouts
from .facts import Constant, Enum, Subject, camel

__all__ = ["files", "rust_doc"]

NOTICE = "Generated from `src/contracts/{name}.toml` by `src/contracts/generate.py`: do not edit."
WIDTH = 120
CALL_WIDTH = 72
"""What rustfmt writes on one line within brackets."""


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """The crate's sources."""
    made = {f"src/contracts/src/{subject.name}.rs": _module(subject) for subject in subjects.values()}
    made["src/contracts/src/lib.rs"] = _library(subjects)
    return made


def _library(subjects: dict[str, Subject]) -> str:
    lines = [
        *rust_doc("Facts that more than one part of Kairos relies on: a module for each file of facts.", "", "//!"),
        "//!",
        *rust_doc("Generated from `src/contracts/*.toml` by `src/contracts/generate.py`: do not edit.", "", "//!"),
        "#![no_std]",
        "#![forbid(unsafe_code)]",
        "",
        *[f"pub mod {name};" for name in sorted([*subjects, "cards", "chips"])],
    ]
    return "\n".join(lines) + "\n"


def rust_doc(text: str, indent: str = "", mark: str = "///") -> list[str]:
    """A comment that documents what follows, or with `mark` "//!" what it stands in."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"{indent}{mark} ", subsequent_indent=f"{indent}{mark} ", break_on_hyphens=False
    )


def _module(subject: Subject) -> str:
    lines = [*rust_doc(subject.doc, mark="//!"), "//!", *rust_doc(NOTICE.format(name=subject.name), mark="//!")]
    for constant in subject.constants:
        lines += ["", *_constant(constant)]
    for enum in subject.enums:
        lines += ["", *_enum(enum)]
    for flags in subject.flags:
        for member in flags.members:
            name = f"{_capitals(flags.name)}_{member.name.upper()}"
            lines += ["", *rust_doc(member.doc), f"pub const {name}: {flags.type} = {member.value};"]
        if "text" in flags.members[0].more:
            lines += ["", *_texts(flags)]
    if subject.layouts:
        lines += ["", *layouts.table(subject.name, subject.layouts, rust_doc)]
    if subject.name in OWN:
        lines += ["", *OWN[subject.name](subject)]
    return "\n".join(lines) + "\n"


def _texts(flags) -> list[str]:
    """What a message calls each flag."""
    prefix = _capitals(flags.name)
    rows = []
    for member in flags.members:
        name, what = f"{prefix}_{member.name.upper()}", text(member.more["text"])
        short = len(f"{name}, {what}") <= CALL_WIDTH
        rows += [f"    ({name}, {what}),"] if short else ["    (", f"        {name},", f"        {what},", "    ),"]
    head = f"pub const {prefix}_TEXTS: [({flags.type}, &str); {len(flags.members)}] = ["
    return [*rust_doc("What a message calls them."), head, *rows, "];"]


def _capitals(name: str) -> str:
    """CamelCase to UPPER_CASE."""
    return "".join("_" + c if c.isupper() and n else c for n, c in enumerate(name)).upper()


def text(value: str) -> str:
    """A string literal, which Rust, C and Python understand."""
    return json.dumps(value, ensure_ascii=False)


def row(value: str) -> str:
    """A literal of bytes, which Rust and Python understand."""
    return "b" + text(value).replace("\\u00", "\\x")


def _constant(constant: Constant) -> list[str]:
    match constant.type:
        case "bytes":
            kind, value = f"&[u8; {len(constant.value.encode())}]", row(constant.value)
        case "str":
            kind, value = "&str", text(constant.value)
        case _:
            kind, value = constant.type, _number(constant.value)
    return [*rust_doc(constant.doc), f"pub const {constant.name}: {kind} = {value};"]


def _number(value: int) -> str:
    if value < 1000:
        return str(value)
    if value & value - 1 == 0:
        return f"1 << {value.bit_length() - 1}"
    return f"{value:_}" if value < 1 << 24 else "0x" + f"{value:_x}"


def _enum(enum: Enum) -> list[str]:
    names = [camel(member.name) for member in enum.members]
    lines = [*rust_doc(enum.doc), *_derive(enum.type), f"pub enum {enum.name} {{"]
    for member, name in zip(enum.members, names, strict=True):
        lines += [*rust_doc(member.doc, "    "), f"    {name} = {member.value},"]
    lines += ["}", "", f"impl {enum.name} {{", *_all(names)]
    for attribute, target in enum.attributes.items():
        lines += ["", *_attribute(enum, attribute, target)]
    lines += ["}", "", *_try_from(enum, names)]
    return lines


def _derive(kind: str | None) -> list[str]:
    return ["#[derive(Clone, Copy, Debug, PartialEq, Eq)]", *([f"#[repr({kind})]"] if kind else [])]


def _all(names: list[str]) -> list[str]:
    return [
        "    /// All of them, in the order of the file.",
        *_array("    pub const ALL", "Self", [f"Self::{n}" for n in names]),
    ]


def _array(head: str, kind: str, items: list[str]) -> list[str]:
    """A constant array, on one line if that is short enough for rustfmt."""
    indent = head[: len(head) - len(head.lstrip())]
    short = f"{head}: [{kind}; {len(items)}] = [{', '.join(items)}];"
    if len(", ".join(items)) <= 72 and len(short) <= WIDTH:
        return [short]
    return [f"{head}: [{kind}; {len(items)}] = [", *[f"{indent}    {item}," for item in items], f"{indent}];"]


def _attribute(enum: Enum, attribute: str, target: str) -> list[str]:
    """A function that gives what the members say by `attribute`."""
    is_list = isinstance(enum.members[0].more[attribute], list)
    kind = f"&'static [{target}]" if is_list else target
    lines = [
        f"    /// Its {attribute}: {'members' if is_list else 'a member'} of [`{target}`].",
        f"    pub const fn {attribute}(self) -> {kind} {{",
        "        match self {",
    ]
    groups: dict[str, list[str]] = {}
    for member in enum.members:
        said = member.more[attribute]
        words = [f"{target}::{camel(word)}" for word in (said if is_list else [said])]
        groups.setdefault(f"&[{', '.join(words)}]" if is_list else words[0], []).append(f"Self::{camel(member.name)}")
    for value, members in groups.items():
        lines += _arm(members, value, 12)
    return [*lines, "        }", "    }"]


def _arm(patterns: list[str], value: str, indent: int) -> list[str]:
    """An arm of a match, with as many patterns on a line as rustfmt puts there."""
    space = " " * indent
    one = f"{space}{' | '.join(patterns)} => {value},"
    if len(one) <= WIDTH and (len(patterns) == 1 or len(" | ".join(patterns)) <= WIDTH - indent):
        return [one]
    lines = [f"{space}{patterns[0]}", *[f"{space}| {pattern}" for pattern in patterns[1:]]]
    lines[-1] += f" => {value},"
    return lines


def _try_from(enum: Enum, names: list[str]) -> list[str]:
    arms = [f"            {member.value} => Self::{name}," for member, name in zip(enum.members, names, strict=True)]
    return [
        f"impl TryFrom<{enum.type}> for {enum.name} {{",
        "    /// The number, which none of them has.",
        f"    type Error = {enum.type};",
        "",
        f"    fn try_from(number: {enum.type}) -> Result<Self, {enum.type}> {{",
        "        Ok(match number {",
        *arms,
        "            other => return Err(other),",
        "        })",
        "    }",
        "}",
    ]


def _plain_enum(name: str, doc: str, members: list[tuple[str, str]], kind: str | None = None) -> list[str]:
    """An enum whose members are numbered as they stand here; members: name and doc."""
    lines = [*rust_doc(doc), *_derive(kind), f"pub enum {name} {{"]
    for member, explained in members:
        lines += [*rust_doc(explained, "    "), f"    {member},"]
    return [*lines, "}"]


def _exceptions(subject: Subject) -> list[str]:
    known = subject.own["exceptions"]
    variants = [entry.get("variant", entry["name"]) for entry in known]
    lines = ["/// Ids, in the order of the host's string table.", *_derive("u32"), "pub enum Id {"]
    for number, (entry, variant) in enumerate(zip(known, variants, strict=True)):
        lines += [*rust_doc(entry["doc"], "    "), f"    {variant} = {number},"]
    lines += ["}", "", "/// Names, by id."]
    lines += _array("pub const NAMES", "&str", [text(entry["name"]) for entry in known])
    prelude = [f"Id::{variant}" for entry, variant in zip(known, variants, strict=True) if entry.get("prelude")]
    lines += ["", "/// Those that kernels know without an import."]
    lines += _array("pub const PRELUDE", "Id", prelude)
    return [
        *lines,
        "",
        "impl Id {",
        "    /// Its name.",
        "    pub const fn name(self) -> &'static str {",
        "        NAMES[self as usize]",
        "    }",
        "}",
    ]


def _drtio(subject: Subject) -> list[str]:
    """A macro that hands the table of the auxiliary packets to another one, which makes a codec of it."""
    (enum,) = (enum for enum in subject.enums if enum.name == "AuxiliaryPacket")
    doc = "Calls a macro with all auxiliary packets: `Name = number { field: kind, … }`, kinds u8 to u64, bool, "
    lines = [*rust_doc(doc + "or `kind(most)`."), "#[macro_export]", "macro_rules! drtio_auxiliary_packets {"]
    lines += ["    ($with:ident) => {", "        $with! {"]
    for member in enum.members:
        fields = []
        for name, kind, *most in (field.split() for field in member.more["fields"]):
            fields.append(f"{name}: {kind}{f'({most[0]})' if most else ''}")
        inner = f" {', '.join(fields)} " if fields else ""
        lines += [
            *rust_doc(member.doc, "            "),
            f"            {camel(member.name)} = {member.value} {{{inner}}},",
        ]
    return [*lines, "        }", "    };", "}"]


def _rpc(subject: Subject) -> list[str]:
    lines = ["/// Tag bytes.", "pub mod tag {"]
    for n, (name, entry) in enumerate(subject.own["tags"].items()):
        doc = entry["doc"][0].upper() + entry["doc"][1:] + "."
        lines += [
            *([""] if n else []),
            *rust_doc(doc, "    "),
            f"    pub const {name.upper()}: u8 = b'{entry['tag']}';",
        ]
    lines += ["}", "", "/// The type in messages to the user, for a tag byte that stands alone or begins a type."]
    lines += ["pub const fn word(byte: u8) -> Option<&'static str> {", "    Some(match byte {"]
    for name, entry in subject.own["tags"].items():
        lines.append(f"        tag::{name.upper()} => {text(entry['word'])},")
    return [*lines, "        _ => return None,", "    })", "}"]


def _registers(subject: Subject) -> list[str]:
    lines: list[str] = []
    for block, registers in subject.own["blocks"].items():
        lines += ["" if lines else None, f"/// Names of the registers of `{block}`.", f"pub mod {block} {{"]
        for n, (name, register) in enumerate(registers.items()):
            doc = register["doc"][0].upper() + register["doc"][1:] + "."
            lines += [*([""] if n else []), *rust_doc(doc, "    ")]
            lines.append(f"    pub const {name.upper()}: &str = {text(f'{block}_{name}')};")
            for label, bit in register.get("fields", {}).items():
                constant = name.upper() if label == name else f"{name}_{label}".upper()
                lines.append(f"    /// Bit of `{block}_{name}`.")
                lines.append(f"    pub const {constant}_BIT: u32 = {1 << bit};")
        lines.append("}")
    return [*[line for line in lines if line is not None], "", *_reserved(subject)]


def _reserved(subject: Subject) -> list[str]:
    """What a batch may not do with registers although they can be read or written."""
    reserved = [
        f"({text(block)}, {text(name)}, {str('r' in register['batch']).lower()})"
        for block, registers in subject.own["blocks"].items()
        for name, register in registers.items()
        if "batch" in register
    ]
    doc = "Registers that firmware or kernels work with, so that a batch may not write them: block, name in it, and"
    head = "pub const RESERVED: &[(&str, &str, bool)] = &["
    return [*rust_doc(f"{doc} whether a batch may read it."), head, *[f"    {each}," for each in reserved], "];"]


def _mathematics(subject: Subject) -> list[str]:
    lines = [
        "/// A function of doubles.",
        "#[derive(Clone, Copy, Debug, PartialEq, Eq)]",
        "pub struct Function {",
        "    /// C's name, by which kernels import it.",
        "    pub symbol: &'static str,",
        "    /// Number of its arguments.",
        "    pub arguments: usize,",
        "    /// The host's function that stands for it in kernels.",
        "    pub host: Option<&'static str>,",
        "}",
        "",
        "const fn function(symbol: &'static str, arguments: usize, host: Option<&'static str>) -> Function {",
        "    Function {",
        "        symbol,",
        "        arguments,",
        "        host,",
        "    }",
        "}",
        "",
        "/// All of them.",
    ]
    functions = subject.own["functions"]
    items = []
    for symbol, fact in functions.items():
        count = fact.get("arguments", "x: f64").count(":")
        host = f"Some({text(fact['host'])})" if "host" in fact else "None"
        items.append(f"function({text(symbol)}, {count}, {host})")
    lines += _array("pub const FUNCTIONS", "Function", items)
    calls = [f"{symbol}({fact.get('arguments', 'x: f64')});" for symbol, fact in functions.items()]
    return [*lines, "", *_macro("mathematics", "name, arguments and their types of each function", calls)]


def _macro(name: str, gives: str, entries: list[str]) -> list[str]:
    """A macro that calls another one with all entries, for what only the caller can name."""
    return [
        *rust_doc(f"Calls the macro `$table` with {gives}."),
        "#[macro_export]",
        f"macro_rules! {name} {{",
        "    ($table:ident) => {",
        "        $table! {",
        *[f"            {entry}" for entry in entries],
        "        }",
        "    };",
        "}",
    ]


def _kernel_symbols(subject: Subject) -> list[str]:
    entries = []
    for group, facts in subject.own["groups"].items():
        entries.append(f"// {group}: {facts['doc']}")
        entries += [f"{text(name)} = {fact['firmware']};" for name, fact in facts["symbols"].items()]
    runtime = textwrap.wrap(" ".join(subject.own["runtime"]["symbols"].split()), WIDTH - 12)
    return [
        *_macro("kernel_symbols", "`name = function;` for each function of `src/kernel`", entries),
        "",
        *_macro("runtime_symbols", "the names of the run-time library", runtime),
    ]


def _memory(subject: Subject) -> list[str]:
    lines = [
        "/// A range of physical addresses; the MMU maps all of them one to one.",
        "pub type Region = core::ops::Range<usize>;",
    ]
    for name, region in subject.own["regions"].items():
        start, end = (f"0x{region[key]:09_x}" for key in ("start", "end"))
        lines += ["", *rust_doc(region["doc"]), f"pub const {name}: Region = {start}..{end};"]
    return lines


def _configuration(subject: Subject) -> list[str]:
    keys = subject.own["keys"]
    at_once = {name: fact for name, fact in keys.items() if fact["effect"] == "at once"}
    kinds = sorted({fact["kind"] for fact in keys.values()})
    described = [(camel(name), f"`{name}`: {fact['doc']}.") for name, fact in keys.items()]
    lines = _plain_enum("Key", "A key of the configuration.", described)
    kind_docs = [
        (camel(kind), f"Of {', '.join(f'`{n}`' for n, f in keys.items() if f['kind'] == kind)}.") for kind in kinds
    ]
    lines += ["", *_plain_enum("Kind", "How values are understood.", kind_docs)]
    lines += [
        "",
        *_plain_enum(
            "AtOnce",
            "Keys that take effect when they are written, removed or erased.",
            [(camel(name), f"`{name}`") for name in at_once],
        ),
    ]
    lines += ["", "impl AtOnce {", *_all([camel(name) for name in at_once]), "}"]
    lines += ["", "impl Key {", *_all([camel(name) for name in keys]), ""]
    lines += _match("Its name.", "name", "&'static str", {camel(n): text(n) for n in keys})
    lines += [
        "",
        *_match(
            "How its values are understood.",
            "kind",
            "Kind",
            {camel(n): f"Kind::{camel(f['kind'])}" for n, f in keys.items()},
        ),
    ]
    lines += [
        "",
        *_match(
            "Itself, if it takes effect when it is written.",
            "at_once",
            "Option<AtOnce>",
            {camel(n): f"Some(AtOnce::{camel(n)})" for n in at_once},
            "None",
        ),
    ]
    for function, doc in (
        ("checked", "Whether a value that makes no sense is refused when it is written."),
        ("secret", "Whether it is never sent to anybody."),
    ):
        names = [f"Self::{camel(name)}" for name, fact in keys.items() if fact.get(function)]
        lines += [
            "",
            f"    /// {doc}",
            f"    pub const fn is_{function}(self) -> bool {{",
            f"        matches!(self, {' | '.join(names)})",
            "    }",
        ]
    lines += [
        "",
        "    /// The key of this name, in any case of letters: the file system of the card knows no other ones.",
        "    pub fn find(name: &str) -> Option<Self> {",
        "        let is_it = |key: &Self| key.name().eq_ignore_ascii_case(name);",
        "        Self::ALL.iter().copied().find(is_it)",
        "    }",
        "}",
    ]
    for name, fact in keys.items():
        lines += _limits(name, fact)
    return lines


def _limits(name: str, fact: dict) -> list[str]:
    lines = []
    if "default" in fact and fact["kind"] in DEFAULTS:
        kind, value = DEFAULTS[fact["kind"]](fact["default"])
        lines += [
            "",
            f"/// What counts without the key `{name}`.",
            f"pub const {name.upper()}_DEFAULT: {kind} = {value};",
        ]
    for limit, word in (("min", "Shortest"), ("max", "Longest")):
        if limit in fact:
            lines += [
                "",
                f"/// {word} value of `{name}` in bytes.",
                f"pub const {name.upper()}_{limit.upper()}: usize = {fact[limit]};",
            ]
    return lines


def _ipv4(value: str) -> str:
    return f"[{', '.join(value.split('.'))}]"


DEFAULTS = {
    "address": lambda value: ("([u8; 4], u8)", f"({_ipv4(value.split('/')[0])}, {value.split('/')[1]})"),
    "ipv4": lambda value: ("[u8; 4]", _ipv4(value)),
    "mac": lambda value: ("[u8; 6]", f"[{', '.join('0x' + part for part in value.split(':'))}]"),
}


def _match(doc: str, name: str, kind: str, values: dict[str, str], otherwise: str | None = None) -> list[str]:
    lines = [f"    /// {doc}", f"    pub const fn {name}(self) -> {kind} {{", "        match self {"]
    groups: dict[str, list[str]] = {}
    for key, value in values.items():
        groups.setdefault(value, []).append(f"Self::{key}")
    for value, members in groups.items():
        lines += _arm(members, value, 12)
    if otherwise is not None:
        lines.append(f"            _ => {otherwise},")
    return [*lines, "        }", "    }"]


OWN = {
    "configuration": _configuration,
    "drtio": _drtio,
    "exceptions": _exceptions,
    "kernel_symbols": _kernel_symbols,
    "mathematics": _mathematics,
    "memory": _memory,
    "registers": _registers,
    "rpc": _rpc,
}
