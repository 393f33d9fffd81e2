//! Digital step attenuator, 0 to 31.5 dB in steps of 0.5 dB. Analog Devices, HMC542B data sheet, sections "Truth table"
//! and "Serial input".
//!
//! Generated from `src/contracts/chips/hmc542b.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Shift register.
pub const SETTING: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`SETTING`].
pub mod setting {
    use super::Field;

    /// 63 less the attenuation.
    pub const ATT: Field = Field::new(2, 6);
}

/// All of them.
pub const ALL: [Register; 1] = [SETTING];
