"""Records of fixed layout in messages: `[layouts]` of a subject, read and made into the Rust table of which `src/proto`
makes types, and into a table in docs/.

A layout's fields follow each other, numbers little endian: `name type`, or `zeros N` for N bytes that are not used.
"""

from dataclasses import dataclass

from .errors import FactError

__all__ = ["Field", "Layout", "read", "rows", "table"]

SIZES = {"u8": 1, "bool": 1, "u16": 2, "u32": 4, "i64": 8}


@dataclass(frozen=True)
class Field:
    """A field and the offset at which it begins."""

    name: str
    type: str
    at: int


@dataclass(frozen=True)
class Layout:
    """A record of so many bytes. said: its fields as the file names them."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    length: int
    said: tuple[str, ...]


def read(where: str, facts: dict) -> tuple[Layout, ...]:
    """The layouts of a file. FactError if one is not as it should be."""
    return tuple(_layout(f"{where}, {name}", name, fact) for name, fact in facts.items())


def _layout(where: str, name: str, fact: dict) -> Layout:
    if missing := {"doc", "fields"} - fact.keys():
        raise FactError(f"{where}: '{min(missing)}' is missing")
    fields, length = [], 0
    for said in fact["fields"]:
        first, _, second = said.partition(" ")
        if first == "zeros" and second.isdecimal():
            length += int(second)
        elif second in SIZES and first not in [field.name for field in fields]:
            fields.append(Field(first, second, length))
            length += SIZES[second]
        else:
            raise FactError(f"{where}: {said!r} is no field, or there are two of its name")
    return Layout(name, fact["doc"], tuple(fields), length, tuple(fact["fields"]))


def table(subject: str, layouts: tuple[Layout, ...], document) -> list[str]:
    """A macro in Rust that hands the layouts to another one, which makes types of them. document: makes the lines of a
    comment from its text and indentation."""
    doc = "Calls a macro with all layouts: `Name = length { field: type = offset, … }`."
    lines = [*document(doc), "#[macro_export]", f"macro_rules! {subject}_layouts {{"]
    lines += ["    ($with:ident) => {", "        $with! {"]
    for layout in layouts:
        fields = ", ".join(f"{field.name}: {field.type} = {field.at}" for field in layout.fields)
        lines += [
            *document(layout.doc, "            "),
            f"            {layout.name} = {layout.length} {{ {fields} }},",
        ]
    return [*lines, "        }", "    };", "}"]


def rows(layouts: tuple[Layout, ...]) -> list[tuple]:
    """The rows of a table in docs/."""
    return [("Layout", "Fields", "Meaning"), *((f"`{each.name}`", ", ".join(each.said), each.doc) for each in layouts)]
