//! The log: lines kept in a ring in memory and sent to the UART.
//!
//! Line format (wire protocols, section 2.3): `[` seconds right-aligned in 6 `.` microseconds `s] ` level in 5 `(` target `): `
//! text. Text with line breaks becomes several lines, each with its own head; empty lines are dropped.
//!
//! A line is formatted straight into the ring. A task moves the ring's new bytes to the UART as its FIFO takes them, so that
//! logging never waits for the slow line, except while booting and in a panic.

use core::cell::RefCell;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, Ordering};

use critical_section::{CriticalSection, Mutex};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, Timer};
use log::{Level, LevelFilter, Log, Metadata, Record};
use zynq7000_hal::uart::Tx;

/// Bytes of text kept; older text falls out.
const CAPACITY: usize = 128 * 1024;

struct Buffer {
    text: [u8; CAPACITY],
    /// Bytes ever written, and ever sent to the UART.
    written: u64,
    sent: u64,
}

static BUFFER: Mutex<RefCell<Buffer>> = Mutex::new(RefCell::new(Buffer {
    text: [0; CAPACITY],
    written: 0,
    sent: 0,
}));
/// Apart from the buffer, which so is all zero and takes no space in the image.
static UART: Mutex<RefCell<Option<Tx>>> = Mutex::new(RefCell::new(None));
static MORE: Signal<CriticalSectionRawMutex, ()> = Signal::new();
/// The task runs; until then each line is sent at once.
static DRAINING: AtomicBool = AtomicBool::new(false);

struct Logger;

impl Log for Logger {
    fn enabled(&self, _: &Metadata) -> bool {
        true
    }

    fn log(&self, record: &Record) {
        write(record.level(), record.target(), *record.args());
    }

    fn flush(&self) {}
}

/// Starts logging, at level INFO.
pub fn init(uart: Tx) {
    critical_section::with(|cs| UART.replace(cs, Some(uart)));
    log::set_logger(&Logger).expect("logger set twice");
    log::set_max_level(LevelFilter::Info);
}

/// One log record of any target. `kairos_` in front of a module's path is left out.
pub fn write(level: Level, target: &str, text: fmt::Arguments) {
    let target = target.strip_prefix("kairos_").unwrap_or(target);
    critical_section::with(|cs| {
        let buffer = &mut *BUFFER.borrow_ref_mut(cs);
        let mut lines = Lines {
            buffer,
            time: Instant::now(),
            level,
            target,
            open: false,
        };
        let _ = lines.write_fmt(text);
        if lines.open {
            lines.buffer.push(b"\n");
        }
        if !DRAINING.load(Ordering::Relaxed) {
            while !buffer.send_some(cs) {}
        }
    });
    MORE.signal(());
}

/// For a panic: sends what is left, then `reason`, waiting for the UART.
pub fn last_words(reason: fmt::Arguments) {
    DRAINING.store(false, Ordering::Relaxed);
    // A panic inside the logger must not try to borrow the buffer again.
    let free = critical_section::with(|cs| BUFFER.borrow(cs).try_borrow_mut().is_ok());
    if free {
        write(Level::Error, "runtime", reason);
    }
}

/// Sends the log to the UART as it grows.
#[embassy_executor::task]
pub async fn drain() {
    DRAINING.store(true, Ordering::Relaxed);
    loop {
        MORE.wait().await;
        // The FIFO holds 64 bytes, 5.5 ms at 115200 baud.
        while !critical_section::with(|cs| BUFFER.borrow_ref_mut(cs).send_some(cs)) {
            Timer::after(Duration::from_millis(4)).await;
        }
    }
}

impl Buffer {
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.text[(self.written % CAPACITY as u64) as usize] = *byte;
            self.written += 1;
        }
    }

    /// Sends until the FIFO is full (false) or nothing is left (true).
    fn send_some(&mut self, cs: CriticalSection) -> bool {
        let mut uart = UART.borrow_ref_mut(cs);
        let Some(uart) = uart.as_mut() else { return true };
        self.sent = self.sent.max(self.written.saturating_sub(CAPACITY as u64));
        while self.sent < self.written {
            if uart
                .write_fifo(self.text[(self.sent % CAPACITY as u64) as usize])
                .is_err()
            {
                return false;
            }
            self.sent += 1;
        }
        true
    }
}

/// Writes text line by line, each behind its head.
struct Lines<'a> {
    buffer: &'a mut Buffer,
    time: Instant,
    level: Level,
    target: &'a str,
    /// A head has been written, its line has not ended.
    open: bool,
}

/// The head of a line, formatted apart from the text.
struct Head<'a>(&'a mut Buffer);

impl Write for Head<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push(text.as_bytes());
        Ok(())
    }
}

impl Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (n, line) in text.split(['\n', '\r']).enumerate() {
            if n > 0 && self.open {
                self.buffer.push(b"\n");
                self.open = false;
            }
            if line.is_empty() {
                continue;
            }
            if !self.open {
                let (seconds, micros) = (self.time.as_micros() / 1_000_000, self.time.as_micros() % 1_000_000);
                let (level, target) = (self.level, self.target);
                write!(Head(self.buffer), "[{seconds:6}.{micros:06}s] {level:>5}({target}): ")?;
                self.open = true;
            }
            self.buffer.push(line.as_bytes());
        }
        Ok(())
    }
}
