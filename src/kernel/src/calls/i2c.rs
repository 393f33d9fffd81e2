//! The board's I2C bus (kernel ABI, section 2.8), on two pins of the processing system: SCL on MIO 50, SDA on MIO 51, as the
//! ZC706 and the Kasli-SoC have it. The pins are open drain: driven low, or released to their pull-ups.
//!
//! Bits are timed by this core: kernels call start, write, read and stop one by one, which the chip's I2C controller
//! cannot do. The comms core has made the pins GPIO (`chip.rs`); only this core uses them.

use core::ptr::{addr_of_mut, read_volatile, write_volatile};

use kairos_proto::exception::Id;

use crate::raise;

/// GPIO controller (UG585, appendix B.19), bank 1: MIO 32 to 53.
const MASK_DATA_HIGH: *mut u32 = 0xe000_a00c as *mut u32;
const LEVELS: *const u32 = 0xe000_a064 as *const u32;
const DIRECTION: *mut u32 = 0xe000_a244 as *mut u32;
const ENABLE: *mut u32 = 0xe000_a248 as *mut u32;
const SCL: u32 = 1 << (50 - 32);
const SDA: u32 = 1 << (51 - 32);
/// Low word of the global timer, which counts at half the CPU's clock.
const TIMER: *const u32 = 0xf8f0_0200 as *const u32;
/// Half a bit in its ticks: 5 us at 400 MHz, so 100 kbit/s.
const HALF: u32 = 2000;
/// How long a device may hold SCL low, in halves of a bit: 25 ms, as SMBus allows.
const STRETCH: u32 = 5000;
/// Clocks after which a device that was cut off in the middle of a byte has given up SDA.
const CLOCKS: u32 = 9;

/// A transaction has been started and not stopped.
static mut OPEN: bool = false;

/// The bus does not do what it should: a line is held low.
struct Stuck;

fn levels() -> (bool, bool) {
    // SAFETY: a register without side effects.
    let levels = unsafe { read_volatile(LEVELS) };
    (levels & SCL != 0, levels & SDA != 0)
}

/// Drives a line low, or releases it.
fn set(line: u32, high: bool) {
    // SAFETY: only this core uses bank 1, outside of interrupts.
    unsafe {
        let enabled = read_volatile(ENABLE);
        write_volatile(ENABLE, if high { enabled & !line } else { enabled | line });
    }
}

fn half() {
    // SAFETY: a register without side effects.
    unsafe {
        let start = read_volatile(TIMER);
        while read_volatile(TIMER).wrapping_sub(start) < HALF {}
    }
}

fn is_open() -> &'static mut bool {
    // SAFETY: this core only, outside of interrupts.
    unsafe { &mut *addr_of_mut!(OPEN) }
}

/// Releases SCL, and waits for devices that hold it.
fn clock_high() -> Result<(), Stuck> {
    set(SCL, true);
    half();
    for _ in 0..STRETCH {
        if levels().0 {
            return Ok(());
        }
        half();
    }
    Err(Stuck)
}

/// One clock: SDA has this level during it; the level it really had.
fn bit(level: bool) -> Result<bool, Stuck> {
    set(SDA, level);
    half();
    clock_high()?;
    let seen = levels().1;
    set(SCL, false);
    Ok(seen)
}

fn start() -> Result<(), Stuck> {
    // SAFETY: as in `set`. Low when enabled, both released.
    unsafe {
        write_volatile(MASK_DATA_HIGH, !((SCL | SDA) >> 16) << 16);
        write_volatile(ENABLE, read_volatile(ENABLE) & !(SCL | SDA));
        write_volatile(DIRECTION, read_volatile(DIRECTION) | SCL | SDA);
    }
    clock_high()?;
    if !levels().1 {
        return Err(Stuck);
    }
    *is_open() = true;
    set(SDA, false);
    half();
    set(SCL, false);
    Ok(())
}

fn restart() -> Result<(), Stuck> {
    set(SDA, true);
    half();
    start()
}

fn stop() -> Result<(), Stuck> {
    set(SDA, false);
    half();
    clock_high()?;
    set(SDA, true);
    half();
    *is_open() = false;
    match levels() {
        (true, true) => Ok(()),
        _ => Err(Stuck),
    }
}

/// Whether a device acknowledges.
fn write(byte: u32) -> Result<bool, Stuck> {
    for n in (0..8).rev() {
        bit(byte >> n & 1 != 0)?;
    }
    Ok(!bit(true)?)
}

fn read(acknowledge: bool) -> Result<u32, Stuck> {
    let mut byte = 0;
    for _ in 0..8 {
        byte = byte << 1 | u32::from(bit(true)?);
    }
    bit(!acknowledge)?;
    Ok(byte)
}

fn switch_select(address: u32, mask: u32) -> Result<(), Stuck> {
    start()?;
    let acknowledged = write(address << 1)? && write(mask)?;
    stop()?;
    match acknowledged {
        true => Ok(()),
        false => Err(Stuck),
    }
}

/// In a restart: the kernel before may have been stopped in the middle of a byte. Devices are clocked until they let go of
/// SDA, then told that it is over.
pub fn recover() {
    if !*is_open() {
        return;
    }
    for _ in 0..CLOCKS {
        if bit(true).is_ok_and(|level| level) {
            break;
        }
    }
    // If it is stuck for good, the next start says so.
    let _ = stop();
    *is_open() = false;
    set(SCL | SDA, true);
}

/// The result on bus 0, or the exception.
fn on<T: Default>(bus: u32, message: &'static str, action: impl FnOnce() -> Result<T, Stuck>) -> T {
    let result = if bus == 0 { action() } else { Err(Stuck) };
    result.unwrap_or_else(|Stuck| {
        raise::firmware(Id::I2cError, message, [0; 3]);
        T::default()
    })
}

extern "C" fn start_on(bus: u32) {
    on(bus, "I2C start fail", start);
}

extern "C" fn restart_on(bus: u32) {
    on(bus, "I2C restart fail", restart);
}

extern "C" fn stop_on(bus: u32) {
    on(bus, "I2C stop fail", stop);
}

/// `data`: only the low 8 bits are valid.
extern "C" fn write_on(bus: u32, data: u32) -> u32 {
    on(bus, "I2C write fail", || write(data).map(u32::from))
}

/// `acknowledge`: only bit 0 is valid.
extern "C" fn read_on(bus: u32, acknowledge: u32) -> u32 {
    on(bus, "I2C read fail", || read(acknowledge & 1 != 0))
}

/// `mask`: none, or one channel.
extern "C" fn switch_select_on(bus: u32, address: u32, mask: u32) {
    on(bus, "I2C switch select fail", || match mask & 0xff {
        mask if mask.count_ones() <= 1 => switch_select(address & 0x7f, mask),
        _ => Err(Stuck),
    });
}

super::raising! {
    i2c_start => start_on;
    i2c_restart => restart_on;
    i2c_stop => stop_on;
    i2c_write => write_on;
    i2c_read => read_on;
    i2c_switch_select => switch_select_on;
}
