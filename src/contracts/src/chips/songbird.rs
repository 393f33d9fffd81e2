//! Card with a fast DAC (LTC2000), which plays tones: of each a cubic spline for its amplitude and a chirp. facts of
//! the card (docs/cards.md); Analog Devices, LTC2000 data sheet, "SPI register summary".
//!
//! Generated from `src/contracts/chips/songbird.toml` by `src/contracts/generate.py`: do not edit.

use super::{Field, Register};

/// Events for the phase: its upper bits, the frequency word, its change, and `RATE_WORD`. A row: words, bits.
pub const PHASE_WORDS: [[u32; 2]; 4] = [[1, 16], [2, 32], [2, 32], [1, 16]];

/// Registers of the DAC that `init` writes, in order, with the time that it waits after each. A row: register, value,
/// microseconds.
pub const SETTINGS: [[u32; 3]; 12] = [
    [1, 1, 10000],
    [2, 0, 0],
    [3, 1, 0],
    [4, 3, 1000],
    [4, 11, 0],
    [5, 0, 0],
    [7, 0, 0],
    [8, 8, 0],
    [24, 0, 0],
    [25, 0, 0],
    [30, 0, 0],
    [30, 0, 0],
];

/// tones of a card, unless its gateware was built with another number
pub const TONES: u32 = 4;

/// greatest number of tones
pub const TONES_MAX: u32 = 16;

/// bits of an amplitude and of a sample, two's complement
pub const LEVEL_BITS: u32 = 16;

/// bits of a phase
pub const PHASE_BITS: u32 = 18;

/// bits of a frequency word; all of them: the sampling rate
pub const FTW_BITS: u32 = 32;

/// samples in a cycle of the RTIO clock
pub const SAMPLES: u32 = 20;

/// greatest shift of a tone's rate of updates
pub const SHIFT_MAX: u32 = 15;

/// range of an amplitude, V
pub const AMPLITUDE_SPAN: f64 = 2.0;

/// address of the trigger for amplitudes
pub const TRIGGER_AMPLITUDE: u32 = 0;

/// address of the trigger for phases
pub const TRIGGER_PHASE: u32 = 1;

/// register of the DAC whose lowest bit resets it, and then reads as 0
pub const DAC_RESET: u32 = 1;

/// register of the DAC that shows `DAC_PRESENT` if the sampling clock runs
pub const DAC_CLOCK: u32 = 2;

/// register of the DAC that shows `DAC_PRESENT` if the clock of the data runs
pub const DAC_DATA_CLOCK: u32 = 3;

/// bit of these registers
pub const DAC_PRESENT: u32 = 2;

/// register of the DAC that has the value `DAC_OUTPUT_ON` when it puts out data
pub const DAC_OUTPUT: u32 = 4;

/// value of `DAC_OUTPUT` at the end of `init`
pub const DAC_OUTPUT_ON: u32 = 11;

/// DAC: a message on its SPI bus.
pub const MESSAGE: Register = Register {
    address: 0,
    width: 32,
    reset: 0x00000000,
};

/// Fields of [`MESSAGE`].
pub mod message {
    use super::Field;

    /// The DAC sends the register.
    pub const READ: Field = Field::new(31, 1);

    /// Register.
    pub const REGISTER: Field = Field::new(24, 7);

    /// Value.
    pub const VALUE: Field = Field::new(16, 8);
}

/// Last word of a phase.
pub const RATE_WORD: Register = Register {
    address: 0,
    width: 16,
    reset: 0x0000,
};

/// Fields of [`RATE_WORD`].
pub mod rate_word {
    use super::Field;

    /// Lowest bits of the phase.
    pub const LOW: Field = Field::new(4, 2);

    /// Shift of the rate of updates.
    pub const SHIFT: Field = Field::new(0, 4);
}

/// All of them.
pub const ALL: [Register; 2] = [MESSAGE, RATE_WORD];
