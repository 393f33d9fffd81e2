//! ZC706: XC7Z045-2, 1 GiB of DDR3 (four chips of 8 bits). Pins: the board's manual (UG954, table
//! 1-2); traces: the board's preset as published with the vendor's first-stage loader (embeddedsw,
//! `zynq_fsbl`). Not tested on a board.

use super::{pin::*, Board, Cpu};
use crate::ddr::{setup, Memory, Reference, Supply, Trace, Width, MT41J256M8};

pub const BOARD: Board = Board {
    name: "zc706",
    title: "ZC706",
    cpu: Cpu::Mhz800,
    uart: 1,
    ethernet: true,
    card: 14 << 16 | 15,
    hstl: true,
    pins: &[
        (1..=1, V1_8 | QSPI | PULL_UP), // select
        (2..=6, V1_8 | QSPI),
        (8..=8, V1_8 | QSPI),                      // feedback
        (14..=15, V1_8 | PULL_UP | INPUT),         // SD card detect, write protection
        (16..=21, HSTL | ETHERNET | RECEIVER_OFF), // transmit
        (22..=27, HSTL | ETHERNET | INPUT),        // receive
        (40..=45, V1_8 | SD),
        (48..=48, V1_8 | UART),
        (49..=49, V1_8 | UART | INPUT),
        (50..=51, V1_8 | I2C | PULL_UP),
        (52..=53, V1_8 | MDIO),
    ],
    memory: &setup(&Memory {
        chip: MT41J256M8,
        width: Width::Bits32,
        supply: Supply::V1_5,
        reference: Reference::Internal,
        traces: [trace(226, 521), trace(278, 636), trace(184, 540), trace(309, 621)],
    }),
    assumed: "",
};

const fn trace(clock_after_strobe: i32, length: i32) -> Trace {
    Trace {
        clock_after_strobe,
        length,
    }
}
