//! Board-specific clocks, pins and memory. A new board is a module here with one `BOARD`.
//!
//! The loader contains all boards; a boot image chooses one ([`Choice`]). Later firmware recognises
//! the choice by the clocks: of the UARTs, only the one with a connector has a clock
//! ([`uart_with_clock`]), and Ethernet has one if it has pins ([`has_ethernet`]). This also holds
//! after another maker's first stage.

use core::ops::RangeInclusive;

use kairos_contracts::boot::{ASSUMED, MARKER, NAME};

use crate::ddr::{Setting, Setup};

mod ebaz4205;
mod kasli_soc;
mod redpitaya;
mod zc706;

/// All boards; the first is the default of an image.
pub const BOARDS: [&Board; 4] = [&zc706::BOARD, &kasli_soc::BOARD, &ebaz4205::BOARD, &redpitaya::BOARD];

/// A board. All have a crystal of 33.333 MHz, and the IO PLL at 1000 MHz, the DDR PLL at 1067 MHz.
pub struct Board {
    /// The name used by gateware and command line.
    pub name: &'static str,
    pub title: &'static str,
    pub cpu: Cpu,
    /// Number of the UART with a connector.
    pub uart: u32,
    /// Whether Ethernet controller 0 is on pins of the processing system.
    pub ethernet: bool,
    /// The pins for card detect and write protection: SLCR `SD0_WP_CD_SEL`.
    pub card: u32,
    /// Some pins are HSTL, and need its reference voltage.
    pub hstl: bool,
    /// Pins of the multiplexed I/O and the values of their registers; others keep their reset
    /// values.
    pub pins: &'static [(RangeInclusive<u32>, u32)],
    pub memory: &'static Setup,
    /// Properties that no public source confirms; an image is made only for users who state that
    /// they have checked them.
    pub assumed: &'static str,
}

/// Clock of the CPU.
#[derive(Clone, Copy)]
pub enum Cpu {
    /// Speed grades -2 and -3.
    Mhz800,
    /// Speed grade -1.
    Mhz667,
}

/// A clock generator: its control register (the configuration register is 16 bytes after it), the
/// multiplier of the crystal's frequency, and the matching configuration (UG585, table 25-6).
pub struct Pll {
    pub control: u32,
    pub multiplier: u32,
    pub configuration: u32,
}

impl Board {
    /// The ARM, IO and DDR PLLs.
    pub fn plls(&self) -> [Pll; 3] {
        let (multiplier, configuration) = match self.cpu {
            Cpu::Mhz800 => (48, 0x000F_A240),
            Cpu::Mhz667 => (40, 0x000F_A220),
        };
        let pll = |control, multiplier, configuration| Pll {
            control,
            multiplier,
            configuration,
        };
        [
            pll(0xF800_0100, multiplier, configuration),
            pll(0xF800_0108, 30, 0x0014_52C0),
            pll(0xF800_0104, 32, 0x0012_C220),
        ]
    }

    /// The clocks derived from the PLLs, and other registers to be set (address, value).
    pub fn clocks(&self) -> [Setting; 13] {
        let ethernet = u32::from(self.ethernet);
        [
            (0xF800_0120, 0x1F00_0200),               // CPU: half of its PLL
            (0xF800_01C4, 1),                         // its ratios 6:3:2:1
            (0xF800_0124, 0x0C20_0003),               // DDR 533 MHz, 356 MHz
            (0xF800_0128, 0x0030_2301),               // DDR calibration 10 MHz
            (0xF800_0138, ethernet),                  // GEM0, receive: from the pins
            (GEM0_CLK_CTRL, 0x0010_0800 | ethernet),  // GEM0, transmit 125 MHz
            (0xF800_014C, 0x0000_0501),               // QSPI 200 MHz
            (0xF800_0150, 0x0000_1401),               // SD0 50 MHz
            (UART_CLK_CTRL, 0x1400 | 1 << self.uart), // UART 50 MHz
            (0xF800_0168, 0x0000_0501),               // PCAP 200 MHz
            (0xF800_0170, 0x0010_0800),               // FCLK0 125 MHz
            (CARD_SELECT, self.card),
            (0xF800_0B00, u32::from(self.hstl)),
        ]
    }

    /// Base address of the UART with a connector.
    pub fn uart_base(&self) -> u32 {
        0xE000_0000 + 0x1000 * self.uart
    }
}

const GEM0_CLK_CTRL: u32 = 0xF800_0140;
const CARD_SELECT: u32 = 0xF800_0830;
/// Register of the first pin; the others follow it.
#[cfg(any(target_arch = "arm", test))]
const PIN_0: u32 = 0xF800_0700;
const UART_CLK_CTRL: u32 = 0xF800_0154;

/// Number of the UART with a connector, the one to which a first stage has given a clock; the lower
/// one if both have.
#[cfg(target_arch = "arm")]
pub fn uart_with_clock() -> u32 {
    // SAFETY: reading a register of the system level control has no effect.
    u32::from(unsafe { core::ptr::read_volatile(UART_CLK_CTRL as *const u32) } & 1 == 0)
}

/// Whether a first stage has given Ethernet controller 0 a clock.
#[cfg(target_arch = "arm")]
pub fn has_ethernet() -> bool {
    // SAFETY: a clock control register, which a read does not change.
    unsafe { core::ptr::read_volatile(GEM0_CLK_CTRL as *const u32) & 1 != 0 }
}

/// IDCODE of the chip, which includes the PL.
#[cfg(target_arch = "arm")]
pub fn idcode() -> u32 {
    const PSS_IDCODE: usize = 0xF800_0530;
    // SAFETY: reading a register of the system level control has no effect.
    unsafe { core::ptr::read_volatile(PSS_IDCODE as *const u32) }
}

/// The board for which a first stage has set this chip up; `None` if its pins match no known board.
#[cfg(target_arch = "arm")]
pub fn running() -> Option<&'static Board> {
    // SAFETY: reading a register of the system level control has no effect.
    with_pins(|address| unsafe { core::ptr::read_volatile(address as *const u32) })
}

/// The only board whose pins and card-detect selection match these registers. The pins of the I2C
/// bus are ignored, since the firmware reconfigures them.
#[cfg(any(target_arch = "arm", test))]
fn with_pins(read: impl Fn(u32) -> u32) -> Option<&'static Board> {
    let as_set = |board: &&&Board| {
        let kept = board.pins.iter().filter(|(_, value)| value & pin::FUNCTION != pin::I2C);
        let mut pins = kept.flat_map(|(pins, value)| pins.clone().map(|pin| (pin, *value)));
        read(CARD_SELECT) == board.card && pins.all(|(pin, value)| read(PIN_0 + 4 * pin) == value)
    };
    let mut found = BOARDS.iter().filter(as_set);
    found.next().filter(|_| found.next().is_none()).copied()
}

/// The board selected in a loader: located in its image by the marker, and modified when a boot
/// image is made (`kairos_proto::boards`).
#[repr(C)]
pub struct Choice {
    marker: [u8; MARKER.len()],
    /// Index in the table that follows, and in [`BOARDS`].
    pub chosen: u32,
    count: u32,
    entries: [TableEntry; BOARDS.len()],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct TableEntry {
    name: [u8; NAME],
    assumed: [u8; ASSUMED],
}

/// The value for the loader.
pub const CHOICE: Choice = {
    let mut entries = [TableEntry {
        name: [0; NAME],
        assumed: [0; ASSUMED],
    }; BOARDS.len()];
    let mut n = 0;
    while n < BOARDS.len() {
        entries[n].name = padded(BOARDS[n].name);
        entries[n].assumed = padded(BOARDS[n].assumed);
        n += 1;
    }
    Choice {
        marker: *MARKER,
        chosen: 0,
        count: BOARDS.len() as u32,
        entries,
    }
};

/// A text followed by at least one zero.
const fn padded<const N: usize>(text: &str) -> [u8; N] {
    assert!(text.len() < N, "too long");
    let mut bytes = [0; N];
    let mut n = 0;
    while n < text.len() {
        bytes[n] = text.as_bytes()[n];
        n += 1;
    }
    bytes
}

/// Values of the pins' registers (UG585, appendix B.28, `MIO_PIN_00`): voltage and standard, then
/// the function.
mod pin {
    pub const V1_8: u32 = 1 << 9;
    pub const V2_5: u32 = 2 << 9;
    pub const V3_3: u32 = 3 << 9;
    pub const HSTL: u32 = 4 << 9;
    pub const FAST: u32 = 1 << 8;
    pub const PULL_UP: u32 = 1 << 12;
    /// For outputs with HSTL.
    pub const RECEIVER_OFF: u32 = 1 << 13;
    pub const INPUT: u32 = 1;

    /// The field that selects the pin's peripheral.
    #[cfg(any(target_arch = "arm", test))]
    pub const FUNCTION: u32 = 0x7f << 1;
    pub const QSPI: u32 = 1 << 1;
    pub const ETHERNET: u32 = 1 << 1;
    pub const I2C: u32 = 2 << 5;
    pub const SD: u32 = 4 << 5;
    pub const MDIO: u32 = 4 << 5;
    pub const UART: u32 = 7 << 5;

    /// Not a pin: an input from the PL that reads as zero.
    pub const NO_PIN: u32 = 55;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_pins_have_one_use_and_names_are_unique() {
        for (n, board) in BOARDS.iter().enumerate() {
            assert!(BOARDS[..n].iter().all(|other| other.name != board.name));
            let mut used = [false; 54];
            for (pins, value) in board.pins {
                for pin in pins.clone() {
                    assert!(
                        !std::mem::replace(&mut used[pin as usize], true),
                        "{}: pin {pin}",
                        board.name
                    );
                    assert!(matches!(value >> 9 & 7, 1..=4), "{}: pin {pin}", board.name);
                }
            }
            assert!(board.uart < 2);
            assert_eq!(board.hstl, board.pins.iter().any(|(_, value)| value >> 9 & 7 == 4));
            assert_eq!(board.ethernet, board.pins.iter().any(|(pins, _)| *pins.start() == 16));
        }
    }

    #[test]
    fn board_is_recognised_by_its_pins() {
        for board in BOARDS {
            let registers = |address| match address {
                CARD_SELECT => board.card,
                _ => {
                    let pin = (address - PIN_0) / 4;
                    let set = board.pins.iter().find(|(pins, _)| pins.contains(&pin));
                    set.map_or(0x1601, |(_, value)| {
                        if value & pin::FUNCTION == pin::I2C {
                            0x1600
                        } else {
                            *value
                        }
                    })
                }
            };
            assert_eq!(with_pins(registers).map(|found| found.name), Some(board.name));
        }
        assert!(with_pins(|_| 0x1601).is_none());
    }

    #[test]
    fn board_table_names_all_boards() {
        for (entry, board) in CHOICE.entries.iter().zip(BOARDS) {
            assert!(entry.name.starts_with(board.name.as_bytes()));
            assert!(entry.assumed.starts_with(board.assumed.as_bytes()));
        }
    }
}
