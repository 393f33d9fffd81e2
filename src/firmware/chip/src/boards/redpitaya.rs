//! Red Pitaya STEMlab 125-14: XC7Z010-1, 512 MiB of DDR3 (one chip of 16 bits). All from the
//! configuration of the first stage that its maker ships (RedPitaya/RedPitaya-FPGA,
//! `prj/fsbl/ip/systemZ10.tcl`). It boots from a card only. Not tested on a board.

use super::{pin::*, Board, Cpu};
use crate::ddr::{setup, Memory, Reference, Supply, Width, MT41K256M16, UNKNOWN_TRACES};

pub const BOARD: Board = Board {
    name: "redpitaya",
    title: "Red Pitaya",
    cpu: Cpu::Mhz667,
    uart: 0,
    ethernet: true,
    card: 46 << 16 | 47,
    hstl: false,
    pins: &[
        (14..=14, V3_3 | UART | PULL_UP | INPUT),
        (15..=15, V3_3 | UART | PULL_UP),
        (16..=21, V2_5 | ETHERNET | FAST),         // transmit
        (22..=27, V2_5 | ETHERNET | FAST | INPUT), // receive
        (40..=45, V2_5 | SD | PULL_UP),
        (46..=47, V2_5 | PULL_UP | INPUT), // SD card detect, write protection
        (50..=51, V2_5 | I2C | PULL_UP),
        (52..=53, V2_5 | MDIO | PULL_UP),
    ],
    memory: &setup(&Memory {
        chip: MT41K256M16,
        width: Width::Bits16,
        supply: Supply::V1_5,
        reference: Reference::External,
        traces: UNKNOWN_TRACES,
    }),
    assumed: "",
};
