//! What differs from board to board. The board is chosen when the loader is built.

use core::ops::RangeInclusive;

use crate::ddr::Ddr;
use crate::registers::Pll;

mod zc706;

/// The board that this loader is for.
pub const BOARD: &Board = &zc706::BOARD;

/// A board.
pub struct Board {
    pub name: &'static str,
    /// ARM, IO and DDR.
    pub plls: [Pll; 3],
    /// Clocks behind them, and what else is in the system level control (address, value). 50 MHz for the UARTs.
    pub clocks: &'static [(u32, u32)],
    /// Pins and the value of their registers.
    pub pins: &'static [(RangeInclusive<u32>, u32)],
    /// Base address of the UART that has a connector.
    pub uart: u32,
    pub ddr: &'static Ddr,
}
