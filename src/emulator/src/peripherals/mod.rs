//! The peripherals of the processing system, one file or folder each, and the table of their
//! addresses. They are independent of the cores, and of the host except for the board's
//! description.
//!
//! A new peripheral is a file with an implementation of [`Peripheral`], its `mod` line, and its row
//! in [`TABLE`].

mod board;
mod ddrc;
mod devcfg;
mod gem;
mod gic;
mod gpio;
mod i2c;
mod qspi;
mod sd;
mod slcr;
mod storage;
mod swdt;
mod timers;
mod uart;
mod xadc;

pub use self::board::{set_clock_input, Board};
pub use self::gem::Cable;
pub use self::i2c::DEVICES;
pub use self::sd::Card;

use self::board::Parts;
use crate::machine::bus::{Interrupts, Window};
use crate::machine::peripheral::Peripheral;
use crate::pl::fabric::Fabric;

/// Address ranges (base, size) in which an access causes no external abort.
pub const SPACES: &[(u32, u32)] = &[
    (0x4000_0000, 0x4000_0000), // GP0
    (0xe000_0000, 0x0030_0000), // I/O peripherals
    (0xe100_0000, 0x0500_0000), // static memory controller: not modelled
    (0xf800_0000, 0x0100_0000), // system registers, MPCore, L2 cache controller
    (0xfc00_0000, 0x0200_0000), // QSPI, linear mode
];

/// A peripheral of the chip: its name, windows, interrupts, and constructor from the parts of a
/// board.
pub struct Row {
    /// Name in the manual.
    pub name: &'static str,
    /// Its address ranges.
    pub windows: &'static [Window],
    /// Its interrupts.
    pub interrupts: Interrupts,
    make: fn(&mut Parts) -> Box<dyn Peripheral>,
}

/// The peripherals of the chip. Those that keep time are updated from top to bottom, so those that
/// drive interrupts come before the GIC. The last row responds to all remaining addresses.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row("Global timer", &[at(0xf8f0_0200, 0x100)], Interrupts::Private(27), |_| Box::<timers::GlobalTimer>::default()),
    row("Private timers", &[at(0xf8f0_0600, 0x20)], Interrupts::Private(29), |_| Box::<timers::Private>::default()),
    row("Private watchdogs", &[at(0xf8f0_0620, 0xe0)], Interrupts::Private(30), |_| Box::<timers::Private>::default()),
    row("SWDT", &[at(0xf800_5000, 0x1000)], NONE, |_| Box::<swdt::Swdt>::default()),
    row("PL", &[at(0x4000_0000, 0x4000_0000), waits(0x8000_0000, 0x4000_0000)], IRQF2P, |parts| Box::new(Fabric::new(parts.pl.take(), parts.gateware()))),
    row("GEM0", &[at(0xe000_b000, 0x1000)], Interrupts::Shared(&[54]), |parts| Box::new(gem::Gem::new(parts.cable.take()))),
    row("GIC", &[observes_other_boards(0xf8f0_0100, 0x100), at(0xf8f0_1000, 0x1000)], NONE, |_| Box::<gic::Gic>::default()),
    row("UART0", &[at(0xe000_0000, 0x1000)], Interrupts::Shared(&[59]), |_| Box::new(uart::Uart::new(0))),
    row("UART1", &[at(0xe000_1000, 0x1000)], Interrupts::Shared(&[82]), |_| Box::new(uart::Uart::new(1))),
    row("GPIO", &[at(0xe000_a000, 0x68), observes_other_boards(0xe000_a068, 8), at(0xe000_a070, 0xf90)], NONE, |parts| Box::new(gpio::Gpio::new(i2c::I2c::new(&mut parts.i2c), i2c::I2c::of_oscillator(&mut parts.i2c), parts.gpio_access))),
    row("SD0", &[at(0xe010_0000, 0x1000)], NONE, |parts| Box::new(sd::Sd::new(parts.card.take()))),
    row("SD1", &[at(0xe010_1000, 0x1000)], NONE, |_| Box::new(sd::Sd::new(None))),
    row("SLCR", &[at(0xf800_0000, 0x1000)], NONE, |parts| Box::new(parts.slcr())),
    row("DDRC", &[at(0xf800_6000, 0x1000)], NONE, |parts| Box::new(ddrc::Ddrc::new(parts.boot.is_none()))),
    row("DEVCFG", &[at(0xf800_7000, 0x100)], NONE, |parts| Box::new(parts.devcfg())),
    row("XADC", &[at(0xf800_7100, 0x20)], NONE, |parts| Box::new(xadc::Xadc::new(parts.celsius))),
    row("QSPI", &[at(0xfc00_0000, 0x0200_0000)], NONE, |parts| Box::new(qspi::Qspi::new(parts.flash()))),
    row("Others", &[], NONE, |_| Box::<storage::Storage>::default()),
];

const NONE: Interrupts = Interrupts::Shared(&[]);
const IRQF2P: Interrupts = Interrupts::Shared(&[61, 62, 63, 64, 65, 66, 67, 68, 84, 85, 86, 87, 88, 89, 90, 91]);

const fn row(
    name: &'static str,
    windows: &'static [Window],
    interrupts: Interrupts,
    make: fn(&mut Parts) -> Box<dyn Peripheral>,
) -> Row {
    Row {
        name,
        windows,
        interrupts,
        make,
    }
}

const fn at(base: u32, size: u32) -> Window {
    Window {
        base,
        size,
        observes_other_boards: false,
        waits: false,
    }
}

const fn observes_other_boards(base: u32, size: u32) -> Window {
    Window {
        observes_other_boards: true,
        ..at(base, size)
    }
}

const fn waits(base: u32, size: u32) -> Window {
    Window {
        waits: true,
        ..at(base, size)
    }
}
