//! Tracks the code pages that a core has translated, and their contents. When another agent may
//! have loaded code, only pages that have changed are retranslated: loading a kernel does not
//! discard the translations of the firmware.

use std::collections::BTreeMap;

use crate::machine::memory::Memory;

/// Page size in bytes.
pub const PAGE: u32 = 4096;

struct Page {
    content: Box<[u8]>,
    /// A block translated later had different content here.
    mixed: bool,
}

/// Code pages by address.
#[derive(Default)]
pub struct Translated {
    pages: BTreeMap<u32, Page>,
}

impl Translated {
    /// Records a block at `address` that is being translated, with its bytes.
    pub fn note(&mut self, address: u32, code: &[u8], memory: &Memory) {
        let mut rest = (address, code);
        while !rest.1.is_empty() {
            let (at, code) = rest;
            let offset = (at % PAGE) as usize;
            let here = code.len().min(PAGE as usize - offset);
            let page = self.pages.entry(at - at % PAGE).or_insert_with(|| {
                let mut content = vec![0; PAGE as usize].into_boxed_slice();
                memory.read(at - at % PAGE, &mut content);
                Page { content, mixed: false }
            });
            page.mixed |= page.content[offset..offset + here] != code[..here];
            rest = (at.wrapping_add(here as u32), &code[here..]);
        }
    }

    /// Removes the pages whose contents have changed, and returns them.
    pub fn take_changed(&mut self, memory: &Memory) -> Vec<u32> {
        let mut changed = Vec::new();
        self.pages.retain(|base, page| {
            let same = !page.mixed && memory.holds(*base, &page.content);
            if !same {
                changed.push(*base);
            }
            same
        });
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_pages_are_reported_once() {
        let memory = Memory::new(1);
        let mut translated = Translated::default();
        let changed = |translated: &mut Translated| {
            let mut pages = translated.take_changed(&memory);
            pages.sort_unstable();
            pages
        };
        translated.note(0x1ffc, &[0; 8], &memory);
        translated.note(0x5000, &[0; 4], &memory);
        assert!(changed(&mut translated).is_empty());
        memory.set_word(0x2800, 1);
        assert_eq!(changed(&mut translated), [0x2000]);
        assert!(changed(&mut translated).is_empty());
        memory.set_word(0x1000, 1);
        memory.set_word(0x1000, 0);
        assert!(changed(&mut translated).is_empty());
    }

    /// The content changed and was restored, with a translation in between.
    #[test]
    fn restored_page_is_reported_if_translated_in_between() {
        let memory = Memory::new(1);
        let mut translated = Translated::default();
        translated.note(0x1000, &[0; 4], &memory);
        memory.set_word(0x1080, 7);
        translated.note(0x1080, &[7, 0, 0, 0], &memory);
        memory.set_word(0x1080, 0);
        assert_eq!(translated.take_changed(&memory), [0x1000]);
    }
}
