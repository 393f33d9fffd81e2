//! The text that a core leaves before a reset, in memory that survives it, reported by the next
//! start.
//!
//! The memory is undefined after power-up, and a failing core may have written anywhere: a text is
//! valid only with its mark and checksum.

use core::fmt::{self, Write};

use crc::{Crc, CRC_32_ISO_HDLC};

const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const MARK: u32 = u32::from_le_bytes(*b"LAST");
/// Longest text, in bytes; the beginning matters most.
pub const TEXT_MAX: usize = 496;

/// Storage of one text. Any bytes are a valid value.
#[repr(C)]
pub struct Slot {
    mark: u32,
    length: u32,
    crc: u32,
    text: [u8; TEXT_MAX],
}

impl Slot {
    /// Without a text.
    pub const EMPTY: Self = Self {
        mark: 0,
        length: 0,
        crc: 0,
        text: [0; TEXT_MAX],
    };

    /// Keeps a text, replacing any earlier one. Cannot fail: excess text is cut off.
    pub fn keep(&mut self, text: fmt::Arguments) {
        self.mark = 0;
        self.length = 0;
        let _ = self.write_fmt(text);
        self.crc = self.checksum();
        self.mark = MARK;
    }

    /// Discards the text.
    pub fn clear(&mut self) {
        self.mark = 0;
    }

    /// Takes the kept text.
    pub fn take(&mut self) -> Option<&str> {
        let is_kept = self.mark == MARK && self.length as usize <= TEXT_MAX && self.crc == self.checksum();
        self.clear();
        if !is_kept {
            return None;
        }
        let text = &self.text[..self.length as usize];
        // The last character may be cut off.
        text.utf8_chunks().next().map(|chunk| chunk.valid())
    }

    fn checksum(&self) -> u32 {
        CRC.checksum(&self.text[..(self.length as usize).min(TEXT_MAX)])
    }
}

impl Write for Slot {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let start = self.length as usize;
        let bytes = &text.as_bytes()[..text.len().min(TEXT_MAX - start)];
        self.text[start..start + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len() as u32;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn report_text_is_taken_once() {
        let mut slot = Slot::EMPTY;
        assert_eq!(slot.take(), None);
        slot.keep(format_args!("panic: {}", 1));
        slot.keep(format_args!("panic: {}", 2));
        assert_eq!(slot.take(), Some("panic: 2"));
        assert_eq!(slot.take(), None);
    }

    #[test]
    fn long_text_is_truncated_between_characters() {
        let mut slot = Slot::EMPTY;
        slot.keep(format_args!("x{}", "µ".repeat(TEXT_MAX)));
        let text = slot.take().unwrap();
        assert_eq!((text.len(), text.chars().nth(1)), (TEXT_MAX - 1, Some('µ')));
    }

    #[test]
    fn overwritten_report_is_rejected() {
        let changes: [fn(&mut Slot); 6] = [
            |slot| slot.mark ^= 1,
            |slot| slot.crc ^= 1 << 31,
            |slot| slot.text[3] ^= 0x20,
            |slot| slot.length += 1,
            |slot| slot.length = TEXT_MAX as u32 + 1,
            |slot| slot.length = u32::MAX,
        ];
        for change in changes {
            let mut slot = Slot::EMPTY;
            slot.keep(format_args!("data abort at 0x00100000"));
            change(&mut slot);
            assert_eq!(slot.take(), None);
        }
    }
}
