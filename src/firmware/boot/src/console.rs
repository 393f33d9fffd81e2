//! The loader's log: lines on the UART, each sent immediately.

use core::cell::RefCell;

use critical_section::Mutex;
use embassy_time::Instant;
use log::{LevelFilter, Log, Metadata, Record};
use zynq7000_hal::uart::Tx;

static UART: Mutex<RefCell<Option<Tx>>> = Mutex::new(RefCell::new(None));

struct Console;

/// Starts logging to the UART.
pub fn init(uart: Tx) {
    critical_section::with(|cs| UART.replace(cs, Some(uart)));
    log::set_logger(&Console).expect("logger set twice");
    log::set_max_level(LevelFilter::Info);
}

impl Log for Console {
    fn enabled(&self, _: &Metadata) -> bool {
        true
    }

    fn log(&self, record: &Record) {
        let time = Instant::now().as_micros();
        let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
        let mut sink = Sink;
        // An error of the UART cannot be reported.
        let _ = core::fmt::write(
            &mut sink,
            format_args!(
                "[{seconds:6}.{micros:06}s] {:>5}(loader): {}\n",
                record.level(),
                record.args()
            ),
        );
    }

    fn flush(&self) {}
}

struct Sink;

impl core::fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        critical_section::with(|cs| {
            if let Some(uart) = UART.borrow_ref_mut(cs).as_mut() {
                for byte in text.bytes() {
                    while uart.write_fifo(byte).is_err() {}
                }
            }
        });
        Ok(())
    }
}
