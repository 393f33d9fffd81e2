//! The QSPI flash in linear mode, read-only.

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};

/// The flash.
pub struct Qspi {
    contents: Vec<u8>,
}

impl Qspi {
    /// Creates a flash with these contents; it is erased after their end.
    pub fn new(contents: Vec<u8>) -> Self {
        Self { contents }
    }

    /// The contents.
    pub fn contents(&self) -> &[u8] {
        &self.contents
    }
}

impl Peripheral for Qspi {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        let from = at.offset as usize;
        let word = self
            .contents
            .get(from..from + 4)
            .and_then(|bytes| bytes.try_into().ok());
        u32::from_le_bytes(word.unwrap_or([0xff; 4]))
    }

    fn write(&mut self, _: Access, _: u32, context: &mut Context) {
        context.ends_turn = false;
    }

    fn reset(&mut self, _: Reset, _: &mut Context) {}
}
