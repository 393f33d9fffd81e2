//! EBAZ4205: XC7Z010-1, 256 MiB of DDR3 (one chip of 16 bits). From the configuration of a
//! published Linux for it (embed-me/ebaz4205_fpga, `src/xilinx/bd/system.tcl`, and meta-ebaz4205).
//! Its Ethernet PHY is on pins of the PL. Not tested on a board.

use super::{pin::*, Board, Cpu};
use crate::ddr::{setup, Memory, Reference, Supply, Width, MT41K128M16, UNKNOWN_TRACES};

pub const BOARD: Board = Board {
    name: "ebaz4205",
    title: "EBAZ4205",
    cpu: Cpu::Mhz667,
    uart: 1,
    ethernet: false,
    card: 34 << 16 | NO_PIN,
    hstl: false,
    pins: &[
        (24..=24, V3_3 | UART | PULL_UP),
        (25..=25, V3_3 | UART | PULL_UP | INPUT),
        (34..=34, V3_3 | PULL_UP | INPUT), // SD card: inserted
        (40..=45, V3_3 | SD | PULL_UP),
    ],
    memory: &setup(&Memory {
        chip: MT41K128M16,
        width: Width::Bits16,
        supply: Supply::V1_5,
        reference: Reference::External,
        traces: UNKNOWN_TRACES,
    }),
    assumed: "",
};
