//! The loader on hand-made libraries: every relocation, every way to name a symbol, every kind of
//! corruption.

use kairos_contracts::library::{DT_CALLS, DT_CALLS_SIZE};
use kairos_contracts::memory::KERNEL_LIBRARY;

use crate::elf::{load, LoadError};

const BASE: u32 = KERNEL_LIBRARY.start as u32;
const FIRMWARE: u32 = 0x0800_1234;
/// Thumb code, marked by the lowest bit.
const THUMB: u32 = 0x0800_4321;

const NONE: u8 = 0;
const ABS32: u8 = 2;
const REL32: u8 = 3;
const GLOB_DAT: u8 = 21;
const JUMP_SLOT: u8 = 22;
const RELATIVE: u8 = 23;
const TARGET2: u8 = 41;
const PREL31: u8 = 42;
const LOCAL: u8 = 0;
const GLOBAL: u8 = 1;
const WEAK: u8 = 2;
const UNDEFINED: u16 = 0;
const DEFINED: u16 = 1;
const ABSOLUTE: u16 = 0xfff1;

// Offsets of the tables, which do not overlap.
const DYNAMIC: usize = 0x100;
const SYMBOLS: usize = 0x200;
const STRINGS: usize = 0x300;
const HASH: usize = 0x400;
const TABLE: usize = 0x500;
const JUMPS: usize = 0x580;
const ENTRY: u32 = 0x600;
const DATA: u32 = 0x700;
const SIZE: usize = 0x800;

/// Symbol numbers.
const OWN: u32 = 1;
const IMPORTED: u32 = 2;
const HIDDEN: u32 = 3;
const CONSTANT: u32 = 4;
const OPTIONAL: u32 = 5;
const MODINIT: u32 = 6;
const BOTH: u32 = 7;
const UNKNOWN: u32 = 8;
const THUMB_CODE: u32 = 9;

#[derive(Clone)]
struct Image(Vec<u8>);

impl Image {
    fn word(&mut self, at: usize, value: u32) -> &mut Self {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
        self
    }

    fn words(&mut self, at: usize, values: &[u32]) -> &mut Self {
        values.iter().enumerate().for_each(|(index, &value)| {
            self.word(at + 4 * index, value);
        });
        self
    }

    fn half(&mut self, at: usize, value: u16) -> &mut Self {
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
        self
    }

    /// A valid library without relocations.
    fn new() -> Self {
        let mut image = Self(vec![0; SIZE]);
        image.0[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
        image
            .half(16, 3)
            .half(18, 40)
            .word(20, 1)
            .word(28, 52)
            .word(36, 0x0500_0400);
        image.half(42, 32).half(44, 3);
        let size = SIZE as u32;
        image.words(52, &[1, 0, 0, 0, size, size, 7, 0x1_0000]);
        image.words(84, &[2, DYNAMIC as u32, DYNAMIC as u32, 0, 0x80, 0x80, 6, 4]);
        image.words(116, &[0x7000_0001, 0x780, 0x780, 0, 16, 16, 4, 4]);
        let names = b"\0own\0imported\0hidden\0constant\0optional\0__modinit__\0both\0unknown\0thumb\0";
        image.0[STRINGS..STRINGS + names.len()].copy_from_slice(names);
        let name = |wanted: &str| {
            names
                .windows(wanted.len() + 2)
                .position(|at| at[1..=wanted.len()] == *wanted.as_bytes() && at[0] == 0 && at[wanted.len() + 1] == 0)
                .unwrap() as u32
                + 1
        };
        for (number, text, value, bind, section) in [
            (OWN, "own", DATA, GLOBAL, DEFINED),
            (IMPORTED, "imported", 0, GLOBAL, UNDEFINED),
            (HIDDEN, "hidden", DATA + 4, LOCAL, DEFINED),
            (CONSTANT, "constant", 0x1234_5678, GLOBAL, ABSOLUTE),
            (OPTIONAL, "optional", 0, WEAK, UNDEFINED),
            (MODINIT, "__modinit__", ENTRY, GLOBAL, DEFINED),
            (BOTH, "both", DATA + 8, WEAK, DEFINED),
            (UNKNOWN, "unknown", 0, GLOBAL, UNDEFINED),
            (THUMB_CODE, "thumb", 0, GLOBAL, UNDEFINED),
        ] {
            let at = SYMBOLS + 16 * number as usize;
            image.words(at, &[name(text), value, 4]).half(at + 14, section);
            image.0[at + 12] = bind << 4;
        }
        // One bucket with a chain of all symbols.
        image.words(HASH, &[1, 10, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
        image.dynamic(&[]);
        image
    }

    /// The dynamic section with further entries.
    fn dynamic(&mut self, more: &[(u32, u32)]) -> &mut Self {
        let usual = [
            (4, HASH as u32),
            (5, STRINGS as u32),
            (6, SYMBOLS as u32),
            (10, 0x60),
            (11, 16),
            (19, 8),
            (20, 17),
        ];
        for (index, &(tag, value)) in usual.iter().chain(more).chain(&[(0, 0)]).enumerate() {
            self.words(DYNAMIC + 8 * index, &[tag, value]);
        }
        self
    }

    /// Adds a relocation at `place`, which holds `addend`, in DT_REL or DT_JMPREL.
    fn relocation(&mut self, jumps: bool, kind: u8, symbol: u32, place: u32, addend: u32) -> &mut Self {
        let (table, tags) = if jumps { (JUMPS, (23, 2)) } else { (TABLE, (17, 18)) };
        self.words(table, &[place, symbol << 8 | u32::from(kind)]);
        self.dynamic(&[(tags.0, table as u32), (tags.1, 8)]);
        if place as usize + 4 <= SIZE {
            self.word(place as usize, addend);
        }
        self
    }

    fn load(&self) -> Result<Vec<u8>, LoadError> {
        let mut memory = vec![0xaa; 0x1000];
        load(&self.0, &mut memory, BASE, firmware).map(|library| {
            assert_eq!(
                (library.base, library.size, library.entry),
                (BASE, SIZE as u32, BASE + ENTRY)
            );
            memory
        })
    }

    fn refused(&self) -> String {
        self.load().expect_err("a broken library").to_string()
    }
}

fn firmware(name: &[u8], _: u32) -> Option<u32> {
    match name {
        b"imported" | b"both" | b"own" | b"hidden" => Some(FIRMWARE),
        b"thumb" => Some(THUMB),
        _ => None,
    }
}

/// The word at `place` after relocation.
fn relocated(jumps: bool, kind: u8, symbol: u32, place: u32, addend: u32) -> u32 {
    let memory = Image::new()
        .relocation(jumps, kind, symbol, place, addend)
        .load()
        .unwrap();
    let at = place as usize;
    u32::from_le_bytes(memory[at..at + 4].try_into().unwrap())
}

#[test]
fn every_relocation_type_is_applied_from_both_tables() {
    let place = DATA + 0x10;
    let here = BASE + place;
    let own = BASE + DATA;
    for (kind, symbol, addend, value) in [
        (NONE, 0, 77, 77),
        (NONE, 200, 77, 77), // the symbol is not looked up
        (ABS32, OWN, 0, own),
        (ABS32, OWN, 12, own + 12),
        (ABS32, IMPORTED, -4i32 as u32, FIRMWARE - 4),
        (ABS32, 0, 5, 5),
        (REL32, OWN, 0, own.wrapping_sub(here)),
        (REL32, IMPORTED, 8, FIRMWARE.wrapping_add(8).wrapping_sub(here)),
        (GLOB_DAT, OWN, 99, own),
        (GLOB_DAT, IMPORTED, 99, FIRMWARE),
        (JUMP_SLOT, IMPORTED, 0x4a0, FIRMWARE),
        (JUMP_SLOT, THUMB_CODE, 0x4a0, THUMB),
        (JUMP_SLOT, OWN, 0x4a0, own),
        (RELATIVE, 0, 0x123, BASE + 0x123),
        (RELATIVE, 0, -0x100i32 as u32, BASE - 0x100),
        (TARGET2, OWN, 4, own.wrapping_add(4).wrapping_sub(here)),
        (PREL31, OWN, 0, own.wrapping_sub(here) & 0x7fff_ffff),
        (PREL31, OWN, 0x8000_0000, own.wrapping_sub(here) | 0x8000_0000),
        (
            PREL31,
            IMPORTED,
            0x7fff_fff8,
            FIRMWARE.wrapping_sub(8).wrapping_sub(here) & 0x7fff_ffff,
        ),
        (
            PREL31,
            IMPORTED,
            0x8000_0008,
            FIRMWARE.wrapping_add(8).wrapping_sub(here) | 0x8000_0000,
        ),
    ] {
        for jumps in [false, true] {
            let actual = relocated(jumps, kind, symbol, place, addend);
            assert_eq!(
                actual, value,
                "type {kind}, symbol {symbol}, addend {addend:#x}, jump table {jumps}"
            );
        }
    }
}

#[test]
fn library_with_both_relocation_tables_is_loaded() {
    let mut image = Image::new();
    image.words(
        TABLE,
        &[DATA, u32::from(RELATIVE), DATA + 4, OWN << 8 | u32::from(ABS32)],
    );
    image.words(JUMPS, &[DATA + 8, IMPORTED << 8 | u32::from(JUMP_SLOT)]);
    // RELCOUNT and PLTGOT are ignored.
    image.dynamic(&[
        (17, TABLE as u32),
        (18, 16),
        (23, JUMPS as u32),
        (2, 8),
        (0x6fff_fffa, 1),
        (3, 0x7f0),
    ]);
    image.words(DATA as usize, &[0x10, 0x20, 0x30]);
    let memory = image.load().unwrap();
    let word = |at: u32| u32::from_le_bytes(memory[at as usize..at as usize + 4].try_into().unwrap());
    assert_eq!(
        [word(DATA), word(DATA + 4), word(DATA + 8)],
        [BASE + 0x10, BASE + DATA + 0x20, FIRMWARE]
    );
}

#[test]
fn table_of_calls_outside_image_is_rejected() {
    let mut image = Image::new();
    image.dynamic(&[(DT_CALLS, SIZE as u32 - 4), (DT_CALLS_SIZE, 8)]);
    assert_eq!(image.refused(), "parse error: table of calls lies outside of the image");
    image.dynamic(&[(DT_CALLS, SIZE as u32 - 4), (DT_CALLS_SIZE, 4)]);
    image.load().unwrap();
}

#[test]
fn names_of_the_library_take_precedence() {
    // The firmware defines `own` and `both` too.
    assert_eq!(relocated(false, GLOB_DAT, OWN, DATA, 0), BASE + DATA);
    assert_eq!(relocated(false, GLOB_DAT, BOTH, DATA, 0), BASE + DATA + 8);
    // A local symbol takes precedence over any other of its name.
    assert_eq!(relocated(false, GLOB_DAT, HIDDEN, DATA, 0), BASE + DATA + 4);
    // Absolute: the base is not added.
    assert_eq!(relocated(false, GLOB_DAT, CONSTANT, DATA, 0), 0x1234_5678);
    assert_eq!(
        Image::new().relocation(false, GLOB_DAT, UNKNOWN, DATA, 0).refused(),
        "symbol lookup error: unknown"
    );
}

#[test]
fn undefined_weak_symbol_is_null() {
    assert_eq!(relocated(false, GLOB_DAT, OPTIONAL, DATA, 99), 0);
    assert_eq!(relocated(false, ABS32, OPTIONAL, DATA, 12), 12);
    assert_eq!(relocated(true, JUMP_SLOT, OPTIONAL, DATA, 0x4a0), 0);
}

#[test]
fn relocation_at_unaligned_address_is_applied() {
    for place in [DATA + 1, DATA + 2, DATA + 3, SIZE as u32 - 4] {
        assert_eq!(relocated(false, ABS32, OWN, place, 1), BASE + DATA + 1);
    }
}

#[test]
fn relocation_outside_the_library_is_refused() {
    let expected = "parse error: relocation lies outside of the image";
    for place in [SIZE as u32 - 3, SIZE as u32, 0x7fff_fffe, 0xffff_fffc, 0xffff_ffff] {
        for kind in [ABS32, REL32, GLOB_DAT, JUMP_SLOT, RELATIVE, TARGET2, PREL31] {
            assert_eq!(Image::new().relocation(false, kind, OWN, place, 0).refused(), expected);
        }
        // Nothing is done at the place.
        assert!(Image::new().relocation(false, NONE, OWN, place, 0).load().is_ok());
    }
    for (start, length) in [
        (SIZE as u32 - 4, 8),
        (0xffff_fff8, 8),
        (0xffff_fff8, 16),
        (TABLE as u32, 0xffff_fff8),
    ] {
        assert_eq!(Image::new().dynamic(&[(17, start), (18, length)]).refused(), expected);
        assert_eq!(Image::new().dynamic(&[(23, start), (2, length)]).refused(), expected);
    }
}

/// What damages an image.
type Change = fn(&mut Image);

/// The error of an image with a relocation that needs a symbol, after `change`.
fn error_after(change: Change) -> String {
    let mut image = Image::new();
    image.relocation(false, GLOB_DAT, IMPORTED, DATA, 0);
    assert!(image.load().is_ok());
    change(&mut image);
    image.refused()
}

/// Compares the messages of parse errors after changes.
fn check_errors(cases: &[(&str, Change)]) {
    for (expected, change) in cases {
        assert_eq!(error_after(*change), format!("parse error: {expected}"));
    }
}

#[test]
fn damaged_header_is_refused_with_its_reason() {
    check_errors(&[
        ("not an ELF file", |i| i.0[1] = b'e'),
        ("not a 32-bit little-endian ELF file", |i| i.0[4] = 2),
        ("not a 32-bit little-endian ELF file", |i| i.0[5] = 2),
        ("not a 32-bit little-endian ELF file", |i| i.0[6] = 0),
        ("not a shared library for ARM", |i| {
            i.half(16, 2);
        }),
        ("not a shared library for ARM", |i| {
            i.half(18, 3);
        }),
        ("not compiled for the hard-float ARM EABI", |i| {
            i.word(36, 0x0500_0200);
        }),
        ("file is shorter than an ELF header", |i| i.0.truncate(51)),
        ("program headers lie outside of the file", |i| {
            i.word(28, 0xffff_fff0);
        }),
        ("program headers lie outside of the file", |i| {
            i.half(44, 0xffff);
        }),
        ("program headers have an unknown format", |i| {
            i.half(42, 56);
        }),
        ("program headers have an unknown format", |i| {
            i.half(44, 0);
        }),
        ("segment lies outside of the file", |i| {
            i.word(56, 1);
        }),
        ("segment lies outside of the file", |i| {
            i.word(56, 0xffff_ffff);
        }),
        ("segment is larger in the file than in memory", |i| {
            i.word(72, SIZE as u32 - 1);
        }),
        ("image of 4294965247 bytes does not fit in the memory", |i| {
            i.word(60, 0xffff_efff);
        }),
        ("image of 4294969343 bytes does not fit in the memory", |i| {
            i.word(60, 0xffff_ffff);
        }),
        ("image of 4294967295 bytes does not fit in the memory", |i| {
            i.word(72, 0xffff_ffff);
        }),
    ]);
}

#[test]
fn damaged_table_is_refused_with_its_reason() {
    check_errors(&[
        ("no dynamic section", |i| {
            i.word(84, 3);
        }),
        ("no symbol table", |i| {
            i.words(DYNAMIC, &[0, 0]);
        }),
        ("relocations with addends are not supported", |i| {
            i.dynamic(&[(7, TABLE as u32)]);
        }),
        ("relocations with addends are not supported", |i| {
            i.dynamic(&[(20, 7)]);
        }),
        ("relocations have an unknown format", |i| {
            i.dynamic(&[(19, 12)]);
        }),
        ("symbols have an unknown format", |i| {
            i.dynamic(&[(11, 24)]);
        }),
        ("symbol hash table lies outside of the image", |i| {
            i.dynamic(&[(4, SIZE as u32 - 4)]);
        }),
        ("symbol hash table lies outside of the image", |i| {
            i.dynamic(&[(4, 0xffff_fffc)]);
        }),
        ("symbol hash table lies outside of the image", |i| {
            i.word(HASH, 0xffff_ffff);
        }),
        ("symbol hash table lies outside of the image", |i| {
            i.word(HASH + 4, 0x4000_0000);
        }),
        ("symbol hash table is empty", |i| {
            i.word(HASH, 0);
        }),
        ("symbols lie outside of the image", |i| {
            i.dynamic(&[(6, SIZE as u32 - 16)]);
        }),
        ("symbol names lie outside of the image", |i| {
            i.dynamic(&[(10, SIZE as u32)]);
        }),
        ("relocation refers to a symbol that does not exist", |i| {
            i.relocation(false, GLOB_DAT, 10, DATA, 0);
        }),
        ("relocation refers to a symbol that does not exist", |i| {
            i.relocation(false, GLOB_DAT, 0xff_ffff, DATA, 0);
        }),
        ("relocation refers to a symbol that does not exist", |i| {
            i.word(SYMBOLS + 16 * IMPORTED as usize, 0x61);
        }),
        ("relocation refers to a symbol that does not exist", |i| {
            // The name is not terminated within the table.
            i.dynamic(&[(10, 8), (17, TABLE as u32), (18, 8)]);
        }),
        ("unsupported relocation type 1", |i| {
            i.relocation(false, 1, 0, DATA, 0);
        }),
        ("unsupported relocation type 38", |i| {
            i.relocation(true, 38, 0, DATA, 0);
        }),
        ("unsupported relocation type 255", |i| {
            i.relocation(true, 255, 0, DATA, 0);
        }),
        ("__modinit__ is not an ARM function of the image", |i| {
            i.word(SYMBOLS + 16 * MODINIT as usize + 4, ENTRY + 1);
        }),
        ("__modinit__ is not an ARM function of the image", |i| {
            i.word(SYMBOLS + 16 * MODINIT as usize + 4, SIZE as u32);
        }),
        ("unwind index is not aligned", |i| {
            i.word(124, 0x781);
        }),
    ]);
}

#[test]
fn endless_chain_of_symbols_ends_without_a_result() {
    assert_eq!(
        error_after(|i| {
            i.words(HASH + 12, &[1, 1, 1, 1]);
        }),
        "symbol lookup error: __modinit__"
    );
}
