//! Logic of a card with four PLL synthesisers: registers, attenuators, and messages to the chips behind it. Sinara
//! Mirny, logic of protocol revision 0.
//!
//! Generated from `src/contracts/chips/mirny.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Numbers of the reference's sources by hardware revision, as read from the card: 3 is v1.0, 2 is v1.1. A row: hw_rev,
/// xo, mmcx, sma.
pub const SOURCES: [[f64; 4]; 2] = [[3.0, 0.0, 2.0, 3.0], [2.0, 0.0, 3.0, 2.0]];

/// chip select of the card
pub const CS: u32 = 1;

/// destination of channel 0 of a card on top (Almazny)
pub const EXTENSION: u32 = 12;

/// A message to a register of the logic.
pub const MESSAGE: Register = Register {
    address: 0,
    width: 24,
    reset: 0x000000,
};

/// Fields of [`MESSAGE`].
pub mod message {
    use super::Field;

    /// Register.
    pub const REGISTER: Field = Field::new(17, 7);

    /// Write it.
    pub const WRITE: Field = Field::new(16, 1);

    /// Value.
    pub const DATA: Field = Field::new(0, 16);
}

/// Header of a message to a chip behind the logic; the data follow unmodified.
pub const HEAD: Register = Register {
    address: 0,
    width: 8,
    reset: 0x00,
};

/// Fields of [`HEAD`].
pub mod head {
    use super::Field;

    /// Chip: the synthesiser of a channel, or a chip of a card on top.
    pub const DESTINATION: Field = Field::new(1, 7);
}

/// A message to an attenuator.
pub const ATTENUATOR: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`ATTENUATOR`].
pub mod attenuator {
    use super::Field;

    /// Marks a message to an attenuator.
    pub const ATTENUATOR: Field = Field::new(12, 1);

    /// Channel.
    pub const CHANNEL: Field = Field::new(9, 2);

    /// 255 less the attenuation.
    pub const ATT: Field = Field::new(0, 8);
}

/// Revisions and levels; read only.
pub const STATUS: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`STATUS`].
pub mod status {
    use super::Field;

    /// Revision of the card: 3 is v1.0, 2 is v1.1.
    pub const HW_REV: Field = Field::new(0, 2);

    /// Revision of the protocol.
    pub const PROTO_REV: Field = Field::new(2, 2);

    /// Level of a synthesiser's MUXOUT.
    pub const MUXOUT: Field = Field::new(8, 1);
}

/// Control register.
pub const CONTROL: Register = Register {
    address: 1,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`CONTROL`].
pub mod control {
    use super::Field;

    /// Source of the reference.
    pub const CLK_SEL: Field = Field::new(4, 2);

    /// Outputs of a legacy Almazny on.
    pub const ALMAZNY_OE: Field = Field::new(12, 1);
}

/// All of them.
pub const ALL: [Register; 5] = [MESSAGE, HEAD, ATTENUATOR, STATUS, CONTROL];
