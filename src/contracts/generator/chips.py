"""Registers of chips: reads `src/contracts/chips/*.toml`, checked as they are read.

    [chip]          name, doc, source; languages for which there is a module: "python" if it says nothing, "rust";
                    absent: what of the chip is not there, and why, for its page
    [constants]     NAME = {value, doc}; type in Rust, u32 if it says nothing
    [[table]]       name, doc, columns, rows: numbers of the chip that are no register; type in Rust, f64 if it says
                    nothing
    [[register]]    name, width in bits, doc; address; count of registers of this kind at addresses that follow;
                    reset; word = 64 if kernels keep it in 64 bits although it has fewer; fields
    [[index]]       name of what drivers number from 0 on; its count, or the constant, the register or the field
                    ("REGISTER.field") whose count it is; many and of, if these are not the name and an s, and the chip

A field has `name`, `bits` ("high:low" or "bit") and `doc`, and as far as they make sense: `count` of equal fields side
by side; `range` of allowed numbers; `values`, their names; `unit`, with `steps` of the number in one of it; `signed`;
`overlaps`, if other fields use the same bits. Reset values of bits without a field are kept.
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .facts import FactError

__all__ = ["Chip", "Constant", "Field", "Index", "Register", "Table", "load"]


@dataclass(frozen=True)
class Field:
    """Bits of a register: `count` fields of `width` bits from bit `low` on."""

    name: str
    low: int
    width: int
    doc: str
    count: int = 1
    range: tuple[int, int] | None = None
    values: dict[str, int] = field(default_factory=dict)
    unit: str = ""
    steps: float | None = None
    signed: bool = False
    overlaps: bool = False

    @property
    def high(self) -> int:
        """Its highest bit, that of the last of equal fields."""
        return self.low + self.width * self.count - 1

    @property
    def mask(self) -> int:
        return (2 ** (self.width * self.count) - 1) << self.low


@dataclass(frozen=True)
class Register:
    """A register, or a word of a serial protocol. reset: None if it is not stated."""

    name: str
    width: int
    doc: str
    fields: tuple[Field, ...]
    address: int | None = None
    count: int = 1
    reset: int | None = None
    word: int = 32

    @property
    def is_wide(self) -> bool:
        """Whether kernels keep it in words of 64 bits."""
        return max(self.width, self.word) > 32

    @property
    def kept(self) -> int:
        """The reset value of the bits without a field."""
        used = 0
        for each in self.fields:
            used |= each.mask
        return (self.reset or 0) & ~used


@dataclass(frozen=True)
class Table:
    """Numbers in rows; type: in Rust."""

    name: str
    doc: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]
    type: str = "f64"


@dataclass(frozen=True)
class Constant:
    """A named number."""

    value: int
    doc: str
    type: str = "u32"


@dataclass(frozen=True)
class Index:
    """What drivers number from 0 to below `count`: `many` of the card `of`."""

    name: str
    count: int
    many: str
    of: str


@dataclass(frozen=True)
class Chip:
    """What one file says."""

    file: str
    name: str
    doc: str
    source: str
    registers: tuple[Register, ...]
    tables: tuple[Table, ...]
    constants: dict[str, Constant]
    indices: tuple[Index, ...] = ()
    languages: tuple[str, ...] = ("python",)
    absent: str = ""


def load(folder: Path) -> list[Chip]:
    """All chips, by the names of their files. FactError if one is not as it should be."""
    return [_chip(path) for path in sorted(folder.glob("*.toml"))]


def _chip(path: Path) -> Chip:
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FactError(f"chips/{path.name}: {error}") from None
    where = f"chips/{path.name}"
    _known(where, facts, {"chip", "constants", "table", "register", "index"})
    needed = {"name", "doc", "source"}
    head = _known(where, facts.get("chip", {}), {"name", "doc", "source", "languages", "absent"}, needed)
    registers = tuple(_register(where, fact) for fact in facts.get("register", []))
    names = [register.name for register in registers] + [fact.get("name") for fact in facts.get("table", [])]
    names += facts.get("constants", {})
    for name in names:
        if names.count(name) > 1:
            raise FactError(f"{where}: there are two of the name {name}")
        if not re.fullmatch("[A-Z][A-Z0-9_]*", str(name)):
            raise FactError(f"{where}: {name} is not written in capitals")
    tables = tuple(_table(where, fact) for fact in facts.get("table", []))
    constants = {name: Constant(**fact) for name, fact in facts.get("constants", {}).items()}
    counts = {name: constant.value for name, constant in constants.items()}
    for register in registers:
        counts |= {register.name: register.count}
        counts |= {f"{register.name}.{each.name}": each.count for each in register.fields}
    indices = tuple(_index(where, fact, head["name"], counts) for fact in facts.get("index", []))
    return Chip(path.stem, **head, registers=registers, tables=tables, constants=constants, indices=indices)


def _known(where: str, fact: dict, known: set[str], needed: set[str] = frozenset()) -> dict:
    if unknown := fact.keys() - known:
        raise FactError(f"{where}: unknown: {', '.join(sorted(unknown))}")
    if missing := needed - fact.keys():
        raise FactError(f"{where}: '{', '.join(sorted(missing))}' is missing")
    return fact


def _index(where: str, fact: dict[str, Any], chip: str, counts: dict[str, int]) -> Index:
    where = f"{where}, index {fact.get('name')}"
    _known(where, fact, {"name", "count", "many", "of"}, {"name", "count"})
    if not re.fullmatch("[a-z][a-z0-9_]*", fact["name"]):
        raise FactError(f"{where}: its name is written in small letters")
    count = fact["count"]
    if isinstance(count, str):
        if count not in counts:
            raise FactError(f"{where}: there is nothing called {count} whose count it could be")
        count = counts[count]
    if count < 2:
        raise FactError(f"{where}: a count is 2 or more, not {count}")
    return Index(fact["name"], count, fact.get("many", f"{fact['name']}s"), fact.get("of", chip))


def _table(where: str, fact: dict[str, Any]) -> Table:
    keys = {"name", "doc", "columns", "rows"}
    _known(f"{where}, {fact.get('name')}", fact, keys | {"type"}, keys)
    rows = tuple(map(tuple, fact["rows"]))
    return Table(fact["name"], fact["doc"], tuple(fact["columns"]), rows, fact.get("type", "f64"))


def _register(where: str, fact: dict[str, Any]) -> Register:
    where = f"{where}, {fact.get('name')}"
    known = {"name", "width", "doc", "fields", "address", "count", "reset", "word"}
    _known(where, fact, known, {"name", "width", "doc", "fields"})
    fields = tuple(_field(where, entry) for entry in fact["fields"])
    width, used = fact["width"], 0
    for each in fields:
        if each.high >= width:
            raise FactError(f"{where}, {each.name}: bit {each.high} is outside of {width} bits")
        if used & each.mask and not each.overlaps:
            raise FactError(f"{where}, {each.name}: some of its bits have another field already")
        used |= each.mask
    if (names := [each.name for each in fields]) and len(set(names)) < len(names):
        raise FactError(f"{where}: two fields have one name")
    if fact.get("reset", 0) >> width:
        raise FactError(f"{where}: the reset value has more than {width} bits")
    return Register(**{**fact, "fields": fields})


OWN_OF_REGISTERS = {"address", "chip", "count", "decode", "encode", "fields", "name", "reset", "width", "word", "words"}
"""What a register has itself, so no field may be called that."""


def _field(where: str, fact: dict[str, Any]) -> Field:
    where = f"{where}, {fact.get('name')}"
    known = {"name", "bits", "doc", "count", "range", "values", "unit", "steps", "signed", "overlaps"}
    _known(where, fact, known, {"name", "bits", "doc"})
    found = re.fullmatch(r"(\d+)(?::(\d+))?", fact["bits"])
    if found is None or int(found[1]) < int(found[2] or found[1]):
        raise FactError(f"{where}: bits are 'high:low' or 'bit', not {fact['bits']!r}")
    if not re.fullmatch("[a-z][a-z0-9_]*", fact["name"]):
        raise FactError(f"{where}: fields are written in small letters")
    if fact["name"] in OWN_OF_REGISTERS:
        raise FactError(f"{where}: a field cannot have this name, which registers use themselves")
    low = int(found[2] or found[1])
    width = int(found[1]) - low + 1
    numbers = [*fact.get("values", {}).values(), *fact.get("range", ())]
    if any(number >> width for number in numbers):
        raise FactError(f"{where}: {max(numbers)} has more than {width} bits")
    if ("unit" in fact) != ("steps" in fact):
        raise FactError(f"{where}: a unit needs the steps in one of it, and these a unit")
    rest = {key: value for key, value in fact.items() if key != "bits"}
    if "range" in rest:
        rest["range"] = tuple(rest["range"])
    return Field(low=low, width=width, **rest)
