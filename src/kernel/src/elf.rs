//! The loader: turns the ELF shared library of a kernel into a relocated image (kernel ABI, section 1).
//!
//! The library comes from the network and may contain anything. Every offset is checked against the
//! file or the image before it is used, so that a corrupt library causes a [`LoadError`] and never
//! a fault. Faults of its code at run time are caught by the fault handlers.
//!
//! Section headers are not used: the dynamic section and the program headers suffice.

use core::fmt;

use kairos_contracts::library::{DT_CALLS, DT_CALLS_SIZE};
use kairos_proto::bytes::{u16_at, u32_at, words};

use crate::stubs;

/// The start of a symbol's name, printable.
pub type Name = heapless::String<96>;

/// Names are ASCII in every real library; a corrupt one must still give a readable text.
fn name(bytes: &[u8]) -> Name {
    bytes.escape_ascii().map(char::from).take(96).collect()
}

/// Why a library cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Not a kernel library, or a corrupt one.
    Parse(&'static str),
    /// An imported symbol that the firmware does not have.
    Symbol(Name),
    /// A relocation type that kernels do not contain.
    Relocation(u8),
    /// The image needs more memory than there is; the bytes needed.
    TooLarge(u64),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(what) => write!(f, "parse error: {what}"),
            Self::Symbol(name) => write!(f, "symbol lookup error: {name}"),
            Self::Relocation(kind) => write!(f, "parse error: unsupported relocation type {kind}"),
            Self::TooLarge(size) => write!(f, "parse error: image of {size} bytes does not fit in the memory"),
        }
    }
}

/// A loaded library, with absolute addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Library {
    /// Load base.
    pub base: u32,
    /// Size of the image in bytes.
    pub size: u32,
    /// Entry point, `__modinit__`.
    pub entry: u32,
    /// The attribute writeback table, if there is one.
    pub typeinfo: Option<u32>,
    /// The unwind index: address and number of entries. Without entries nothing can be caught.
    pub unwind_index: (u32, u32),
    /// Memory to clear before the kernel runs, `__bss_start` to `_end`.
    pub bss: (u32, u32),
}

impl Library {
    /// Whether an address is in the image.
    pub fn contains(&self, address: u32) -> bool {
        address.wrapping_sub(self.base) < self.size
    }
}

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_ARM_EXIDX: u32 = 0x7000_0001;
const JUMP_SLOT: u8 = 22;
const SHN_UNDEF: u16 = 0;
const SHN_ABS: u16 = 0xfff1;
const STB_LOCAL: u8 = 0;
const STB_WEAK: u8 = 2;

/// Little-endian fields of a byte slice, every access checked.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn slice(self, offset: u32, length: u32) -> Option<&'a [u8]> {
        let end = offset.checked_add(length)?;
        self.0.get(offset as usize..end as usize)
    }
    fn half(self, offset: u32) -> Option<u16> {
        u16_at(self.0, offset as usize)
    }
    fn word(self, offset: u32) -> Option<u32> {
        u32_at(self.0, offset as usize)
    }
}

struct Segment {
    kind: u32,
    offset: u32,
    address: u32,
    file_size: u32,
    memory_size: u32,
}

/// The program headers of a file whose ELF header has been checked.
fn segments(file: Bytes<'_>) -> Result<impl Iterator<Item = Segment> + '_, LoadError> {
    let bad = || LoadError::Parse("program headers lie outside of the file");
    let table = file.word(28).ok_or_else(bad)?;
    let (size, count) = (file.half(42).ok_or_else(bad)?, file.half(44).ok_or_else(bad)?);
    if size != 32 || count == 0 {
        return Err(LoadError::Parse("program headers have an unknown format"));
    }
    file.slice(table, 32 * u32::from(count)).ok_or_else(bad)?;
    Ok((0..u32::from(count)).filter_map(move |index| {
        let at = table + 32 * index;
        Some(Segment {
            kind: file.word(at)?,
            offset: file.word(at + 4)?,
            address: file.word(at + 8)?,
            file_size: file.word(at + 16)?,
            memory_size: file.word(at + 20)?,
        })
    }))
}

fn check_header(file: Bytes<'_>) -> Result<(), LoadError> {
    let header = file
        .slice(0, 52)
        .ok_or(LoadError::Parse("file is shorter than an ELF header"))?;
    if header[..4] != *b"\x7fELF" {
        return Err(LoadError::Parse("not an ELF file"));
    }
    if header[4..7] != [1, 1, 1] {
        return Err(LoadError::Parse("not a 32-bit little-endian ELF file"));
    }
    if file.half(16) != Some(3) || file.half(18) != Some(40) {
        return Err(LoadError::Parse("not a shared library for ARM"));
    }
    if file.word(36) != Some(0x0500_0400) {
        return Err(LoadError::Parse("not compiled for the hard-float ARM EABI"));
    }
    Ok(())
}

/// Locations from the dynamic section, as offsets into the image.
#[derive(Default)]
struct Dynamic {
    strings: (u32, u32),
    symbols: u32,
    hash: u32,
    relocations: (u32, u32),
    jump_slots: (u32, u32),
    calls: (u32, u32),
}

impl Dynamic {
    fn read(image: Bytes<'_>, start: u32, length: u32) -> Result<Self, LoadError> {
        let mut dynamic = Self::default();
        let table = image
            .slice(start, length)
            .ok_or(LoadError::Parse("dynamic section lies outside of the image"))?;
        for entry in table.as_chunks::<8>().0 {
            let [tag, value] = words(entry);
            match tag {
                0 => break,
                2 => dynamic.jump_slots.1 = value,
                4 => dynamic.hash = value,
                5 => dynamic.strings.0 = value,
                6 => dynamic.symbols = value,
                7 | 8 => return Err(LoadError::Parse("relocations with addends are not supported")),
                10 => dynamic.strings.1 = value,
                11 if value != 16 => return Err(LoadError::Parse("symbols have an unknown format")),
                17 => dynamic.relocations.0 = value,
                18 => dynamic.relocations.1 = value,
                19 if value != 8 => return Err(LoadError::Parse("relocations have an unknown format")),
                20 if value != 17 => return Err(LoadError::Parse("relocations with addends are not supported")),
                23 => dynamic.jump_slots.0 = value,
                DT_CALLS => dynamic.calls.0 = value,
                DT_CALLS_SIZE => dynamic.calls.1 = value,
                _ => {}
            }
        }
        if dynamic.symbols == 0 || dynamic.hash == 0 || dynamic.strings.0 == 0 {
            return Err(LoadError::Parse("no symbol table"));
        }
        Ok(dynamic)
    }
}

struct Symbol<'a> {
    name: &'a [u8],
    value: u32,
    bind: u8,
    section: u16,
}

/// The dynamic symbols of an image. Their location is checked once, as it does not change; their
/// contents are checked on each read, since relocations of a corrupt library may overwrite them.
struct Symbols {
    strings: (u32, u32),
    symbols: u32,
    /// First word of the hash table's buckets, which the chains follow.
    hash: u32,
    buckets: u32,
    count: u32,
    base: u32,
}

impl Symbols {
    fn new(image: Bytes<'_>, dynamic: &Dynamic, base: u32) -> Result<Self, LoadError> {
        let bad = || LoadError::Parse("symbol hash table lies outside of the image");
        let head = image.slice(dynamic.hash, 8).map(Bytes).ok_or_else(bad)?;
        let [buckets, count] = [0, 4].map(|at| head.word(at).unwrap_or(0));
        let words = buckets.checked_add(count).and_then(|sum| sum.checked_mul(4));
        let hash = dynamic.hash + 8;
        words.and_then(|words| image.slice(hash, words)).ok_or_else(bad)?;
        if buckets == 0 {
            return Err(LoadError::Parse("symbol hash table is empty"));
        }
        let size = count.checked_mul(16).ok_or_else(bad)?;
        image
            .slice(dynamic.symbols, size)
            .ok_or(LoadError::Parse("symbols lie outside of the image"))?;
        image
            .slice(dynamic.strings.0, dynamic.strings.1)
            .ok_or(LoadError::Parse("symbol names lie outside of the image"))?;
        Ok(Self {
            strings: dynamic.strings,
            symbols: dynamic.symbols,
            hash,
            buckets,
            count,
            base,
        })
    }

    fn get<'a>(&self, image: Bytes<'a>, index: u32) -> Option<Symbol<'a>> {
        if index >= self.count {
            return None;
        }
        let symbol = Bytes(image.slice(self.symbols + 16 * index, 16)?);
        let strings = image.slice(self.strings.0, self.strings.1)?;
        let name = strings.get(symbol.word(0)? as usize..)?;
        let end = name.iter().position(|&byte| byte == 0)?;
        Some(Symbol {
            name: &name[..end],
            value: symbol.word(4)?,
            bind: symbol.0[12] >> 4,
            section: symbol.half(14)?,
        })
    }

    /// Address of a symbol that the library defines and exports.
    fn lookup(&self, image: Bytes<'_>, name: &[u8], hash: u32) -> Option<u32> {
        let word = |index: u32| image.word(self.hash + 4 * index);
        let mut index = word(hash % self.buckets)?;
        // A chain cannot be longer than the table: this terminates a loop in a corrupt one.
        for _ in 0..self.count {
            let symbol = self.get(image, index)?;
            if symbol.name == name && symbol.section != SHN_UNDEF && symbol.bind != STB_LOCAL {
                return Some(self.address(&symbol));
            }
            index = word(self.buckets + index)?;
            if index == 0 {
                break;
            }
        }
        None
    }

    fn address(&self, symbol: &Symbol<'_>) -> u32 {
        match symbol.section {
            SHN_ABS => symbol.value,
            _ => self.base.wrapping_add(symbol.value),
        }
    }

    /// Value of the symbol that a relocation refers to; 0 for an undefined weak one.
    fn resolve(
        &self,
        image: Bytes<'_>,
        index: u32,
        firmware: &impl Fn(&[u8], u32) -> Option<u32>,
    ) -> Result<u32, LoadError> {
        if index == 0 {
            return Ok(0);
        }
        let symbol = self
            .get(image, index)
            .ok_or(LoadError::Parse("relocation refers to a symbol that does not exist"))?;
        if symbol.section != SHN_UNDEF && symbol.bind == STB_LOCAL {
            return Ok(self.address(&symbol));
        }
        let hash = hash(symbol.name);
        self.lookup(image, symbol.name, hash)
            .or_else(|| firmware(symbol.name, hash))
            .or((symbol.bind == STB_WEAK).then_some(0))
            .ok_or_else(|| LoadError::Symbol(name(symbol.name)))
    }
}

/// The hash function of the System V ABI.
pub const fn hash(name: &[u8]) -> u32 {
    let mut sum = 0u32;
    let mut at = 0;
    while at < name.len() {
        sum = (sum << 4).wrapping_add(name[at] as u32);
        let top = sum & 0xf000_0000;
        sum = (sum ^ (top >> 24)) & !top;
        at += 1;
    }
    sum
}

/// Loads `file` into `memory`, which will be seen at address `base` (a multiple of 4096), and
/// relocates it. Imported names are looked up in the library itself, then with `firmware`, which
/// receives the name and its [`hash`].
///
/// The caller must make the image visible to instruction fetches, and clear [`Library::bss`] before
/// a run.
///
/// # Errors
/// [`LoadError`]; `memory` is then partly written.
pub fn load(
    file: &[u8],
    memory: &mut [u8],
    base: u32,
    firmware: impl Fn(&[u8], u32) -> Option<u32>,
) -> Result<Library, LoadError> {
    let file = Bytes(file);
    check_header(file)?;
    let size = segments(file)?
        .map(|s| u64::from(s.address) + u64::from(s.memory_size))
        .max()
        .unwrap_or(0);
    if size > memory.len() as u64 || u64::from(base) + size > u64::from(u32::MAX) {
        return Err(LoadError::TooLarge(size));
    }
    let image = &mut memory[..size as usize];
    image.fill(0);
    let mut dynamic = None;
    let mut unwind_index = (0, 0);
    for segment in segments(file)? {
        match segment.kind {
            PT_LOAD => {
                let bytes = file
                    .slice(segment.offset, segment.file_size)
                    .ok_or(LoadError::Parse("segment lies outside of the file"))?;
                if segment.file_size > segment.memory_size {
                    return Err(LoadError::Parse("segment is larger in the file than in memory"));
                }
                // Within the image, since its size is the largest end of a segment.
                let start = segment.address as usize;
                image[start..start + bytes.len()].copy_from_slice(bytes);
            }
            PT_DYNAMIC => dynamic = Some((segment.address, segment.memory_size)),
            PT_ARM_EXIDX => unwind_index = (segment.address, segment.memory_size / 8),
            _ => {}
        }
    }
    if unwind_index.0 & 3 != 0 {
        return Err(LoadError::Parse("unwind index is not aligned"));
    }
    let (start, length) = dynamic.ok_or(LoadError::Parse("no dynamic section"))?;
    let dynamic = Dynamic::read(Bytes(image), start, length)?;
    let symbols = Symbols::new(Bytes(image), &dynamic, base)?;
    for table in [dynamic.relocations, dynamic.jump_slots] {
        relocate(image, &symbols, table, base, &firmware)?;
    }
    direct_calls(image, dynamic.calls, base)?;
    describe(image, &symbols, base, unwind_index)
}

/// Applies one relocation table (kernel ABI, section 1.5).
fn relocate(
    image: &mut [u8],
    symbols: &Symbols,
    (start, length): (u32, u32),
    base: u32,
    firmware: &impl Fn(&[u8], u32) -> Option<u32>,
) -> Result<(), LoadError> {
    let refused = || LoadError::Parse("relocation lies outside of the image");
    Bytes(image).slice(start, length).ok_or_else(refused)?;
    for number in 0..length / 8 {
        let at = start + 8 * number;
        let view = Bytes(image);
        let place = view.word(at).ok_or_else(refused)?;
        let info = view.word(at + 4).ok_or_else(refused)?;
        let (kind, index) = (info as u8, info >> 8);
        if kind == 0 {
            continue;
        }
        let addend = view.word(place).ok_or_else(refused)?;
        let symbol = match kind {
            23 => base,
            2 | 3 | 21 | 22 | 41 | 42 => symbols.resolve(view, index, firmware)?,
            _ => return Err(LoadError::Relocation(kind)),
        };
        let here = base.wrapping_add(place);
        let value = match kind {
            2 | 23 => symbol.wrapping_add(addend),
            3 | 41 => symbol.wrapping_add(addend).wrapping_sub(here),
            21 | 22 => symbol,
            _ => {
                let signed = ((addend << 1) as i32 >> 1) as u32;
                (symbol.wrapping_add(signed).wrapping_sub(here) & 0x7fff_ffff) | (addend & 0x8000_0000)
            }
        };
        image[place as usize..place as usize + 4].copy_from_slice(&value.to_le_bytes());
        if kind == JUMP_SLOT {
            stubs::shorten(image, base, addend, number, place, value);
        }
    }
    Ok(())
}

/// Makes calls of the firmware bypass their stubs, which have become branches.
fn direct_calls(image: &mut [u8], (start, length): (u32, u32), base: u32) -> Result<(), LoadError> {
    let refused = LoadError::Parse("table of calls lies outside of the image");
    Bytes(image).slice(start, length).ok_or(refused)?;
    for number in 0..length / 4 {
        if let Some(place) = Bytes(image).word(start + 4 * number) {
            stubs::pass_by(image, base, place);
        }
    }
    Ok(())
}

/// Collects the properties of a relocated image that the rest of the firmware needs.
fn describe(image: &[u8], symbols: &Symbols, base: u32, unwind_index: (u32, u32)) -> Result<Library, LoadError> {
    let lookup = |name: &[u8]| symbols.lookup(Bytes(image), name, hash(name));
    let size = image.len() as u32;
    let entry = lookup(b"__modinit__").ok_or_else(|| LoadError::Symbol(name(b"__modinit__")))?;
    if entry.wrapping_sub(base) >= size || entry & 3 != 0 {
        return Err(LoadError::Parse("__modinit__ is not an ARM function of the image"));
    }
    let bss = match (lookup(b"__bss_start"), lookup(b"_end")) {
        (Some(start), Some(end)) => {
            // `_end` may lie after the last segment: only bytes within the image are cleared.
            let end = end.wrapping_sub(base).min(size);
            (base + start.wrapping_sub(base).min(end), base + end)
        }
        _ => (base, base),
    };
    let unwind_index = (base + unwind_index.0, unwind_index.1);
    Ok(Library {
        base,
        size,
        entry,
        typeinfo: lookup(b"typeinfo"),
        unwind_index,
        bss,
    })
}
