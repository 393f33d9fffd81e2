//! A Phaser whose gateware adds up tones for each RF channel; its chips are on SPI buses. facts of the card
//! (docs/cards.md).
//!
//! Generated from `src/contracts/chips/phaser_mtdds.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// number of this gateware
pub const GATEWARE: u32 = 1;

/// address of the kind of card: 0 with upconverters, 1 without
pub const HARDWARE: u32 = 0;

/// address of the number of the gateware
pub const VARIANT: u32 = 1;

/// address of the number of samples in a coarse cycle
pub const SAMPLES: u32 = 2;

/// address of the number of tones of an RF channel
pub const TONES: u32 = 3;

/// address of the pins of the DAC
pub const DAC_PINS: u32 = 4;

/// address of the alarm of the DAC
pub const ALARM: u32 = 5;

/// address of the sources of the DAC's samples
pub const SOURCES: u32 = 6;

/// first address of the four words of a test, I and Q of RF channel 0, then of 1
pub const TEST_WORDS: u32 = 7;

/// address of the resets of the attenuators, a bit for each RF channel, 0 in reset
pub const ATTENUATORS: u32 = 11;

/// address of whether the upconverters save power, a bit for each RF channel
pub const SAVES: u32 = 12;

/// address of whether the upconverters have locked, a bit for each RF channel
pub const LOCKED: u32 = 13;

/// address of a tone's frequency word
pub const FREQUENCY: u32 = 0;

/// address of a tone's phase word
pub const PHASE: u32 = 1;

/// address of a tone's amplitude word
pub const AMPLITUDE: u32 = 2;

/// address of whether a tone's phase accumulator is held at 0
pub const CLEAR: u32 = 3;

/// bits of a control, and of a sample
pub const CONTROL_BITS: u32 = 16;

/// tones of an RF channel, unless its gateware was built with another number
pub const USUAL_TONES: u32 = 26;

/// greatest number of tones of an RF channel
pub const MOST_TONES: u32 = 32;

/// samples in a cycle of 8 ns, for a bandwidth of 250 MHz; twice as many for 500 MHz
pub const LEAST_SAMPLES: u32 = 2;

/// bits of a frequency word; all of them: the bandwidth
pub const FTW_BITS: u32 = 32;

/// bits of a phase word; all of them: a turn
pub const POW_BITS: u32 = 16;

/// source of the DAC: the test words
pub const SOURCE_TEST: u32 = 0;

/// source of the DAC: the tones
pub const SOURCE_TONES: u32 = 1;

/// RTIO address of the controls.
pub const PORT: Register = Register {
    address: 0,
    width: 5,
    reset: 0x00,
};

/// Fields of [`PORT`].
pub mod port {
    use super::Field;

    /// Read, which an input event answers.
    pub const READ: Field = Field::new(4, 1);

    /// Address of the control.
    pub const CONTROL: Field = Field::new(0, 4);
}

/// Pins of the DAC.
pub const PINS: Register = Register {
    address: 0,
    width: 3,
    reset: 0x0,
};

/// Fields of [`PINS`].
pub mod pins {
    use super::Field;

    /// It sleeps.
    pub const SLEEP: Field = Field::new(2, 1);

    /// 0: it is in reset.
    pub const RESETB: Field = Field::new(1, 1);

    /// It transmits.
    pub const TXENA: Field = Field::new(0, 1);
}

/// Sources of the DAC's samples.
pub const SOURCE: Register = Register {
    address: 0,
    width: 4,
    reset: 0x0,
};

/// Fields of [`SOURCE`].
pub mod source {
    use super::Field;

    /// Of an RF channel.
    pub const SOURCE: Field = Field::new(0, 2);
}

/// Amplitude of a tone.
pub const ASF: Register = Register {
    address: 0,
    width: 15,
    reset: 0x0000,
};

/// Fields of [`ASF`].
pub mod asf {
    use super::Field;

    /// Amplitude.
    pub const ASF: Field = Field::new(0, 15);
}

/// All of them.
pub const ALL: [Register; 4] = [PORT, PINS, SOURCE, ASF];
