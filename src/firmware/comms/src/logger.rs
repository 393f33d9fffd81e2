//! The log: a ring in memory with lines kept for management clients, and another with lines waiting
//! for the UART.
//!
//! Line format (wire protocols, section 2.3): `[` seconds right-aligned in 6 `.` microseconds `s] `
//! level in 5 `(` target `): ` text. Text with line breaks becomes several lines, each with its own
//! head; empty lines are dropped. Each ring has its own level, and reports how much was dropped.
//!
//! Lines are formatted directly into the rings. A task moves the UART's to its FIFO as space
//! permits, so that logging never waits for the slow line, except while booting and in a panic.

use core::cell::RefCell;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use critical_section::{CriticalSection, Mutex};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, Timer};
use kairos_health::log::Ring;
use log::{Level, LevelFilter, Log, Metadata, Record};
use zynq7000_hal::uart::Tx;

/// Bytes of text kept for clients, and for the UART.
const CAPACITY: usize = 128 * 1024;
const UART_CAPACITY: usize = 32 * 1024;

static BUFFER: Mutex<RefCell<Ring<CAPACITY>>> = Mutex::new(RefCell::new(Ring::new()));
static PENDING: Mutex<RefCell<Ring<UART_CAPACITY>>> = Mutex::new(RefCell::new(Ring::new()));
static UART: Mutex<RefCell<Option<Tx>>> = Mutex::new(RefCell::new(None));
static MORE: Signal<CriticalSectionRawMutex, ()> = Signal::new();
/// Signals new lines to the client that pulls them.
pub static GROWN: Signal<CriticalSectionRawMutex, ()> = Signal::new();
/// Set once the task runs; until then each line is sent immediately.
static DRAINING: AtomicBool = AtomicBool::new(false);
/// Levels of the two rings, as numeric `LevelFilter`s.
static LEVEL: AtomicUsize = AtomicUsize::new(LevelFilter::Info as usize);
static UART_LEVEL: AtomicUsize = AtomicUsize::new(LevelFilter::Info as usize);

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

/// Sets the level of lines kept for clients.
pub fn set_level(level: LevelFilter) {
    LEVEL.store(level as usize, Ordering::Relaxed);
    set_max_level();
}

/// Sets the level of lines sent to the UART.
pub fn set_uart_level(level: LevelFilter) {
    UART_LEVEL.store(level as usize, Ordering::Relaxed);
    set_max_level();
}

fn set_max_level() {
    let highest = LEVEL.load(Ordering::Relaxed).max(UART_LEVEL.load(Ordering::Relaxed));
    let level = LevelFilter::iter().find(|level| *level as usize == highest);
    log::set_max_level(level.unwrap_or(LevelFilter::Info));
}

/// Copies the kept text to `out`, which must be larger than all of it, preceded by a line that
/// reports dropped text. Returns the length. `take`: clears the text afterwards.
pub fn copy(out: &mut [u8], take: bool) -> usize {
    critical_section::with(|cs| {
        let mut buffer = BUFFER.borrow_ref_mut(cs);
        let mut note = heapless::Vec::<u8, 128>::new();
        if buffer.dropped() > 0 {
            let _ = lines(&mut note, Level::Warn, "comms::logger", dropped(buffer.dropped()));
        }
        out[..note.len()].copy_from_slice(&note);
        let length = note.len() + buffer.peek(&mut out[note.len()..]);
        if take {
            buffer.clear();
        }
        length
    })
}

/// The bytes kept for clients, and those dropped.
pub fn filling() -> (usize, u64) {
    critical_section::with(|cs| {
        let buffer = BUFFER.borrow_ref(cs);
        (buffer.len(), buffer.dropped())
    })
}

/// Clears the kept text.
pub fn clear() {
    critical_section::with(|cs| BUFFER.borrow_ref_mut(cs).clear());
}

struct Dropped(u64);
fn dropped(bytes: u64) -> Dropped {
    Dropped(bytes)
}
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of older lines were dropped", self.0)
    }
}

/// Writes a log record of any target. The prefix `kairos_` of a module path is omitted.
pub fn write(level: Level, target: &str, text: fmt::Arguments) {
    let target = target.strip_prefix("kairos_").unwrap_or(target);
    critical_section::with(|cs| {
        if level as usize <= LEVEL.load(Ordering::Relaxed) {
            let _ = lines(&mut *BUFFER.borrow_ref_mut(cs), level, target, text);
        }
        if level as usize <= UART_LEVEL.load(Ordering::Relaxed) {
            let _ = lines(&mut *PENDING.borrow_ref_mut(cs), level, target, text);
            if !DRAINING.load(Ordering::Relaxed) {
                while !send_some(cs) {}
            }
        }
    });
    MORE.signal(());
    GROWN.signal(());
}

/// A destination of formatted lines.
trait Sink {
    fn push(&mut self, bytes: &[u8]);
}
impl<const N: usize> Sink for Ring<N> {
    fn push(&mut self, bytes: &[u8]) {
        Ring::push(self, bytes);
    }
}
impl<const N: usize> Sink for heapless::Vec<u8, N> {
    fn push(&mut self, bytes: &[u8]) {
        let _ = self.extend_from_slice(bytes);
    }
}

fn lines(sink: &mut dyn Sink, level: Level, target: &str, text: impl fmt::Display) -> fmt::Result {
    let time = Instant::now();
    let mut lines = Lines {
        sink,
        time,
        level,
        target,
        open: false,
    };
    write!(lines, "{text}")?;
    if lines.open {
        lines.sink.push(b"\n");
    }
    Ok(())
}

/// Sends the remaining lines, then `reason`, waiting for the UART. For a panic.
pub fn write_final(reason: fmt::Arguments) {
    DRAINING.store(false, Ordering::Relaxed);
    // A panic inside the logger must not try to borrow the buffer again.
    let free = critical_section::with(|cs| {
        BUFFER.borrow(cs).try_borrow_mut().is_ok() && PENDING.borrow(cs).try_borrow_mut().is_ok()
    });
    if free {
        write(Level::Error, "comms", reason);
    }
    // Bytes in the FIFO would not survive a reset.
    critical_section::with(|cs| {
        if let Ok(Some(uart)) = UART.borrow(cs).try_borrow_mut().as_deref_mut() {
            uart.flush();
        }
    });
}

/// Sends the log to the UART as it grows.
#[embassy_executor::task]
pub async fn drain() {
    DRAINING.store(true, Ordering::Relaxed);
    loop {
        MORE.wait().await;
        // The FIFO holds 64 bytes, 5.5 ms at 115200 baud.
        while !critical_section::with(send_some) {
            Timer::after(Duration::from_millis(4)).await;
        }
    }
}

/// Sends to the UART until its FIFO is full (false) or nothing is left (true).
fn send_some(cs: CriticalSection) -> bool {
    let mut uart = UART.borrow_ref_mut(cs);
    let Some(uart) = uart.as_mut() else { return true };
    let mut pending = PENDING.borrow_ref_mut(cs);
    while let Some(byte) = pending.front() {
        if uart.write_fifo(byte).is_err() {
            return false;
        }
        pending.pop();
    }
    let bytes = pending.dropped();
    pending.clear();
    if bytes > 0 {
        let _ = lines(&mut *pending, Level::Warn, "comms::logger", dropped(bytes));
        return false;
    }
    true
}

/// Whether a host may take the character for a line break: each line that a host sees must have a
/// head.
fn is_line_break(character: char) -> bool {
    matches!(character, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Writes text line by line, each preceded by its prefix.
struct Lines<'a> {
    sink: &'a mut dyn Sink,
    time: Instant,
    level: Level,
    target: &'a str,
    /// A prefix has been written, and its line is not complete.
    open: bool,
}

/// The prefix of a line, formatted apart from the text.
struct Prefix<'a>(&'a mut dyn Sink);

impl Write for Prefix<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push(text.as_bytes());
        Ok(())
    }
}

impl Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (n, line) in text.split(is_line_break).enumerate() {
            if n > 0 && self.open {
                self.sink.push(b"\n");
                self.open = false;
            }
            if line.is_empty() {
                continue;
            }
            if !self.open {
                let (seconds, micros) = (self.time.as_micros() / 1_000_000, self.time.as_micros() % 1_000_000);
                let (level, target) = (self.level, self.target);
                write!(Prefix(self.sink), "[{seconds:6}.{micros:06}s] {level:>5}({target}): ")?;
                self.open = true;
            }
            self.sink.push(line.as_bytes());
        }
        Ok(())
    }
}
