//! I/O expander with 24 pins in three ports of 8, on an I2C bus. Texas Instruments, TCA6424A data sheet (SCPS193),
//! section "Register maps".
//!
//! Generated from `src/contracts/chips/tca6424a.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Address on the I2C bus, 7 bits, with its pin ADDR low.
pub const BUS_ADDRESS: u8 = 34;

/// First byte written: address of the following register.
pub const COMMAND: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`COMMAND`].
pub mod command {
    use super::Field;

    /// The next byte is the next port's.
    pub const AUTO_INCREMENT: Field = Field::new(7, 1);

    /// Register.
    pub const REGISTER: Field = Field::new(0, 7);
}

/// Levels of the pins of a port.
pub const INPUT: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`INPUT`].
pub mod input {
    use super::Field;

    /// Level.
    pub const PIN: Field = Field::new(0, 1);
}

/// Levels that a port's pins have as outputs.
pub const OUTPUT: Register = Register {
    address: 4,
    width: 8,
    reset: 0xff,
};

/// Fields of [`OUTPUT`].
pub mod output {
    use super::Field;

    /// Level.
    pub const PIN: Field = Field::new(0, 1);
}

/// Which levels of a port's pins are read inverted.
pub const POLARITY: Register = Register {
    address: 8,
    width: 8,
    reset: 0x00,
};

/// Fields of [`POLARITY`].
pub mod polarity {
    use super::Field;

    /// Inverted.
    pub const PIN: Field = Field::new(0, 1);
}

/// Which of a port's pins are inputs.
pub const CONFIGURATION: Register = Register {
    address: 12,
    width: 8,
    reset: 0xff,
};

/// Fields of [`CONFIGURATION`].
pub mod configuration {
    use super::Field;

    /// Input.
    pub const PIN: Field = Field::new(0, 1);
}

/// All of them.
pub const ALL: [Register; 5] = [COMMAND, INPUT, OUTPUT, POLARITY, CONFIGURATION];
