//! Peripherals without a model: plain storage with plausible values, and a debug message at the
//! first use of a register.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::peripheral::{Access, Context, Peripheral, Reset};

/// Registers that read as something other than the last value written, or zero: (address, value,
/// mask of fixed bits).
const FIXED: &[(u32, u32, u32)] = &[
    (0xf800_d010, 0, !0),           // eFuse status: two cores
    (0xf8f0_0004, 0x0000_0501, !0), // SCU configuration: two cores, 32 KiB tag RAMs
    (0xf8f0_2000, 0x4100_00c8, !0), // L2C ID: PL310 r3p2
    (0xf8f0_2004, 0x9e30_0300, !0), // L2C type: 8 ways of 64 KiB
    (0xf8f0_2730, 0, !0),           // L2C cache sync: never busy
    (0xe000_4004, 0, !0),           // I2C status: idle
    (0xe000_5004, 0, !0),
    (0xe000_d004, 0x0000_0004, !0), // QSPI status: transmit FIFO not full
];

/// Whether this is an L2C maintenance register; these complete at once and read as zero.
fn is_maintenance(address: u32) -> bool {
    (0xf8f0_2730..0xf8f0_2800).contains(&address)
}

/// Known peripherals without a model of their own, for the log line.
fn name(address: u32) -> &'static str {
    match address {
        0xe000_2000..=0xe000_3fff => "USB",
        0xe000_4000..=0xe000_5fff => "I2C",
        0xe000_6000..=0xe000_7fff => "SPI",
        0xe000_8000..=0xe000_9fff => "CAN",
        0xe000_a000..=0xe000_afff => "GPIO",
        0xe000_c000..=0xe000_cfff => "GEM1",
        0xe000_d000..=0xe000_dfff => "QSPI",
        0xe000_e000..=0xe000_efff => "SMC",
        0xf800_1000..=0xf800_2fff => "TTC",
        0xf800_3000..=0xf800_4fff => "DMAC",
        0xf800_8000..=0xf800_bfff => "AXI HP",
        0xf800_d000..=0xf800_dfff => "eFuse",
        0xf8f0_0000..=0xf8f0_1fff => "SCU",
        0xf8f0_2000..=0xf8f0_2fff => "L2C",
        _ => "?",
    }
}

/// Storage for everything unmodelled.
#[derive(Default)]
pub struct Storage {
    words: BTreeMap<u32, u32>,
    seen: BTreeSet<u32>,
}

impl Storage {
    fn note(&mut self, address: u32, what: &str) {
        if log::log_enabled!(log::Level::Debug) && self.seen.insert(address) {
            log::debug!("unmodelled register: {what} {address:#010x} ({})", name(address));
        }
    }

    /// Reads the word that contains `address`.
    fn read(&mut self, address: u32) -> u32 {
        let address = address & !3;
        if let Some(&(_, value, _)) = FIXED.iter().find(|f| f.0 == address) {
            return value;
        }
        self.note(address, "read of");
        self.words.get(&address).copied().unwrap_or(0)
    }

    /// Stores a word.
    fn write(&mut self, address: u32, value: u32) {
        let address = address & !3;
        if is_maintenance(address) {
            return;
        }
        self.note(address, "write to");
        self.words.insert(address, value);
    }
}

impl Peripheral for Storage {
    fn read(&mut self, at: Access, _: &mut Context) -> u32 {
        self.read(at.address)
    }

    fn write(&mut self, at: Access, value: u32, context: &mut Context) {
        self.write(at.address, value);
        context.ends_turn = false;
    }

    /// Stored values are kept.
    fn reset(&mut self, _: Reset, _: &mut Context) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmodelled_registers_store_or_have_fixed_values() {
        let mut s = Storage::default();
        s.write(0xf8f0_2104, 5);
        s.write(0xf8f0_27b0, 5);
        s.write(0xf800_d010, 5);
        assert_eq!(
            (s.read(0xf8f0_2104), s.read(0xf8f0_27b0), s.read(0xf800_d010)),
            (5, 0, 0)
        );
    }
}
