//! The output library: consecutive sections, each at a file offset equal to its address.

use kairos_contracts::library::{DT_CALLS, DT_CALLS_SIZE, FINGERPRINT, FINGERPRINT_BYTES};
use object::elf;

/// Size of a stub in bytes.
pub const PLT_ENTRY: usize = 16;
/// Words of the jump table before that of the first function.
pub const GOT_RESERVED: usize = 3;
/// Entries of the dynamic section.
pub const DYNAMIC_TAGS: usize = 16;

const HEADER: usize = 52;
const SEGMENTS: usize = 6;
const EABI5_HARD_FLOAT: u32 = 0x0500_0400;

/// The FNV-1a hash.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[derive(Debug)]
struct Section {
    name: String,
    address: u32,
    size: u32,
    align: u32,
}

#[derive(Debug, Default)]
pub struct Image {
    bytes: Vec<u8>,
    sections: Vec<Section>,
    code_end: u32,
    data_end: u32,
    /// End of the memory image.
    pub end: u32,
    unloaded: Vec<(String, Vec<u8>)>,
}

impl Image {
    pub fn start(&mut self) {
        self.bytes = vec![0; HEADER + SEGMENTS * 32];
    }

    fn align(&mut self, align: u32) {
        self.bytes.resize(self.bytes.len().next_multiple_of(align as usize), 0);
    }

    /// Starts a section with `size` zero bytes.
    pub fn reserve(&mut self, name: &str, size: usize, align: u32) {
        self.align(align);
        let address = self.bytes.len() as u32;
        self.bytes.resize(self.bytes.len() + size, 0);
        self.sections.push(Section {
            name: name.into(),
            address,
            size: size as u32,
            align,
        });
    }

    /// Appends to the current section; returns the address.
    pub fn append(&mut self, name: &str, data: &[u8], size: u32, align: u32) -> u32 {
        self.align(align);
        let address = self.bytes.len() as u32;
        self.bytes.extend(data);
        self.bytes.resize((address + size) as usize, 0);
        let section = self.sections.last_mut().expect("a section was begun");
        debug_assert_eq!(section.name, name);
        if section.size == 0 {
            section.address = address;
        }
        section.align = section.align.max(align);
        section.size = address + size - section.address;
        address
    }

    /// Extends the current section with zeros.
    pub fn extend(&mut self, name: &str, size: u32) {
        self.append(name, &[], size, 4);
    }

    pub fn end_of_code(&mut self) {
        self.code_end = self.bytes.len() as u32;
        self.align(16);
    }

    pub fn end_of_data(&mut self) {
        self.data_end = self.bytes.len() as u32;
    }

    pub fn end_of_zeros(&mut self) {
        self.align(4);
        self.end = self.bytes.len() as u32;
        let zeros = self.sections.last_mut().expect("the last is .bss");
        zeros.size = self.end - zeros.address;
    }

    fn section(&self, name: &str) -> &Section {
        self.sections
            .iter()
            .find(|section| section.name == name)
            .expect("all sections are reserved first")
    }

    pub fn address(&self, name: &str) -> u32 {
        self.section(name).address
    }

    /// Address and size of a section.
    pub fn range(&self, name: &str) -> (u32, u32) {
        (self.section(name).address, self.section(name).size)
    }

    /// Number of the section at an address, as used in symbols.
    pub fn section_at(&self, address: u32) -> u32 {
        let found = self
            .sections
            .iter()
            .rposition(|s| s.address <= address && s.size > 0 || s.address == address);
        found.map_or(0xfff1, |index| index as u32 + 1)
    }

    pub fn word(&self, address: u32) -> u32 {
        let at = address as usize;
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }

    pub fn set_word(&mut self, address: u32, value: u32) {
        let at = address as usize;
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn fill(&mut self, name: &str, words: impl Iterator<Item = u32>) {
        let start = self.address(name);
        for (index, word) in words.enumerate() {
            self.set_word(start + 4 * index as u32, word);
        }
    }

    pub fn fill_bytes(&mut self, name: &str, bytes: &[u8]) {
        let start = self.address(name) as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Fills in the dynamic section.
    pub fn dynamic(&mut self, relative: u32) {
        let (rel, rel_size) = self.range(".rel.dyn");
        let (jumps, jumps_size) = self.range(".rel.plt");
        let (calls, calls_size) = self.range(".calls");
        let tags: [(u32, u32); DYNAMIC_TAGS] = [
            (elf::DT_HASH, self.address(".hash")),
            (elf::DT_SYMTAB, self.address(".dynsym")),
            (elf::DT_SYMENT, 16),
            (elf::DT_STRTAB, self.address(".dynstr")),
            (elf::DT_STRSZ, self.range(".dynstr").1),
            (elf::DT_REL, rel),
            (elf::DT_RELSZ, rel_size),
            (elf::DT_RELENT, 8),
            (elf::DT_RELCOUNT, relative),
            (elf::DT_PLTGOT, self.address(".got.plt")),
            (elf::DT_PLTRELSZ, jumps_size),
            (elf::DT_PLTREL, elf::DT_REL),
            (elf::DT_JMPREL, jumps),
            (DT_CALLS, calls),
            (DT_CALLS_SIZE, calls_size),
            (elf::DT_NULL, 0),
        ];
        self.fill(".dynamic", tags.into_iter().flat_map(|(tag, value)| [tag, value]));
    }

    /// Writes the ELF header and the program headers.
    pub fn headers(&mut self) {
        let text = self.address(".text");
        let data = self.address(".data").min(self.address(".dynamic"));
        let (dynamic, dynamic_size) = self.range(".dynamic");
        let (index, index_size) = self.range(".ARM.exidx");
        let ident = [
            0x7f,
            b'E',
            b'L',
            b'F',
            elf::ELFCLASS32,
            elf::ELFDATA2LSB,
            elf::EV_CURRENT,
        ];
        self.bytes[..ident.len()].copy_from_slice(&ident);
        let halves = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        self.set_word(16, halves(elf::ET_DYN, elf::EM_ARM));
        self.set_word(20, 1);
        self.set_word(28, HEADER as u32);
        self.set_word(36, EABI5_HARD_FLOAT);
        self.set_word(40, halves(HEADER as u16, 32));
        self.set_word(44, halves(SEGMENTS as u16, 40));
        let head = (HEADER + SEGMENTS * 32) as u32;
        let (code_size, data_size, memory) = (self.code_end - text, self.data_end - data, self.end - data);
        // Type, address, size in the file and in memory, flags (1 execute, 2 write, 4 read), alignment.
        let segments = [
            [elf::PT_LOAD, 0, head, head, 4, 0x10000],
            [elf::PT_LOAD, text, code_size, code_size, 7, 0x10000],
            [elf::PT_LOAD, data, data_size, memory, 6, 0x10000],
            [elf::PT_DYNAMIC, dynamic, dynamic_size, dynamic_size, 6, 4],
            [elf::PT_GNU_EH_FRAME, 0, 0, 0, 4, 0],
            [elf::PT_ARM_EXIDX, index, index_size, index_size, 4, 4],
        ];
        for (number, [kind, address, in_file, in_memory, flags, align]) in segments.into_iter().enumerate() {
            let at = (HEADER + number * 32) as u32;
            let words = [kind, address, address, address, in_file, in_memory, flags, align];
            for (index, word) in words.into_iter().enumerate() {
                self.set_word(at + 4 * index as u32, word);
            }
        }
    }

    /// Appends a section that is in the file but not loaded.
    pub fn append_unloaded(&mut self, name: &str, data: Vec<u8>) {
        self.unloaded.push((name.into(), data));
    }

    pub fn append_symbols(&mut self, symbols: Vec<u8>, strings: Vec<u8>) {
        self.append_unloaded(".symtab", symbols);
        self.append_unloaded(".strtab", strings);
    }

    /// Writes the sections that are not loaded, and the section headers.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.data_end as usize);
        self.sign();
        let mut names = vec![0u8];
        let mut headers = vec![[0u32; 10]];
        let number = |sections: &[Section], name: &str| {
            sections
                .iter()
                .position(|section| section.name == name)
                .map_or(0, |index| index as u32 + 1)
        };
        for section in &self.sections {
            let (kind, flags, link, entry) = match section.name.as_str() {
                ".text" | ".plt" => (elf::SHT_PROGBITS, 6, 0, 0),
                ".dynsym" => (elf::SHT_DYNSYM, 2, number(&self.sections, ".dynstr"), 16),
                ".hash" => (elf::SHT_HASH, 2, number(&self.sections, ".dynsym"), 4),
                ".dynstr" => (elf::SHT_STRTAB, 2, 0, 0),
                ".rel.dyn" | ".rel.plt" => (elf::SHT_REL, 2, number(&self.sections, ".dynsym"), 8),
                ".ARM.exidx" => (elf::SHT_ARM_EXIDX, 0x82, number(&self.sections, ".text"), 0),
                ".dynamic" => (elf::SHT_DYNAMIC, 3, number(&self.sections, ".dynstr"), 8),
                ".data" | ".got" | ".got.plt" => (elf::SHT_PROGBITS, 3, 0, 0),
                ".bss" => (elf::SHT_NOBITS, 3, 0, 0),
                _ => (elf::SHT_PROGBITS, 2, 0, 0),
            };
            // For a symbol table, the number of its local symbols.
            let info = u32::from(kind == elf::SHT_DYNSYM);
            let (name, at) = (names.len() as u32, section.address);
            headers.push([
                name,
                kind,
                flags,
                at,
                at,
                section.size,
                link,
                info,
                section.align,
                entry,
            ]);
            names.extend(section.name.as_bytes());
            names.push(0);
        }
        for (name, data) in std::mem::take(&mut self.unloaded) {
            self.align(4);
            let (at, size) = (self.bytes.len() as u32, data.len() as u32);
            let next = headers.len() as u32 + 1;
            let (kind, link, info, entry) = match name.as_str() {
                ".symtab" => (elf::SHT_SYMTAB, next, size / 16, 16),
                ".strtab" => (elf::SHT_STRTAB, 0, 0, 0),
                _ => (elf::SHT_PROGBITS, 0, 0, 0),
            };
            headers.push([names.len() as u32, kind, 0, 0, at, size, link, info, 1, entry]);
            names.extend(name.as_bytes());
            names.push(0);
            self.bytes.extend(data);
        }
        let name = names.len() as u32;
        names.extend(b".shstrtab\0");
        let at = self.bytes.len() as u32;
        headers.push([name, elf::SHT_STRTAB, 0, 0, at, names.len() as u32, 0, 0, 1, 0]);
        self.bytes.extend(names);
        self.align(4);
        let (table, count) = (self.bytes.len() as u32, headers.len() as u32);
        self.bytes
            .extend(headers.into_iter().flatten().flat_map(u32::to_le_bytes));
        self.set_word(32, table);
        self.set_word(48, count | (count - 1) << 16);
        self.bytes
    }

    /// Stores the fingerprint of the library in its header.
    fn sign(&mut self) {
        let hash = fnv(&self.bytes).to_le_bytes();
        self.bytes[FINGERPRINT..FINGERPRINT + FINGERPRINT_BYTES].copy_from_slice(&hash[..FINGERPRINT_BYTES]);
    }
}
