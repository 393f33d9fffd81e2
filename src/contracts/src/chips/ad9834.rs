//! Direct digital synthesiser, 75 MHz, 10 bits: two frequency and two phase registers. Analog Devices, AD9834 data
//! sheet, sections "Functional description" and "Writing to the AD9834".
//!
//! Generated from `src/contracts/chips/ad9834.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// bits of a frequency word, a turn in each clock cycle
pub const FTW_BITS: u32 = 28;

/// Control word.
pub const CONTROL: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONTROL`].
pub mod control {
    use super::Field;

    /// A frequency is written as two words, the lower one first.
    pub const B28: Field = Field::new(13, 1);

    /// Without b28: a frequency word is the upper half.
    pub const HLB: Field = Field::new(12, 1);

    /// Frequency register in use.
    pub const FSEL: Field = Field::new(11, 1);

    /// Phase register in use.
    pub const PSEL: Field = Field::new(10, 1);

    /// Pins select registers, reset and sleep.
    pub const PIN_SW: Field = Field::new(9, 1);

    /// Hold the phase at zero, output at midscale.
    pub const CORE_RESET: Field = Field::new(8, 1);

    /// Stop the clock.
    pub const SLEEP1: Field = Field::new(7, 1);

    /// Power the DAC down.
    pub const SLEEP12: Field = Field::new(6, 1);

    /// Pin SIGN BIT OUT on.
    pub const OPBITEN: Field = Field::new(5, 1);

    /// This pin outputs the comparator instead of the MSB of the DAC.
    pub const SIGN_PIB: Field = Field::new(4, 1);

    /// The output of this pin is not divided by two.
    pub const DIV2: Field = Field::new(3, 1);

    /// Triangle instead of sine.
    pub const MODE: Field = Field::new(1, 1);
}

/// Half of a frequency word.
pub const FREQUENCY: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`FREQUENCY`].
pub mod frequency {
    use super::Field;

    /// Of register 1.
    pub const SECOND: Field = Field::new(15, 1);

    /// Of register 0.
    pub const FIRST: Field = Field::new(14, 1);

    /// 14 bits.
    pub const HALF: Field = Field::new(0, 14);
}

/// A phase word.
pub const PHASE: Register = Register {
    address: 0,
    width: 16,
    reset: 0xc000,
};

/// Fields of [`PHASE`].
pub mod phase {
    use super::Field;

    /// Register.
    pub const REGISTER: Field = Field::new(13, 1);

    /// Phase.
    pub const POW: Field = Field::new(0, 12);
}

/// All of them.
pub const ALL: [Register; 3] = [CONTROL, FREQUENCY, PHASE];
