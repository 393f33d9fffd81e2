//! Direct digital synthesiser, 1 GS/s, 14 bits, with a frequency word of 48 bits. Analog Devices, AD9912 data sheet,
//! sections "Serial control port" and "I/O register map".
//!
//! Generated from `src/contracts/chips/ad9912.toml` by `src/contracts/generate.py`: do not edit.

use super::{WideField, WideRegister};

/// address of the highest of the frequency word's lower four bytes
pub const LOWER_FREQUENCY: u32 = 425;

/// references below this, in Hz, are doubled
pub const SLOW_REFERENCE: u32 = 11_000_000;

/// Header of a message on the serial port, followed by the data.
pub const INSTRUCTION: WideRegister = WideRegister {
    name: "INSTRUCTION",
    address: 0,
    count: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`INSTRUCTION`].
pub mod instruction {
    use super::WideField;

    /// The chip sends the data.
    pub const READ: WideField = WideField::new(15, 1);

    /// Bytes less one.
    pub const LENGTH: WideField = WideField::new(13, 2);

    /// Of [`LENGTH`].
    pub const LENGTH_STREAM: u64 = 3;

    /// Address of the first byte.
    pub const REGISTER: WideField = WideField::new(0, 13);
}

/// Serial port; each bit occurs twice, mirrored.
pub const SERIAL_CONFIG: WideRegister = WideRegister {
    name: "SERIAL_CONFIG",
    address: 0,
    count: 1,
    width: 8,
    reset: 0x18,
};

/// Fields of [`SERIAL_CONFIG`].
pub mod serial_config {
    use super::WideField;

    /// Separate pin for output data.
    pub const SDO_ACTIVE: WideField = WideField::new(7, 1);

    /// Lowest bit first.
    pub const LSB_FIRST: WideField = WideField::new(6, 1);

    /// Reset.
    pub const SOFT_RESET: WideField = WideField::new(5, 1);

    /// Instructions of 16 bits.
    pub const LONG_INSTRUCTION: WideField = WideField::new(4, 1);

    /// The same bits, mirrored.
    pub const MIRRORED: WideField = WideField::new(0, 4);
}

/// Identification; read only.
pub const PART_ID: WideRegister = WideRegister {
    name: "PART_ID",
    address: 3,
    count: 1,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`PART_ID`].
pub mod part_id {
    use super::WideField;

    /// Kind of chip.
    pub const PART: WideField = WideField::new(0, 16);

    /// Of [`PART`].
    pub const PART_AD9912: u64 = 6530;

    /// Of [`PART`].
    pub const PART_AD9912_OTHER: u64 = 6402;
}

/// Power-down control.
pub const POWER: WideRegister = WideRegister {
    name: "POWER",
    address: 16,
    count: 1,
    width: 8,
    reset: 0x80,
};

/// Fields of [`POWER`].
pub mod power {
    use super::WideField;

    /// Power the HSTL driver down.
    pub const HSTL_OFF: WideField = WideField::new(7, 1);

    /// Power the CMOS driver up.
    pub const CMOS_ON: WideField = WideField::new(6, 1);

    /// Power the doubler of the HSTL output up.
    pub const DOUBLER_ON: WideField = WideField::new(5, 1);

    /// System clock from the reference, PLL powered down.
    pub const PLL_OFF: WideField = WideField::new(4, 1);

    /// Power everything down.
    pub const ALL_OFF: WideField = WideField::new(1, 1);

    /// Power the digital core down.
    pub const DIGITAL_OFF: WideField = WideField::new(0, 1);
}

/// Feedback divider of the PLL.
pub const N_DIVIDER: WideRegister = WideRegister {
    name: "N_DIVIDER",
    address: 32,
    count: 1,
    width: 8,
    reset: 0x12,
};

/// Fields of [`N_DIVIDER`].
pub mod n_divider {
    use super::WideField;

    /// Half of the multiplier, less two.
    pub const N: WideField = WideField::new(0, 5);
}

/// Parameters of the PLL.
pub const PLL: WideRegister = WideRegister {
    name: "PLL",
    address: 34,
    count: 1,
    width: 8,
    reset: 0x04,
};

/// Fields of [`PLL`].
pub mod pll {
    use super::WideField;

    /// Choose the oscillator's range automatically.
    pub const VCO_AUTO_RANGE: WideField = WideField::new(7, 1);

    /// Double the reference.
    pub const DOUBLER: WideField = WideField::new(3, 1);

    /// Upper range of the oscillator.
    pub const VCO_HIGH_RANGE: WideField = WideField::new(2, 1);

    /// Current.
    pub const CHARGE_PUMP: WideField = WideField::new(0, 2);

    /// Of [`CHARGE_PUMP`].
    pub const CHARGE_PUMP_UA250: u64 = 0;

    /// Of [`CHARGE_PUMP`].
    pub const CHARGE_PUMP_UA375: u64 = 1;

    /// Of [`CHARGE_PUMP`].
    pub const CHARGE_PUMP_OFF: u64 = 2;

    /// Of [`CHARGE_PUMP`].
    pub const CHARGE_PUMP_UA125: u64 = 3;
}

/// Frequency word, six bytes from 0x1a6 on.
pub const FREQUENCY: WideRegister = WideRegister {
    name: "FREQUENCY",
    address: 427,
    count: 1,
    width: 48,
    reset: 0x000000000000,
};

/// Fields of [`FREQUENCY`].
pub mod frequency {
    use super::WideField;

    /// Its upper bits.
    pub const UPPER: WideField = WideField::new(32, 16);

    /// Its lower bits; their highest byte has the address 0x1a9.
    pub const LOWER: WideField = WideField::new(0, 32);
}

/// Phase word.
pub const PHASE: WideRegister = WideRegister {
    name: "PHASE",
    address: 429,
    count: 1,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`PHASE`].
pub mod phase {
    use super::WideField;

    /// Phase.
    pub const POW: WideField = WideField::new(0, 14);
}

/// Phase and frequency words, in consecutive registers.
pub const TONE: WideRegister = WideRegister {
    name: "TONE",
    address: 429,
    count: 1,
    width: 64,
    reset: 0x0000000000000000,
};

/// Fields of [`TONE`].
pub mod tone {
    use super::WideField;

    /// Phase word.
    pub const POW: WideField = WideField::new(48, 16);

    /// Frequency word, upper bits.
    pub const UPPER: WideField = WideField::new(32, 16);

    /// Frequency word, lower bits.
    pub const LOWER: WideField = WideField::new(0, 32);
}

/// All of them.
pub const ALL: [WideRegister; 9] = [
    INSTRUCTION,
    SERIAL_CONFIG,
    PART_ID,
    POWER,
    N_DIVIDER,
    PLL,
    FREQUENCY,
    PHASE,
    TONE,
];
