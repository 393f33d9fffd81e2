//! What differs from board to board: clocks, pins, memory. A new board is a module here with one `BOARD`.
//!
//! All boards are in the loader; a boot image chooses one ([`Choice`]). Firmware that runs later
//! sees the choice in the clocks: only the UART that has a connector has one ([`uart_with_clock`]),
//! and Ethernet if it has pins ([`has_ethernet`]). That holds as well if somebody else's first
//! stage has set them up.

use core::ops::RangeInclusive;

use kairos_contracts::boot::{ASSUMED, MARKER, NAME};

use crate::ddr::{Setting, Setup};

mod ebaz4205;
mod kasli_soc;
mod redpitaya;
mod zc706;

/// All of them; the first is what an image is for if it says nothing.
pub const BOARDS: [&Board; 4] = [&zc706::BOARD, &kasli_soc::BOARD, &ebaz4205::BOARD, &redpitaya::BOARD];

/// A board. All have a crystal of 33.333 MHz, and the IO PLL at 1000 MHz, the DDR PLL at 1067 MHz.
pub struct Board {
    /// As gateware and command line have it.
    pub name: &'static str,
    pub title: &'static str,
    pub cpu: Cpu,
    /// Number of the UART with a connector.
    pub uart: u32,
    /// Ethernet controller 0 is on pins of the processing system.
    pub ethernet: bool,
    /// Which pins say that there is a card, and that it is write-protected: SLCR `SD0_WP_CD_SEL`.
    pub card: u32,
    /// Some pins are HSTL, and need the reference for it.
    pub hstl: bool,
    /// Pins of the multiplexed I/O and the value of their registers; others stay as they are after reset.
    pub pins: &'static [(RangeInclusive<u32>, u32)],
    pub memory: &'static Setup,
    /// What of this no public source confirms; an image is made only for those who say that they
    /// have checked it.
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

/// A clock generator: its control register (its configuration is 16 bytes behind), what the crystal
/// is multiplied by, and the configuration that belongs to that (UG585, table 25-6).
pub struct Pll {
    pub control: u32,
    pub multiplier: u32,
    pub configuration: u32,
}

impl Board {
    /// ARM, IO and DDR.
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

    /// Clocks behind them, and what else there is to set (address, value).
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
/// Register of the first pin; the others follow.
#[cfg(any(target_arch = "arm", test))]
const PIN_0: u32 = 0xF800_0700;
const UART_CLK_CTRL: u32 = 0xF800_0154;

/// Number of the UART that a first stage has given a clock, the lower one if it is both: the one
/// with a connector.
#[cfg(target_arch = "arm")]
pub fn uart_with_clock() -> u32 {
    // SAFETY: reading a register of the system level control has no effect.
    u32::from(unsafe { core::ptr::read_volatile(UART_CLK_CTRL as *const u32) } & 1 == 0)
}

/// Whether a first stage has given Ethernet controller 0 a clock.
#[cfg(target_arch = "arm")]
pub fn has_ethernet() -> bool {
    // SAFETY: a clock control register, which reading leaves as it is.
    unsafe { core::ptr::read_volatile(GEM0_CLK_CTRL as *const u32) & 1 != 0 }
}

/// IDCODE of the chip, which is that of its PL, too.
#[cfg(target_arch = "arm")]
pub fn idcode() -> u32 {
    const PSS_IDCODE: usize = 0xF800_0530;
    // SAFETY: reading a register of the system level control has no effect.
    unsafe { core::ptr::read_volatile(PSS_IDCODE as *const u32) }
}

/// The board that a first stage has set this chip up for. None if its pins are those of none that
/// is known here.
#[cfg(target_arch = "arm")]
pub fn running() -> Option<&'static Board> {
    // SAFETY: reading a register of the system level control has no effect.
    with_pins(|address| unsafe { core::ptr::read_volatile(address as *const u32) })
}

/// The only board whose pins, and which of them says that there is a card, are as these registers
/// have it. Those of the I2C bus do not count, since the firmware makes them its own.
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

/// Which board a loader is for: found in its image by the marker, and changed there, when a boot
/// image is made (`kairos_proto::boards`).
#[repr(C)]
pub struct Choice {
    marker: [u8; MARKER.len()],
    /// Index in what follows, and in [`BOARDS`].
    pub chosen: u32,
    count: u32,
    known: [Known; BOARDS.len()],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Known {
    name: [u8; NAME],
    assumed: [u8; ASSUMED],
}

/// For the loader.
pub const CHOICE: Choice = {
    let mut known = [Known {
        name: [0; NAME],
        assumed: [0; ASSUMED],
    }; BOARDS.len()];
    let mut n = 0;
    while n < BOARDS.len() {
        known[n].name = padded(BOARDS[n].name);
        known[n].assumed = padded(BOARDS[n].assumed);
        n += 1;
    }
    Choice {
        marker: *MARKER,
        chosen: 0,
        count: BOARDS.len() as u32,
        known,
    }
};

/// A text with at least one zero behind it.
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
    /// Of outputs with HSTL.
    pub const RECEIVER_OFF: u32 = 1 << 13;
    pub const INPUT: u32 = 1;

    /// Which unit the pin belongs to.
    #[cfg(any(target_arch = "arm", test))]
    pub const FUNCTION: u32 = 0x7f << 1;
    pub const QSPI: u32 = 1 << 1;
    pub const ETHERNET: u32 = 1 << 1;
    pub const I2C: u32 = 2 << 5;
    pub const SD: u32 = 4 << 5;
    pub const MDIO: u32 = 4 << 5;
    pub const UART: u32 = 7 << 5;

    /// Beyond the pins: an input from the PL, which reads as zero.
    pub const NO_PIN: u32 = 55;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_have_one_use_and_names_are_unique() {
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
    fn a_board_is_known_by_its_pins() {
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
    fn the_choice_names_them_all() {
        for (known, board) in CHOICE.known.iter().zip(BOARDS) {
            assert!(known.name.starts_with(board.name.as_bytes()));
            assert!(known.assumed.starts_with(board.assumed.as_bytes()));
        }
    }
}
