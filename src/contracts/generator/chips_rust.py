"""Rust modules of the chips whose registers the firmware or the emulator uses: `kairos_contracts::chips`."""

from pathlib import Path
from textwrap import wrap

from . import chips
from .facts import Subject
from .rust import rust_doc

__all__ = ["files"]

FOLDER = "src/contracts/src/chips"
ARRAY_WIDTH = 72
"""What rustfmt writes of an array on one line."""
TYPES = """
/// Bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    low: u32,
    width: u32,
}

impl Field {
    /// `width` bits from bit `low` on; up to 31 of them.
    pub const fn new(low: u32, width: u32) -> Self {
        Self { low, width }
    }

    /// The equal field that follows `number` places behind this one.
    pub const fn at(self, number: u32) -> Self {
        Self {
            low: self.low + number * self.width,
            width: self.width,
        }
    }

    /// Its bits in a word.
    pub const fn mask(self) -> u32 {
        ((1 << self.width) - 1) << self.low
    }

    /// The number in this field of a word.
    pub const fn get(self, word: u32) -> u32 {
        (word & self.mask()) >> self.low
    }

    /// `word` with `number` in this field; too high bits are cut off.
    pub const fn put(self, word: u32, number: u32) -> u32 {
        word & !self.mask() | number << self.low & self.mask()
    }
}

/// Bits of a register that may have more than 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideField {
    low: u32,
    width: u32,
}

impl WideField {
    /// `width` bits from bit `low` on; up to 63 of them.
    pub const fn new(low: u32, width: u32) -> Self {
        Self { low, width }
    }

    /// The equal field that follows `number` places behind this one.
    pub const fn at(self, number: u32) -> Self {
        Self {
            low: self.low + number * self.width,
            width: self.width,
        }
    }

    /// Its bits in a word.
    pub const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.low
    }

    /// The number in this field of a word.
    pub const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.low
    }

    /// `word` with `number` in this field; too high bits are cut off.
    pub const fn put(self, word: u64, number: u64) -> u64 {
        word & !self.mask() | number << self.low & self.mask()
    }
}

/// A register, or a word of a serial protocol, of a chip that has some of more than 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideRegister {
    /// As its data sheet calls it.
    pub name: &'static str,
    /// Its number; that of the first of equal ones; of one that is wider than what the chip's bus carries, that of the
    /// highest part.
    pub address: u16,
    /// How many equal ones there are, at addresses that follow; 0 for a word that has no address.
    pub count: u8,
    /// Its bits.
    pub width: u32,
    /// Its value after a reset, as far as that is known.
    pub reset: u64,
}

/// A register of up to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its number; of one that is wider than what the chip's bus carries, that of the highest part.
    pub address: u8,
    /// Its bits.
    pub width: u32,
    /// Its value after a reset, as far as that is known.
    pub reset: u32,
}

impl Register {
    /// The bytes of a word of this register, the highest first, with their addresses.
    pub fn bytes(self, word: u32) -> impl Iterator<Item = (u8, u8)> {
        let count = self.width.div_ceil(8);
        (0..count).map(move |n| (self.address + n as u8, (word >> (8 * (count - 1 - n))) as u8))
    }
}
"""


def files(_subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """Text of each module by its path."""
    known = [chip for chip in chips.load(root / "src" / "contracts" / "chips") if "rust" in chip.languages]
    head = ["//! Registers of chips.", "//!", *_notice("*"), ""]
    modules = [f"pub mod {chip.file};" for chip in known]
    made = {f"{FOLDER}/mod.rs": "\n".join([*head, *modules]) + "\n" + TYPES}
    return made | {f"{FOLDER}/{chip.file}.rs": _module(chip) for chip in known}


def _notice(name: str) -> list[str]:
    text = f"Generated from `src/contracts/chips/{name}.toml` by `src/contracts/generate.py`: do not edit."
    return rust_doc(text, mark="//!")


def _module(chip: chips.Chip) -> str:
    lines = [*rust_doc(f"{chip.doc} {chip.source}.", mark="//!"), "//!", *_notice(chip.file), ""]
    kind = "Wide" if any(register.is_wide for register in chip.registers) else ""
    names = [f"{kind}Field", f"{kind}Register"]
    used = names if any(register.fields for register in chip.registers) else names[1:]
    lines.append(f"use super::{used[0]};" if len(used) == 1 else f"use super::{{{', '.join(used)}}};")
    for table in chip.tables:
        number = str if table.type != "f64" else lambda value: _number(float(value))
        cells = [f"[{', '.join(number(value) for value in row)}]" for row in table.rows]
        short = f"[{', '.join(cells)}]"
        rows = [f"    {row}," for row in cells]
        of = f"[[{table.type}; {len(table.columns)}]; {len(table.rows)}]"
        lines += ["", *rust_doc(f"{table.doc} A row: {', '.join(table.columns)}.")]
        start = f"pub const {table.name}: {of} = "
        lines += [f"{start}{short};"] if len(short) <= ARRAY_WIDTH else [f"{start}[", *rows, "];"]
    for name, constant in chip.constants.items():
        kind_of = "f64" if isinstance(constant.value, float) else constant.type
        lines += ["", *rust_doc(constant.doc), f"pub const {name}: {kind_of} = {_number(constant.value)};"]
    for register in chip.registers:
        lines += ["", *_register(register, kind)]
    names = [register.name for register in chip.registers]
    short = f"[{', '.join(names)}]"
    # As rustfmt does: names of up to ten letters share lines.
    one_each = [f"    {name}," for name in names]
    packed = wrap(f"{', '.join(names)},", 120, initial_indent="    ", subsequent_indent="    ")
    long = ["[", *(packed if max(map(len, names)) <= 10 else one_each), "]"] if names else []
    rows = [short] if len(short) <= ARRAY_WIDTH else long
    rows[0] = f"pub const ALL: [{kind}Register; {len(names)}] = {rows[0]}"
    lines += ["", "/// All of them.", *rows[:-1], f"{rows[-1]};"]
    return "\n".join(lines) + "\n"


def _number(value: int | float) -> str:
    if isinstance(value, float):
        return f"{value:_.1f}" if value == round(value, 1) else repr(value)
    return f"{value:_}" if value < 1000 or value % 1000 == 0 else f"0x{value:_x}"


def _register(register: chips.Register, kind: str) -> list[str]:
    digits = (register.width + 3) // 4
    reset = f"0x{register.reset or 0:0{digits}x}"
    count = 0 if register.address is None else register.count
    lines = [*rust_doc(f"{register.doc}."), f"pub const {register.name}: {kind}Register = {kind}Register {{"]
    lines += [f'    name: "{register.name}",'] if kind else []
    lines += [f"    address: {register.address or 0},", *([f"    count: {count},"] if kind else [])]
    lines += [f"    width: {register.width},", f"    reset: {reset},", "};"]
    if not register.fields:
        return lines
    lines += ["", f"/// Fields of [`{register.name}`].", f"pub mod {register.name.lower()} {{"]
    lines += [f"    use super::{kind}Field;"]
    for each in register.fields:
        lines += ["", *rust_doc(_sentence(each.doc), "    ")]
        lines.append(f"    pub const {each.name.upper()}: {kind}Field = {kind}Field::new({each.low}, {each.width});")
        for name, number in each.values.items():
            constant = f"    pub const {each.name.upper()}_{name}: {'u64' if kind else 'u32'} = {number};"
            lines += ["", f"    /// Of [`{each.name.upper()}`].", constant]
    return [*lines, "}"]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
