"""Tables in docs/: between `<!-- generated: WHAT -->` and `<!-- end of generated -->` stands what the facts say.

WHAT is `subject.Enum`, `subject.Enum from N` (numbers from N on), `subject.constants`, `subject.layouts`, a table of
`OWN`, or `cards.models`.
"""

import re
from pathlib import Path

from . import cards, layouts
from .facts import Enum, FactError, Subject

__all__ = ["files"]

SECTION = re.compile(r"(<!-- generated: ([\w.]+)(?: from (\d+))? -->\n).*?(<!-- end of generated -->)", re.DOTALL)


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """The pages that have such places, as they should be."""
    made = {}
    for path in sorted((root / "docs").rglob("*.md")):
        page = path.read_text()
        name = path.relative_to(root).as_posix()
        if SECTION.search(page):
            made[name] = SECTION.sub(
                lambda m, name=name: m[1] + _table(subjects, root, name, *m.group(2, 3)) + m[4], page
            )
    return made


def _table(subjects: dict[str, Subject], root: Path, page: str, what: str, least: str | None) -> str:
    subject, _, part = what.partition(".")
    if what == "cards.models":
        rows = cards.models(root)
    elif what in OWN:
        rows = OWN[what](subjects[subject])
    elif subject in subjects and part == "layouts":
        rows = layouts.rows(subjects[subject].layouts)
    elif subject in subjects and part == "constants":
        rows = [("Name", "Value", "Meaning")]
        rows += [(f"`{c.name}`", f"`{c.value!r}`", c.doc) for c in subjects[subject].constants]
    else:
        found = [enum for enum in (*subjects[subject].enums, *subjects[subject].flags) if enum.name == part]
        if not found:
            raise FactError(f"{page}: there is no {what}")
        rows = _enum(found[0], int(least or 0))
    lines = [_row(rows[0]), "|" + "---|" * len(rows[0]), *map(_row, rows[1:])]
    return "\n".join(lines) + "\n"


def _row(cells) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _enum(enum: Enum, least: int) -> list[tuple]:
    rows = [("Number", "Name", *enum.columns.values(), "Meaning")]
    for member in enum.members:
        if member.value >= least:
            said = [member.more[column] for column in enum.columns]
            said = [", ".join(text) if isinstance(text, list) else text.replace("_", " ") for text in said]
            rows.append((member.value, f"`{member.name}`", *said, member.doc))
    return rows


def _keys(subject: Subject) -> list[tuple]:
    rows = [("Key", "Default", "Takes effect", "Meaning")]
    for name, fact in subject.own["keys"].items():
        effect = {"at once": "at once", "at boot": "at boot", "command": "when written"}[fact["effect"]]
        notes = [fact["doc"]]
        notes += ["invalid values are refused"] if fact.get("checked") else []
        notes += ["never sent over the network"] if fact.get("secret") else []
        notes += ["used by the loader only"] if fact.get("only_loader") else []
        default = f"`{fact['default']}`" if "default" in fact else ""
        rows.append((f"`{name}`", default, effect, "; ".join(notes)))
    return rows


def _symbols(subject: Subject) -> list[tuple]:
    rows = [("Name", "Arguments", "Result", "Raises", "Meaning")]
    for facts in subject.own["groups"].values():
        for name, fact in facts["symbols"].items():
            arguments = ", ".join(fact["arguments"]) if "arguments" in fact else ""
            raises = ", ".join(fact.get("raises", []))
            rows.append((f"`{name}`", arguments, fact.get("returns", ""), raises, fact["doc"]))
    return rows


def _exceptions(subject: Subject) -> list[tuple]:
    rows = [("Id", "Name", "Meaning")]
    return rows + [(n, f"`{entry['name']}`", entry["doc"]) for n, entry in enumerate(subject.own["exceptions"])]


def _tags(subject: Subject) -> list[tuple]:
    rows = [("Tag", "Type")]
    return rows + [(f"`{entry['tag']}`", entry["doc"]) for entry in subject.own["tags"].values()]


def _functions(subject: Subject) -> list[tuple]:
    rows = [("Name", "Arguments", "Host function")]
    for name, fact in subject.own["functions"].items():
        host = f"`{fact['host']}`" if "host" in fact else ""
        rows.append((f"`{name}`", fact.get("arguments", "x: f64"), host))
    return rows


def _regions(whens: tuple[str, ...]):
    def rows(subject: Subject) -> list[tuple]:
        regions = [fact | {"name": name} for name, fact in subject.own["regions"].items() if fact["when"] in whens]
        listed = [("Range", "Name", "Use")]
        for region in sorted(regions, key=lambda region: region["start"]):
            first, last = (f"`0x{address:09_x}`" for address in (region["start"], region["end"] - 1))
            listed.append((f"{first}–{last}", f"`{region['name']}`", region["doc"]))
        return listed

    return rows


OWN = {
    "configuration.keys": _keys,
    "exceptions.ids": _exceptions,
    "kernel_symbols.names": _symbols,
    "mathematics.functions": _functions,
    "memory.boot": _regions(("boot",)),
    "memory.run": _regions(("run", "always")),
    "rpc.tags": _tags,
}
