//! Temperature and supplies of the chip, read from the XADC through its interface to the processing
//! system (UG585, chapter 30).
//!
//! Unconfigured, the XADC converts its own sensors continuously.

use core::cell::Cell;

use critical_section::Mutex;
use embassy_time::{Duration, Timer};
use kairos_health::sensors::{Reading, SUPPLIES, TEMPERATURE};

const INTERVAL: Duration = Duration::from_secs(10);
/// Eight transfers of 32 bits take about 10 µs.
const ANSWER: Duration = Duration::from_micros(100);

static LATEST: Mutex<Cell<Latest>> = Mutex::new(Cell::new(Latest::None));

/// The last measurement.
#[derive(Clone, Copy)]
pub enum Latest {
    /// Nothing measured yet, or no XADC.
    None,
    Read(Reading),
}

/// The last measurement.
pub fn latest() -> Latest {
    critical_section::with(|cs| LATEST.borrow(cs).get())
}

type Registers = zynq7000::xadc::MmioRegisters<'static>;

/// Logs the sensors at the start and whenever they enter or leave their limits; at level DEBUG each
/// time.
#[embassy_executor::task]
pub async fn watch(mut xadc: Registers) {
    start(&mut xadc);
    let mut good = None;
    loop {
        let Some(reading) = read(&mut xadc).await else {
            log::warn!("the XADC gives no readings: temperature and supplies are not monitored");
            return;
        };
        critical_section::with(|cs| LATEST.borrow(cs).set(Latest::Read(reading)));
        let is_good = reading.is_good();
        match good {
            _ if good == Some(is_good) => log::debug!("{reading}"),
            None if is_good => log::info!("{reading}"),
            _ if is_good => log::info!("back within limits: {reading}"),
            _ => log::warn!("too hot, or a supply is out of limits: {reading}"),
        }
        good = Some(is_good);
        Timer::after(INTERVAL).await;
    }
}

fn start(xadc: &mut Registers) {
    const ENABLE: u32 = 1 << 31;
    /// Clock and pauses of the interface as after reset: a quarter of the PCAP clock.
    const AS_AFTER_RESET: u32 = 0x1114;
    const RESET: u32 = 1 << 4;
    xadc.write_misc_control(RESET);
    xadc.write_misc_control(0);
    xadc.write_config(ENABLE | AS_AFTER_RESET);
}

/// Reads all sensors; `None` if there is no answer or nothing has been measured (on QEMU).
async fn read(xadc: &mut Registers) -> Option<Reading> {
    const NOTHING: u32 = 0;
    const READ: u32 = 1 << 26;
    const EMPTY: u32 = 1 << 8;
    const SENSORS: usize = 1 + SUPPLIES.len();
    while xadc.read_misc_status() & EMPTY == 0 {
        xadc.read_data_fifo();
    }
    let read = |register: u8| READ | u32::from(register) << 16;
    xadc.write_command_fifo(read(TEMPERATURE));
    for supply in &SUPPLIES {
        xadc.write_command_fifo(read(supply.register));
    }
    xadc.write_command_fifo(NOTHING);
    Timer::after(ANSWER).await;
    // The answer to a command arrives with the one after it.
    let answers = xadc.read_misc_status() >> 12 & 0xf;
    if answers as usize != 1 + SENSORS {
        return None;
    }
    xadc.read_data_fifo();
    let raw: [u16; SENSORS] = core::array::from_fn(|_| xadc.read_data_fifo() as u16);
    (raw[0] != 0).then(|| Reading::new(&raw))
}
