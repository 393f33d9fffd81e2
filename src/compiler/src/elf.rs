//! Stripping, patching and symbolising the linked library.

use std::collections::HashMap;

use object::read::elf::{ElfFile32, FileHeader, SectionHeader};
use object::{elf, Endianness, Object, ObjectSymbol};

use crate::symbol::qualified_name;

/// A source position of a backtrace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    pub function: String,
}

/// Removes what the device does not need: the symbol table and debug information.
///
/// Loaded sections come first in the file and are kept unchanged; their section headers are
/// rewritten.
pub fn strip(library: &[u8]) -> Result<Vec<u8>, String> {
    let text = |error: object::Error| format!("the linked library cannot be read: {error}");
    let header = elf::FileHeader32::<Endianness>::parse(library).map_err(text)?;
    let endian = header.endian().map_err(text)?;
    let sections = header.sections(endian, library).map_err(text)?;
    let mut kept: Vec<Vec<u8>> = vec![vec![0; 40]];
    let mut names = vec![0u8];
    let mut end = 0;
    let mut numbers = HashMap::new();
    for (index, section) in sections.enumerate() {
        if section.sh_flags.get(endian) & elf::SHF_ALLOC == 0 {
            continue;
        }
        numbers.insert(index.0 as u32, kept.len() as u32);
        let size = if section.sh_type(endian) == elf::SHT_NOBITS {
            0
        } else {
            section.sh_size.get(endian)
        };
        end = end.max((section.sh_offset.get(endian) + size) as usize);
        let mut bytes = object::bytes_of(section).to_vec();
        bytes[0..4].copy_from_slice(&(names.len() as u32).to_le_bytes());
        names.extend(sections.section_name(endian, section).map_err(text)?);
        names.push(0);
        kept.push(bytes);
    }
    for section in &mut kept {
        let link = u32::from_le_bytes([section[24], section[25], section[26], section[27]]);
        let link = numbers.get(&link).copied().unwrap_or(0);
        section[24..28].copy_from_slice(&link.to_le_bytes());
    }
    let mut stripped = library.get(..end).ok_or("the linked library is truncated")?.to_vec();
    let name = names.len() as u32;
    names.extend(b".shstrtab\0");
    let mut last = [0u32; 10];
    (last[0], last[1], last[4], last[5], last[8]) = (name, elf::SHT_STRTAB, end as u32, names.len() as u32, 1);
    kept.push(last.iter().flat_map(|word| word.to_le_bytes()).collect());
    stripped.extend(names);
    stripped.resize(stripped.len().next_multiple_of(4), 0);
    let table = stripped.len() as u32;
    let count = kept.len() as u16;
    stripped.extend(kept.into_iter().flatten());
    stripped[32..36].copy_from_slice(&table.to_le_bytes());
    stripped[48..50].copy_from_slice(&count.to_le_bytes());
    stripped[50..52].copy_from_slice(&(count - 1).to_le_bytes());
    Ok(stripped)
}

/// Offset and length in the library of each symbol's data, or None if the symbol is not defined.
///
/// File offsets of loaded sections equal their addresses.
pub fn places(library: &[u8], names: &[&str]) -> Result<Vec<Option<(u32, u32)>>, String> {
    let file = ElfFile32::<Endianness>::parse(library).map_err(|error| error.to_string())?;
    let known: HashMap<&str, (u32, u32)> = file
        .symbols()
        .filter_map(|symbol| Some((symbol.name().ok()?, (symbol.address() as u32, symbol.size() as u32))))
        .collect();
    Ok(names.iter().map(|name| known.get(name).copied()).collect())
}

/// Source positions of return addresses, innermost first. Addresses in code without source have
/// none.
pub fn symbolize(library: &[u8], addresses: &[u32]) -> Result<Vec<Frame>, String> {
    let file = ElfFile32::<Endianness>::parse(library).map_err(|error| error.to_string())?;
    let context = debug_context(&file)?;
    let mut frames = vec![];
    for &address in addresses {
        // A return address belongs to the instruction before it.
        let at = u64::from(address.wrapping_sub(1));
        frames.extend(frames_at(&context, &file, at)?);
    }
    Ok(frames)
}

/// Source positions of an instruction, innermost first.
pub(crate) fn frames_at(
    context: &addr2line::Context<Reader>,
    file: &ElfFile32<Endianness>,
    at: u64,
) -> Result<Vec<Frame>, String> {
    let found = context.find_frames(at).skip_all_loads();
    let (mut found, mut frames) = (found.map_err(|error| error.to_string())?, vec![]);
    while let Some(frame) = found.next().map_err(|error| error.to_string())? {
        let Some(place) = frame.location else { continue };
        let (Some(name), Some(line)) = (place.file, place.line) else {
            continue;
        };
        let function = frame
            .function
            .and_then(|function| Some(function.raw_name().ok()?.into_owned()));
        let function = function.or_else(|| symbol_at(file, at)).unwrap_or_default();
        let file = name.strip_prefix("kernel/").unwrap_or(name).to_string();
        frames.push(Frame {
            file,
            line,
            column: place.column.unwrap_or(0),
            function,
        });
    }
    Ok(frames)
}

/// Address and number of entries of the unwind index of a library; None if it has none.
pub fn unwind_index(library: &[u8]) -> Option<(u32, u32)> {
    let header = elf::FileHeader32::<Endianness>::parse(library).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, library).ok()?;
    let section = sections
        .iter()
        .find(|section| section.sh_type(endian) == elf::SHT_ARM_EXIDX)?;
    Some((section.sh_addr.get(endian), section.sh_size.get(endian) / 8))
}

pub(crate) type Reader<'a> = addr2line::gimli::EndianSlice<'a, addr2line::gimli::LittleEndian>;

fn debug_context<'a>(file: &ElfFile32<'a, Endianness>) -> Result<addr2line::Context<Reader<'a>>, String> {
    addr2line::Context::from_dwarf(debug_dwarf(file)?).map_err(|error| error.to_string())
}

/// The debug information of a library.
pub(crate) fn debug_dwarf<'a>(file: &ElfFile32<'a, Endianness>) -> Result<addr2line::gimli::Dwarf<Reader<'a>>, String> {
    use object::ObjectSection;
    let load = |id: addr2line::gimli::SectionId| -> Result<Reader<'a>, addr2line::gimli::Error> {
        let data = file
            .section_by_name(id.name())
            .and_then(|section| section.data().ok())
            .unwrap_or(&[]);
        Ok(Reader::new(data, addr2line::gimli::LittleEndian))
    };
    addr2line::gimli::Dwarf::load(load).map_err(|error| error.to_string())
}

/// The name of the function that contains an address.
fn symbol_at(file: &ElfFile32<Endianness>, address: u64) -> Option<String> {
    let mut symbols = file.symbols();
    let symbol = symbols.find(|s| s.is_definition() && (s.address()..s.address() + s.size()).contains(&address))?;
    Some(qualified_name(symbol.name().ok()?).to_string())
}
