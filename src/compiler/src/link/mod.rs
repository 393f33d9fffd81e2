//! The linker: LLVM object files to the shared library of the kernel ABI (section 1).
//!
//! It supports only what the compiler's objects contain: ARM code without Thumb, data, unwind
//! tables, line tables, and the few relocations between them. Anything else is an error. It exists
//! for speed: a general linker takes longer to start than a small kernel takes to compile.

mod input;
mod output;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use input::{Object, Part, Position, Relocation};
use output::{Image, DYNAMIC_TAGS, GOT_RESERVED, PLT_ENTRY};

/// Relocations of the ARM ELF ABI.
mod reloc {
    pub const NONE: u32 = 0;
    pub const ABS32: u32 = 2;
    pub const REL32: u32 = 3;
    pub const GLOB_DAT: u32 = 21;
    pub const JUMP_SLOT: u32 = 22;
    pub const RELATIVE: u32 = 23;
    pub const CALL: u32 = 28;
    pub const JUMP24: u32 = 29;
    pub const TARGET2: u32 = 41;
    pub const PREL31: u32 = 42;
    pub const GOT_PREL: u32 = 96;
}

/// Symbols that the linker defines.
const LINKER_SYMBOLS: [&str; 3] = ["__bss_start", "_end", "_sstack_guard"];

/// Links object files; the result includes symbols and debug information, which
/// [`crate::elf::strip`] removes.
///
/// `fills`: the contents by which to replace the zeros at a symbol.
pub fn link(objects: &[&[u8]], fills: &[(&str, &[u8])]) -> Result<Vec<u8>, String> {
    let mut objects = objects
        .iter()
        .map(|bytes| Object::read(bytes))
        .collect::<Result<Vec<_>, _>>()?;
    for (name, bytes) in fills {
        // Code generation omits unreferenced data.
        objects.iter_mut().try_for_each(|object| object.fill(name, bytes))?;
    }
    Linker::new(&objects)?.run()
}

struct Linker<'a> {
    objects: &'a [Object],
    /// Address of each part, by object and part.
    addresses: Vec<Vec<u32>>,
    defined: HashMap<&'a str, Position>,
    /// Firmware functions, in the order of their stubs.
    imports: Vec<&'a str>,
    /// Firmware variables, in the order of their words in `.got`.
    variables: Vec<&'a str>,
    exports: Vec<&'a str>,
    image: Image,
    /// Addresses of words that must be relocated when the library is loaded.
    relative: Vec<u32>,
    /// Addresses of calls to the firmware, which go through stubs.
    calls: Vec<u32>,
}

impl<'a> Linker<'a> {
    fn new(objects: &'a [Object]) -> Result<Self, String> {
        let mut defined = HashMap::new();
        let mut exports = vec![];
        for (index, object) in objects.iter().enumerate() {
            for symbol in object.symbols.iter().filter(|symbol| symbol.global) {
                let Some(place) = symbol.place else { continue };
                if defined
                    .insert(&*symbol.name, Position { object: index, ..place })
                    .is_some()
                {
                    return Err(format!("the symbol {} is defined twice", symbol.name));
                }
                if !symbol.hidden {
                    exports.push(&*symbol.name);
                }
            }
        }
        let (mut imports, mut variables) = (BTreeSet::new(), BTreeSet::new());
        for object in objects {
            for relocation in object.parts.iter().flat_map(|part| &part.relocations) {
                let symbol = &object.symbols[relocation.symbol];
                let known = symbol.place.is_some() || defined.contains_key(&*symbol.name);
                if relocation.kind == reloc::NONE || known || LINKER_SYMBOLS.contains(&&*symbol.name) {
                    continue;
                }
                let set = match relocation.kind {
                    reloc::GOT_PREL => &mut variables,
                    _ => &mut imports,
                };
                set.insert(&*symbol.name);
            }
        }
        let imports = imports.into_iter().collect();
        let variables = variables.into_iter().collect();
        let addresses = objects.iter().map(|object| vec![0; object.parts.len()]).collect();
        Ok(Linker {
            objects,
            addresses,
            defined,
            imports,
            variables,
            exports,
            image: Image::default(),
            relative: vec![],
            calls: vec![],
        })
    }

    fn run(mut self) -> Result<Vec<u8>, String> {
        let names = self.dynamic_names();
        let dynamic_symbols = names.len() + 1;
        let names: usize = names.iter().map(|name| name.len() + 1).sum();
        let in_data = self.count_absolute() + self.variables.len();

        let parts = |wanted: Part| move |part: &Part| *part == wanted;
        self.image.start();
        self.place(".text", parts(Part::Text));
        self.image.reserve(".plt", PLT_ENTRY * self.imports.len(), 4);
        self.place(".rodata", parts(Part::ReadOnly));
        self.place(".ARM.extab", parts(Part::Unwind));
        self.image.reserve(".dynsym", 16 * dynamic_symbols, 4);
        self.image.reserve(".hash", 4 * (2 + 2 * dynamic_symbols), 4);
        self.image.reserve(".dynstr", names + 1, 1);
        self.image.reserve(".rel.dyn", 8 * in_data, 4);
        self.place(".ARM.exidx", parts(Part::Index));
        self.image.extend(".ARM.exidx", 8);
        self.image.reserve(".rel.plt", 8 * self.imports.len(), 4);
        self.image.reserve(".calls", 4 * self.count_calls(), 4);
        self.image.reserve(".got", 4 * self.variables.len(), 4);
        self.image
            .reserve(".got.plt", 4 * (GOT_RESERVED + self.imports.len()), 4);
        self.image.end_of_code();
        self.place(".data", parts(Part::Data));
        self.image.reserve(".dynamic", 8 * DYNAMIC_TAGS, 4);
        self.image.end_of_data();
        self.place(".bss", parts(Part::Zero));
        self.image.end_of_zeros();

        self.stubs();
        for object in 0..self.objects.len() {
            for part in 0..self.objects[object].parts.len() {
                if self.objects[object].parts[part].kind != Part::Debug {
                    self.relocate(object, part)?;
                }
            }
        }
        self.sentinel();
        self.dynamic_tables();
        self.image.headers();
        self.debug_information()?;
        self.symbol_table();
        Ok(self.image.finish())
    }

    /// Places all parts of a kind in one section.
    fn place(&mut self, name: &'static str, wanted: impl Fn(&Part) -> bool) {
        let parts = self.objects.iter().flat_map(|object| &object.parts);
        let align = parts.filter(|part| wanted(&part.kind)).map(|part| part.align).max();
        self.image.reserve(name, 0, align.unwrap_or(4).max(4));
        for (object, addresses) in self.objects.iter().zip(&mut self.addresses) {
            for (part, address) in object.parts.iter().zip(addresses) {
                if wanted(&part.kind) {
                    *address = self.image.append(name, &part.data, part.size, part.align);
                }
            }
        }
    }

    /// Number of words that hold an absolute address.
    fn count_absolute(&self) -> usize {
        let parts = self
            .objects
            .iter()
            .flat_map(|object| &object.parts)
            .filter(|part| part.kind != Part::Debug);
        parts
            .flat_map(|part| &part.relocations)
            .filter(|relocation| relocation.kind == reloc::ABS32)
            .count()
    }

    /// Number of calls to the firmware.
    fn count_calls(&self) -> usize {
        let calls = self.objects.iter().flat_map(|object| {
            let relocations = object.parts.iter().flat_map(|part| &part.relocations);
            relocations.filter(|relocation| self.is_firmware_call(object, relocation))
        });
        calls.count()
    }

    fn is_firmware_call(&self, object: &Object, relocation: &Relocation) -> bool {
        let name = &*object.symbols[relocation.symbol].name;
        matches!(relocation.kind, reloc::CALL | reloc::JUMP24) && self.imports.binary_search(&name).is_ok()
    }

    /// Address of a symbol; for a firmware function, of its stub.
    fn resolve(&self, object: usize, symbol: usize) -> Result<u32, String> {
        let symbol = &self.objects[object].symbols[symbol];
        if let Some(place) = symbol.place {
            return Ok(self.addresses[object][place.part] + place.offset);
        }
        self.address_of(&symbol.name)
            .ok_or_else(|| format!("the symbol {} is not defined", symbol.name))
    }

    /// Names of the dynamic symbols, except the first, which has no name.
    fn dynamic_names(&self) -> Vec<&'a str> {
        let imports = self.imports.iter().chain(&self.variables);
        imports.chain(&self.exports).chain(&LINKER_SYMBOLS).copied().collect()
    }

    /// Address of the word that holds the address of a firmware variable.
    fn variable_slot(&self, name: &str) -> Option<u32> {
        let index = self.variables.iter().position(|variable| *variable == name)?;
        Some(self.image.address(".got") + 4 * index as u32)
    }

    fn address_of(&self, name: &str) -> Option<u32> {
        if let Some(place) = self.defined.get(name) {
            return Some(self.addresses[place.object][place.part] + place.offset);
        }
        if let Some(index) = self.imports.iter().position(|import| *import == name) {
            return Some(self.image.address(".plt") + (PLT_ENTRY * index) as u32);
        }
        match name {
            "__bss_start" => Some(self.image.address(".bss")),
            "_end" => Some(self.image.end),
            "_sstack_guard" => Some(self.image.end.next_multiple_of(0x1000)),
            _ => None,
        }
    }

    fn relocate(&mut self, object: usize, part: usize) -> Result<(), String> {
        let content = &self.objects[object].parts[part];
        let base = self.addresses[object][part];
        for relocation in &content.relocations {
            if relocation.kind == reloc::NONE {
                continue;
            }
            let place = base + relocation.offset;
            let target = match relocation.kind {
                reloc::GOT_PREL => {
                    let name = &*self.objects[object].symbols[relocation.symbol].name;
                    let slot = self.variable_slot(name);
                    slot.ok_or_else(|| format!("{name} is not a variable of the firmware"))?
                }
                _ => self.resolve(object, relocation.symbol)?,
            };
            let word = self.image.word(place);
            let relative = |addend: u32| target.wrapping_add(addend).wrapping_sub(place);
            let value = match relocation.kind {
                reloc::ABS32 => {
                    if self
                        .imports
                        .contains(&&*self.objects[object].symbols[relocation.symbol].name)
                    {
                        return Err("the address of a firmware function cannot be data".into());
                    }
                    self.relative.push(place);
                    target.wrapping_add(word)
                }
                reloc::REL32 | reloc::TARGET2 | reloc::GOT_PREL => relative(word),
                // 31 bits: the addend is signed, and the top bit belongs to the table.
                reloc::PREL31 => (relative(((word << 1) as i32 >> 1) as u32) & 0x7fff_ffff) | (word & 0x8000_0000),
                reloc::CALL | reloc::JUMP24 => {
                    let distance = relative(((word << 8) as i32 >> 6) as u32) as i32;
                    if !(-(1 << 25)..1 << 25).contains(&distance) {
                        return Err("a call is too far away: the kernel is larger than 32 MiB".into());
                    }
                    if self.is_firmware_call(&self.objects[object], relocation) {
                        self.calls.push(place);
                    }
                    (word & 0xff00_0000) | ((distance >> 2) as u32 & 0x00ff_ffff)
                }
                other => return Err(format!("relocation type {other} is not known to the linker")),
            };
            self.image.set_word(place, value);
        }
        Ok(())
    }

    /// Writes one stub per firmware function, which jumps to the address in its word of the table.
    fn stubs(&mut self) {
        let (plt, got) = (self.image.address(".plt"), self.image.address(".got.plt"));
        let dynamic = self.image.address(".dynamic");
        self.image.set_word(got, dynamic);
        for index in 0..self.imports.len() as u32 {
            let stub = plt + index * PLT_ENTRY as u32;
            let slot = got + 4 * (GOT_RESERVED as u32 + index);
            let code = [
                0xe59f_c004, // ldr r12, [pc, #4]
                0xe08f_c00c, // add r12, pc, r12
                0xe59c_f000, // ldr pc, [r12]
                slot.wrapping_sub(stub + 12),
            ];
            for (number, word) in code.into_iter().enumerate() {
                self.image.set_word(stub + 4 * number as u32, word);
            }
            self.image.set_word(slot, plt);
        }
    }

    /// Writes the last entry of the unwind index: code beyond the end cannot be unwound.
    fn sentinel(&mut self) {
        let (index, size) = self.image.range(".ARM.exidx");
        let (text, length) = self.image.range(".text");
        let place = index + size - 8;
        self.image
            .set_word(place, (text + length).wrapping_sub(place) & 0x7fff_ffff);
        self.image.set_word(place + 4, 1);
    }

    fn dynamic_tables(&mut self) {
        let names = self.dynamic_names();
        let undefined = self.imports.len() + self.variables.len();
        let mut symbols = vec![[0u32; 4]];
        let mut strings = vec![0u8];
        for (index, name) in names.iter().enumerate() {
            let (value, size, section) = match index < undefined {
                true => (0, 0, 0),
                false => {
                    let value = self.address_of(name).expect("exported symbols are defined");
                    (value, self.size_of(name), self.image.section_at(value))
                }
            };
            let kind = if size == 0 { 0 } else { self.kind_of(name) };
            // Name, value, size, then the kind with global binding, default visibility, and the
            // section.
            symbols.push([
                strings.len() as u32,
                value,
                size,
                u32::from(0x10 | kind) | section << 16,
            ]);
            strings.extend(name.as_bytes());
            strings.push(0);
        }
        self.image.fill(".dynsym", symbols.iter().flatten().copied());
        self.image.fill_bytes(".dynstr", &strings);
        let mut buckets = vec![0u32; symbols.len()];
        let mut chains = vec![0u32; symbols.len()];
        for (index, name) in names.iter().enumerate() {
            let bucket = sysv_hash(name) as usize % buckets.len();
            chains[index + 1] = std::mem::replace(&mut buckets[bucket], index as u32 + 1);
        }
        let count = symbols.len() as u32;
        self.image
            .fill(".hash", [count, count].into_iter().chain(buckets).chain(chains));
        let relative = std::mem::take(&mut self.relative);
        let count = relative.len() as u32;
        let words = self.image.address(".got");
        let first = self.imports.len() as u32 + 1;
        let variables = (0..self.variables.len() as u32).map(|n| [words + 4 * n, (first + n) << 8 | reloc::GLOB_DAT]);
        let relative = relative.into_iter().map(|place| [place, reloc::RELATIVE]);
        self.image.fill(".rel.dyn", relative.chain(variables).flatten());
        let slots = self.image.address(".got.plt") + 4 * GOT_RESERVED as u32;
        let jumps = (0..self.imports.len() as u32).flat_map(|n| [slots + 4 * n, (n + 1) << 8 | reloc::JUMP_SLOT]);
        self.image.fill(".rel.plt", jumps);
        self.image.fill(".calls", std::mem::take(&mut self.calls).into_iter());
        self.image.dynamic(count);
    }

    fn symbol(&self, name: &str) -> Option<&input::Symbol> {
        let place = self.defined.get(name)?;
        self.objects[place.object]
            .symbols
            .iter()
            .find(|symbol| symbol.name == name)
    }

    fn size_of(&self, name: &str) -> u32 {
        self.symbol(name).map_or(0, |symbol| symbol.size)
    }

    fn kind_of(&self, name: &str) -> u8 {
        self.symbol(name).map_or(0, |symbol| symbol.kind)
    }

    /// Appends the debug sections, which are not loaded.
    fn debug_information(&mut self) -> Result<(), String> {
        let mut sections: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        // Debug sections refer to each other by offset, so the address of a part is its offset in
        // the output section.
        for (object, addresses) in self.objects.iter().zip(&mut self.addresses) {
            let parts = object.parts.iter().zip(addresses);
            for (part, address) in parts.filter(|(part, _)| part.kind == Part::Debug) {
                let section = sections.entry(&part.name).or_default();
                *address = section.len() as u32;
                section.extend(&part.data);
            }
        }
        for (index, object) in self.objects.iter().enumerate() {
            for (number, part) in object
                .parts
                .iter()
                .enumerate()
                .filter(|(_, part)| part.kind == Part::Debug)
            {
                let data = sections.get_mut(&*part.name).expect("it was put there");
                for relocation in &part.relocations {
                    let at = (self.addresses[index][number] + relocation.offset) as usize;
                    let Some(bytes) = data.get_mut(at..at + 4) else {
                        continue;
                    };
                    let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                    let target = self.resolve(index, relocation.symbol).unwrap_or(0);
                    bytes.copy_from_slice(&target.wrapping_add(word).to_le_bytes());
                }
            }
        }
        for (name, data) in sections {
            self.image.append_unloaded(name, data);
        }
        Ok(())
    }

    /// Appends the names of the functions, for tracebacks.
    fn symbol_table(&mut self) {
        let mut symbols = vec![0u8; 16];
        let mut strings = vec![0u8];
        for (index, object) in self.objects.iter().enumerate() {
            for symbol in object.symbols.iter().filter(|symbol| symbol.size > 0) {
                let Some(place) = symbol.place else { continue };
                let address = self.addresses[index][place.part] + place.offset;
                let section = self.image.section_at(address);
                let info = u32::from(symbol.kind) | section << 16;
                for word in [strings.len() as u32, address, symbol.size, info] {
                    symbols.extend(word.to_le_bytes());
                }
                strings.extend(symbol.name.as_bytes());
                strings.push(0);
            }
        }
        self.image.append_symbols(symbols, strings);
    }
}

/// The hash function of ELF symbol tables.
fn sysv_hash(name: &str) -> u32 {
    name.bytes().fold(0u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_of_known_names_equals_the_reference() {
        assert_eq!(sysv_hash(""), 0);
        assert_eq!(sysv_hash("printf"), 0x077905a6);
        assert_eq!(sysv_hash("exit"), 0x0006cf04);
    }

    #[test]
    fn non_object_file_is_rejected() {
        assert!(link(&[b"not an object"], &[]).is_err());
        assert!(link(&[b""], &[]).is_err());
    }
}
