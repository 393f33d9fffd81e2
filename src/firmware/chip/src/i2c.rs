//! A board's I2C bus, driven bit by bit on two pins of the processing system: SCL on MIO 50, SDA on
//! MIO 51, as on the ZC706 and the Kasli-SoC. The pins are open drain: driven low, or released to
//! their pull-ups.
//!
//! Kernels call start, write, read and stop separately, which the chip's I2C controller does not
//! support. The comms core configures the pins as GPIO and uses the bus while booting. After the
//! release of the kernel core that core owns the bus, and lends it to the comms core for
//! transactions of batches (`kairos_intercore::Shared::take_bus`), which uses the pins as [`Pins`].
//!
//! A Kasli-SoC has another bus, of its oscillator, on pins of the logic, which are lines of the same controller
//! (EMIO): [`ClockLines`].

use core::marker::PhantomData;
use core::ptr::{read_volatile, write_volatile};

use kairos_contracts::chips::kasli_soc::{CLOCK_SCL, CLOCK_SDA};

/// GPIO controller (UG585, appendix B.19), bank 1: MIO 32 to 53.
const MASK_DATA_HIGH: *mut u32 = 0xe000_a00c as *mut u32;
const LEVELS: *const u32 = 0xe000_a064 as *const u32;
const DIRECTION: *mut u32 = 0xe000_a244 as *mut u32;
const ENABLE: *mut u32 = 0xe000_a248 as *mut u32;
const SCL: u32 = 1 << (50 - 32);
const SDA: u32 = 1 << (51 - 32);
/// Lines between the processing system and the logic: outputs of bank 3, lower half, and levels of bank 2.
const MASK_DATA_3_LOW: *mut u32 = 0xe000_a018 as *mut u32;
const LEVELS_2: *const u32 = 0xe000_a068 as *const u32;
/// Low word of the global timer, which counts at half the CPU's clock.
const TIMER: *const u32 = 0xf8f0_0200 as *const u32;
/// Half a bit in timer ticks: 5 us at 400 MHz, so 100 kbit/s.
const HALF: u32 = 2000;
/// How long a device may hold SCL low, in half bits: 25 ms, as SMBus allows.
const STRETCH: u32 = 5000;
/// Clocks within which an interrupted device releases SDA: the rest of an address, its
/// acknowledgement, a byte that it sends, and one for each stop that it did not see.
const CLOCKS: u32 = 20;

/// A line of the bus is held low.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

/// The bus. Its user must ensure that there is no other one, on either core.
pub struct Bus<L = BoardLines> {
    /// Whether a transaction has been started and not stopped.
    open: bool,
    lines: PhantomData<L>,
}

/// The lines of a bus.
pub trait Lines {
    /// Releases both lines, and makes them ready to be driven low.
    fn prepare();
    /// Drives SCL low, or releases it.
    fn set_clock(high: bool);
    /// Drives SDA low, or releases it.
    fn set_data(high: bool);
    /// Levels of SCL and SDA.
    fn levels() -> (bool, bool);
}

/// The lines of the board's bus.
pub struct BoardLines;

/// Drives a line of the board's bus low, or releases it.
fn set(line: u32, high: bool) {
    // SAFETY: only the user of the bus accesses bank 1, outside of interrupts.
    unsafe {
        let enabled = read_volatile(ENABLE);
        write_volatile(ENABLE, if high { enabled & !line } else { enabled | line });
    }
}

impl Lines for BoardLines {
    fn prepare() {
        // SAFETY: registers of GPIO bank 1, of which only the two pins' bits are changed.
        unsafe {
            write_volatile(MASK_DATA_HIGH, !((SCL | SDA) >> 16) << 16);
            write_volatile(ENABLE, read_volatile(ENABLE) & !(SCL | SDA));
            write_volatile(DIRECTION, read_volatile(DIRECTION) | SCL | SDA);
        }
    }

    fn set_clock(high: bool) {
        set(SCL, high);
    }

    fn set_data(high: bool) {
        set(SDA, high);
    }

    fn levels() -> (bool, bool) {
        // SAFETY: a register without side effects.
        let levels = unsafe { read_volatile(LEVELS) };
        (levels & SCL != 0, levels & SDA != 0)
    }
}

/// The lines of the bus of a Kasli-SoC's oscillator: the logic pulls a line low whose output in bank 3 is high, and
/// has its level in bank 2.
pub struct ClockLines;

/// Changes outputs to the logic, of lines 0 to 15 of bank 3.
fn pull(line: u32, low: bool) {
    let value = if low { line } else { 0 };
    // SAFETY: only the bits of this line are changed, and only the user of the bus does.
    unsafe { write_volatile(MASK_DATA_3_LOW, (!line & 0xffff) << 16 | value) };
}

impl Lines for ClockLines {
    fn prepare() {
        pull(CLOCK_SCL | CLOCK_SDA, false);
    }

    fn set_clock(high: bool) {
        pull(CLOCK_SCL, !high);
    }

    fn set_data(high: bool) {
        pull(CLOCK_SDA, !high);
    }

    fn levels() -> (bool, bool) {
        // SAFETY: a register without side effects.
        let levels = unsafe { read_volatile(LEVELS_2) };
        (levels & CLOCK_SCL != 0, levels & CLOCK_SDA != 0)
    }
}

fn half() {
    // SAFETY: a register without side effects.
    unsafe {
        let start = read_volatile(TIMER);
        while read_volatile(TIMER).wrapping_sub(start) < HALF {}
    }
}

/// Releases SCL, and waits for devices that stretch the clock.
fn clock_high<L: Lines>() -> Result<(), Stuck> {
    L::set_clock(true);
    half();
    for _ in 0..STRETCH {
        if L::levels().0 {
            return Ok(());
        }
        half();
    }
    Err(Stuck)
}

/// Generates one clock with this level on SDA; returns the actual level.
fn bit<L: Lines>(level: bool) -> Result<bool, Stuck> {
    L::set_data(level);
    half();
    clock_high::<L>()?;
    let seen = L::levels().1;
    L::set_clock(false);
    Ok(seen)
}

/// The pins, for a borrower of the bus.
pub struct Pins(());

impl Pins {
    /// Releases both lines, and sets them to be driven low when enabled. The user must ensure that
    /// nobody else uses the bus.
    pub fn new() -> Self {
        BoardLines::prepare();
        Self(())
    }

    /// Releases the clock, or holds it low.
    pub fn set_clock(&mut self, high: bool) {
        BoardLines::set_clock(high);
    }

    /// Releases the data line, or holds it low.
    pub fn set_data(&mut self, high: bool) {
        BoardLines::set_data(high);
    }

    /// Levels of clock and data.
    pub fn levels(&self) -> (bool, bool) {
        BoardLines::levels()
    }
}

impl Default for Pins {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: Lines> Bus<L> {
    /// Whether a transaction has been started and not stopped.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Creates the bus with no transaction started.
    pub const fn new() -> Self {
        Self {
            open: false,
            lines: PhantomData,
        }
    }

    /// Creates the bus after a reset of the chip, which may have stopped a program in the middle of
    /// a byte.
    pub fn after_reset() -> Self {
        L::prepare();
        let mut bus = Self {
            open: true,
            lines: PhantomData,
        };
        bus.recover();
        bus
    }

    /// Generates a start condition.
    pub fn start(&mut self) -> Result<(), Stuck> {
        L::prepare();
        clock_high::<L>()?;
        if !L::levels().1 {
            return Err(Stuck);
        }
        self.open = true;
        L::set_data(false);
        half();
        L::set_clock(false);
        Ok(())
    }

    /// Generates a repeated start condition within a transaction.
    pub fn restart(&mut self) -> Result<(), Stuck> {
        L::set_data(true);
        half();
        self.start()
    }

    /// Generates a stop condition.
    pub fn stop(&mut self) -> Result<(), Stuck> {
        L::set_data(false);
        half();
        clock_high::<L>()?;
        L::set_data(true);
        half();
        self.open = false;
        match L::levels() {
            (true, true) => Ok(()),
            _ => Err(Stuck),
        }
    }

    /// Sends the low 8 bits of `byte`; returns whether a device acknowledges.
    pub fn write(&mut self, byte: u32) -> Result<bool, Stuck> {
        for n in (0..8).rev() {
            bit::<L>(byte >> n & 1 != 0)?;
        }
        Ok(!bit::<L>(true)?)
    }

    /// Receives a byte.
    pub fn read(&mut self, acknowledge: bool) -> Result<u32, Stuck> {
        let mut byte = 0;
        for _ in 0..8 {
            byte = byte << 1 | u32::from(bit::<L>(true)?);
        }
        bit::<L>(!acknowledge)?;
        Ok(byte)
    }

    /// Connects the channels in `mask` of the switch at `address` (7 bits).
    pub fn switch_select(&mut self, address: u32, mask: u32) -> Result<(), Stuck> {
        self.start()?;
        let acknowledged = self.write(address << 1)? && self.write(mask)?;
        self.stop()?;
        match acknowledged {
            true => Ok(()),
            false => Err(Stuck),
        }
    }

    /// Recovers the bus in a restart: the previous program may have been stopped in the middle of a
    /// byte. Clocks the devices until they release SDA, with stop conditions. A device that sends a
    /// one may continue with a zero, and then does not see the stop.
    pub fn recover(&mut self) {
        if !self.open {
            return;
        }
        for _ in 0..CLOCKS {
            if bit::<L>(true) == Ok(true) && self.stop().is_ok() {
                break;
            }
        }
        // If the bus is permanently stuck, the next start fails.
        self.open = false;
        L::set_clock(true);
        L::set_data(true);
    }
}

impl<L: Lines> Default for Bus<L> {
    fn default() -> Self {
        Self::new()
    }
}
