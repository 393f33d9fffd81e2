//! I/O expanders of the board: SFP cages, clock, power of the cards; lines of the bus of its oscillator. Sinara
//! Kasli-SoC, hardware revisions 1.0 to 1.2; Microchip MCP23017, NXP PCA9539 data sheets.
//!
//! Generated from `src/contracts/chips/kasli_soc.toml` by `src/contracts/generate.py`: do not edit.

use super::Register;

/// Types of the chips: addresses of both, and registers of their ports A and B: direction (1: input) and output. A row:
/// first, second, direction_a, direction_b, output_a, output_b.
pub const EXPANDERS: [[u8; 6]; 2] = [[32, 33, 0, 1, 18, 19], [116, 117, 6, 7, 2, 3]];

/// Transmitters of the SFP cages off, by cage: expander, port, bit; in the hardware revisions 1.x, first and last x. A
/// row: expander, port, bit, first, last.
pub const TX_DISABLE: [[u8; 5]; 4] = [[0, 0, 1, 0, 2], [0, 1, 1, 0, 2], [1, 0, 1, 0, 2], [1, 1, 1, 0, 2]];

/// LEDs of the SFP cages, likewise; that of cage 0 has moved. A row: expander, port, bit, first, last.
pub const LEDS: [[u8; 5]; 5] = [
    [0, 0, 6, 0, 0],
    [0, 0, 7, 1, 2],
    [0, 1, 6, 0, 2],
    [1, 0, 6, 0, 2],
    [1, 1, 6, 0, 2],
];

/// Power of the cards on, likewise; in earlier revisions it is always on. A row: expander, port, bit, first, last.
pub const POWER: [[u8; 5]; 1] = [[1, 0, 7, 2, 2]];

/// Source of the clock: an input where a Si5324 makes it, likewise. A row: expander, port, bit, first, last.
pub const CLOCK: [[u8; 5]; 1] = [[0, 1, 7, 0, 2]];

/// Address of the switch whose channels are disconnected meanwhile.
pub const CLOSED: u8 = 112;

/// Address of the switch in front of the expanders.
pub const SWITCH: u8 = 113;

/// EMIO line of the oscillator's SCL: its level in bank 2; in bank 3 it pulls low.
pub const CLOCK_SCL: u32 = 1;

/// Likewise, of its data.
pub const CLOCK_SDA: u32 = 2;

/// Its channel.
pub const CHANNEL: u8 = 3;

/// All of them.
pub const ALL: [Register; 0] = [];
