//! Kasli-SoC: XC7Z030-3, 1 GiB of DDR3L (two chips of 16 bits: issues 23, 25 and 87 of
//! sinara-hw/Kasli-SOC), Ethernet on the pins of the ZC706 (issues 12 and 26 there). UART and card:
//! device tree of a Linux port (codex-hil/kasli-soc-linux). There is no flash. Not tested on a
//! board.

use super::{pin::*, Board, Cpu};
use crate::ddr::{setup, Memory, Reference, Supply, Width, MT41K256M16, UNKNOWN_TRACES};

pub const BOARD: Board = Board {
    name: "kasli_soc",
    title: "Kasli-SoC",
    cpu: Cpu::Mhz800,
    uart: 1,
    ethernet: true,
    card: 46 << 16 | NO_PIN,
    hstl: true,
    pins: &[
        (16..=21, HSTL | ETHERNET | RECEIVER_OFF), // transmit
        (22..=27, HSTL | ETHERNET | INPUT),        // receive
        (40..=45, V1_8 | SD),
        (46..=46, V1_8 | PULL_UP | INPUT), // SD card detect
        (47..=47, V1_8 | PULL_UP | INPUT), // reset of the Ethernet PHY; low: released
        (48..=48, V1_8 | UART),
        (49..=49, V1_8 | UART | INPUT),
        (50..=51, V1_8 | I2C | PULL_UP),
        (52..=53, V1_8 | MDIO),
    ],
    memory: &setup(&Memory {
        chip: MT41K256M16,
        width: Width::Bits32,
        supply: Supply::V1_35,
        reference: Reference::External,
        traces: UNKNOWN_TRACES,
    }),
    assumed: "DRAM at 1.35 V with an external reference, SD card on MIO 40-46, UART on MIO 48 and 49",
};
