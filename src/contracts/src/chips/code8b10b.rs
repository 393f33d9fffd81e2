//! Transmission code: characters of 8 bits (y in the upper three, x in the lower five) as 10 bits. IEEE 802.3, clause
//! 36, tables 36-1 and 36-2.
//!
//! Generated from `src/contracts/chips/code8b10b.toml` by `src/contracts/generate.py`: do not edit.

use super::Register;

/// abcdei of x = 0 to 31, eight in a row, after more zeros than ones. A row: x0, x1, x2, x3, x4, x5, x6, x7.
pub const SIX: [[u32; 8]; 4] = [
    [57, 46, 45, 35, 43, 37, 38, 7],
    [39, 41, 42, 11, 44, 13, 14, 58],
    [54, 49, 50, 19, 52, 21, 22, 23],
    [51, 25, 26, 27, 28, 29, 30, 53],
];

/// fghj of y = 0 to 7, of characters and of control characters, after more zeros than ones. A row: y0, y1, y2, y3, y4,
/// y5, y6, y7.
pub const FOUR: [[u32; 8]; 2] = [[13, 9, 10, 3, 11, 5, 6, 7], [13, 6, 5, 3, 11, 10, 9, 14]];

/// x of the characters with y = 7 that have the alternative code, after more zeros and after more ones. A row: first,
/// second, third.
pub const ALTERNATIVES: [[u32; 3]; 2] = [[17, 18, 20], [11, 13, 14]];

/// bits of a code: a in bit 0, i in bit 5, f in bit 6, j in bit 9
pub const CODE_BITS: u32 = 10;

/// abcdei of the control characters K28, after more zeros than ones
pub const CONTROL_SIX: u32 = 60;

/// fghj of y = 7 where the other code would make five equal bits, after more zeros than ones
pub const ALTERNATIVE: u32 = 14;

/// All of them.
pub const ALL: [Register; 0] = [];
