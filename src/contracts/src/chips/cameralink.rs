//! Link of a camera in base configuration: 28 bits on four lanes for each period of the pixel clock. Camera Link
//! specification, base configuration; DS90CR287 data sheet, figure of the bit positions.
//!
//! Generated from `src/contracts/chips/cameralink.toml` by `src/contracts/generate.py`: do not edit.

use super::Register;

/// Inputs of the serialiser that follow each other on each lane. A row: first, second, third, fourth, fifth, sixth,
/// seventh.
pub const LANES: [[u32; 7]; 4] = [
    [7, 6, 4, 3, 2, 1, 0],
    [18, 15, 14, 13, 12, 9, 8],
    [26, 25, 24, 22, 21, 20, 19],
    [23, 17, 16, 11, 10, 5, 27],
];

/// Inputs that have a pixel's bits, lowest first: those of port A, of port B. A row: b0, b1, b2, b3, b4, b5, b6, b7.
pub const PORTS: [[u32; 8]; 2] = [[0, 1, 2, 3, 4, 6, 27, 5], [7, 8, 9, 12, 13, 14, 10, 11]];

/// bits of a word: inputs of the serialiser
pub const WORD_BITS: u32 = 28;

/// input that has LVAL
pub const LINE_VALID: u32 = 24;

/// input that has FVAL
pub const FRAME_VALID: u32 = 25;

/// input that has DVAL
pub const DATA_VALID: u32 = 26;

/// All of them.
pub const ALL: [Register; 0] = [];
