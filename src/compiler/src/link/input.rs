//! Object files, as far as the linker needs them.

use object::read::elf::{ElfFile32, SectionHeader};
use object::{
    elf, Endianness, Object as _, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex,
};

/// The purpose of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Text,
    ReadOnly,
    /// `.ARM.extab`
    Unwind,
    /// `.ARM.exidx`
    Index,
    Data,
    Zero,
    Debug,
}

#[derive(Debug)]
pub struct Section {
    pub name: Box<str>,
    pub kind: Part,
    pub data: Vec<u8>,
    pub size: u32,
    pub align: u32,
    pub relocations: Vec<Relocation>,
}

#[derive(Debug)]
pub struct Relocation {
    pub offset: u32,
    pub kind: u32,
    /// Index into the object's symbols.
    pub symbol: usize,
}

/// A position in the input.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub object: usize,
    pub part: usize,
    pub offset: u32,
}

#[derive(Debug)]
pub struct Symbol {
    pub name: String,
    /// None if the symbol is defined elsewhere.
    pub place: Option<Position>,
    pub size: u32,
    /// `STT_` of the ELF format.
    pub kind: u8,
    /// Visible to other objects.
    pub global: bool,
    /// Visible to other objects only, not outside the library.
    pub hidden: bool,
}

#[derive(Debug)]
pub struct Object {
    pub parts: Vec<Section>,
    pub symbols: Vec<Symbol>,
}

impl Object {
    pub fn read(bytes: &[u8]) -> Result<Object, String> {
        Self::parse(bytes).map_err(|error| format!("an object file cannot be linked: {error}"))
    }

    fn parse(bytes: &[u8]) -> object::Result<Object> {
        let file = ElfFile32::<Endianness>::parse(bytes)?;
        let mut parts = vec![];
        let mut numbers = std::collections::HashMap::<SectionIndex, usize>::new();
        for section in file.sections() {
            let header = section.elf_section_header();
            let (flags, ty) = (
                header.sh_flags.get(Endianness::Little),
                header.sh_type(Endianness::Little),
            );
            let name = section.name()?;
            let has = |flag| flags & flag != 0;
            let kind = match ty {
                _ if name.starts_with(".debug") && !has(elf::SHF_ALLOC) => Part::Debug,
                _ if !has(elf::SHF_ALLOC) => continue,
                elf::SHT_ARM_EXIDX => Part::Index,
                elf::SHT_NOBITS => Part::Zero,
                _ if name.starts_with(".ARM.extab") => Part::Unwind,
                _ if has(elf::SHF_EXECINSTR) => Part::Text,
                _ if has(elf::SHF_WRITE) => Part::Data,
                _ => Part::ReadOnly,
            };
            let data = if kind == Part::Zero {
                vec![]
            } else {
                section.data()?.to_vec()
            };
            let relocations = section.relocations().filter_map(|(offset, relocation)| {
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    return None;
                };
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return None;
                };
                Some(Relocation {
                    offset: offset as u32,
                    kind: r_type,
                    symbol: symbol.0,
                })
            });
            let (size, align) = (section.size() as u32, section.align().max(1) as u32);
            numbers.insert(section.index(), parts.len());
            parts.push(Section {
                name: name.into(),
                kind,
                data,
                size,
                align,
                relocations: relocations.collect(),
            });
        }
        let count = file.symbols().map(|symbol| symbol.index().0 + 1).max().unwrap_or(0);
        let unused = || Symbol {
            name: String::new(),
            place: None,
            size: 0,
            kind: 0,
            global: false,
            hidden: false,
        };
        let mut symbols: Vec<Symbol> = (0..count).map(|_| unused()).collect();
        for symbol in file.symbols() {
            let part = symbol
                .section_index()
                .and_then(|section| numbers.get(&section).copied());
            let place = part.map(|part| Position {
                object: 0,
                part,
                offset: symbol.address() as u32,
            });
            let raw = symbol.elf_symbol();
            symbols[symbol.index().0] = Symbol {
                name: symbol.name()?.to_string(),
                place,
                size: symbol.size() as u32,
                kind: raw.st_info & 0xf,
                global: symbol.is_global() && symbol.is_definition(),
                hidden: raw.st_visibility() == elf::STV_HIDDEN,
            };
        }
        Ok(Object { parts, symbols })
    }

    /// Replaces the bytes at a symbol, if it is defined here.
    pub fn fill(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let found = self.symbols.iter().find(|symbol| symbol.name == name);
        let Some(place) = found.and_then(|symbol| symbol.place) else {
            return Ok(());
        };
        let start = place.offset as usize;
        let room = self.parts[place.part].data.get_mut(start..start + bytes.len());
        room.ok_or(format!("there is no room for the data of {name}"))?
            .copy_from_slice(bytes);
        Ok(())
    }
}
