//! Registers of chips.
//!
//! Generated from `src/contracts/chips/*.toml` by `src/contracts/generate.py`: do not edit.

pub mod ad53xx;
pub mod ad9834;
pub mod ad9910;
pub mod ad9912;
pub mod ad9914;
pub mod adf5356;
pub mod almazny;
pub mod cameralink;
pub mod coaxpress;
pub mod code8b10b;
pub mod dac34h84;
pub mod fastino;
pub mod hmc542b;
pub mod kasli_soc;
pub mod mirny;
pub mod novogorny;
pub mod phaser;
pub mod phaser_mtdds;
pub mod sampler;
pub mod shuttler;
pub mod si5324;
pub mod si549;
pub mod songbird;
pub mod tca6424a;
pub mod trf372017;
pub mod urukul;

/// Bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    low: u32,
    width: u32,
}

impl Field {
    /// `width` bits from bit `low` on; up to 31 of them.
    pub const fn new(low: u32, width: u32) -> Self {
        Self { low, width }
    }

    /// The equal field that follows `number` places behind this one.
    pub const fn at(self, number: u32) -> Self {
        Self {
            low: self.low + number * self.width,
            width: self.width,
        }
    }

    /// Its bits in a word.
    pub const fn mask(self) -> u32 {
        ((1 << self.width) - 1) << self.low
    }

    /// The number in this field of a word.
    pub const fn get(self, word: u32) -> u32 {
        (word & self.mask()) >> self.low
    }

    /// `word` with `number` in this field; too high bits are cut off.
    pub const fn put(self, word: u32, number: u32) -> u32 {
        word & !self.mask() | number << self.low & self.mask()
    }
}

/// Bits of a register that may have more than 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideField {
    low: u32,
    width: u32,
}

impl WideField {
    /// `width` bits from bit `low` on; up to 63 of them.
    pub const fn new(low: u32, width: u32) -> Self {
        Self { low, width }
    }

    /// The equal field that follows `number` places behind this one.
    pub const fn at(self, number: u32) -> Self {
        Self {
            low: self.low + number * self.width,
            width: self.width,
        }
    }

    /// Its bits in a word.
    pub const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << self.low
    }

    /// The number in this field of a word.
    pub const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.low
    }

    /// `word` with `number` in this field; too high bits are cut off.
    pub const fn put(self, word: u64, number: u64) -> u64 {
        word & !self.mask() | number << self.low & self.mask()
    }
}

/// A register, or a word of a serial protocol, of a chip that has some of more than 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideRegister {
    /// As its data sheet calls it.
    pub name: &'static str,
    /// Its number; that of the first of equal ones; of one that is wider than what the chip's bus carries, that of the
    /// highest part.
    pub address: u16,
    /// How many equal ones there are, at addresses that follow; 0 for a word that has no address.
    pub count: u8,
    /// Its bits.
    pub width: u32,
    /// Its value after a reset, as far as that is known.
    pub reset: u64,
}

/// A register of up to 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its number; of one that is wider than what the chip's bus carries, that of the highest part.
    pub address: u8,
    /// Its bits.
    pub width: u32,
    /// Its value after a reset, as far as that is known.
    pub reset: u32,
}

impl Register {
    /// The bytes of a word of this register, the highest first, with their addresses.
    pub fn bytes(self, word: u32) -> impl Iterator<Item = (u8, u8)> {
        let count = self.width.div_ceil(8);
        (0..count).map(move |n| (self.address + n as u8, (word >> (8 * (count - 1 - n))) as u8))
    }
}
