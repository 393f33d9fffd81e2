//! The gateware as the comms core sees it: its identity, and the RTIO errors that cannot be
//! reported to a kernel in time.
//!
//! Collision, busy and sequence errors occur when an event is executed, long after the kernel
//! submitted it. They are polled, logged with the channel's name, and reported to the host when the
//! next kernel ends (wire protocols, section 1.9).

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU8, Ordering};

use embassy_time::{Duration, Timer};
use kairos_config::keys::Key;
use kairos_contracts::pulse::ERROR_TEXTS;
use kairos_contracts::registers::{pulse, rtio, satellite};
use kairos_contracts::rtio::BOARDS;
use kairos_contracts::session::{ASYNC_ERROR_BUSY, ASYNC_ERROR_COLLISION, ASYNC_ERROR_SEQUENCE_ERROR};
use kairos_pl::names;
use kairos_pl::{mark_absent, probe, Register};
use kairos_proto::descriptor::{Descriptor, Error};

use crate::clock::{self, Switched};
use crate::config::Config;

/// Latency limit for logging an asynchronous error and for noticing a lost clock.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Error bits seen since the last report to a host.
static SEEN: AtomicU8 = AtomicU8::new(0);

/// Number of occurrences of each of [`ERRORS`].
static COUNTS: [AtomicU32; ERRORS.len()] = [const { AtomicU32::new(0) }; ERRORS.len()];

/// Errors in the pulse core's register at the last poll.
static PULSE_ERRORS: AtomicU32 = AtomicU32::new(0);

/// Most satellites that a board can have.
const SATELLITES: usize = BOARDS - 1;
/// Whether each satellite was reachable at the last poll.
static SATELLITES_UP: [AtomicBool; SATELLITES] = [const { AtomicBool::new(false) }; SATELLITES];
/// Outputs that each satellite had not executed when its logic was reset, as logged so far.
static LOST_OUTPUTS: [AtomicU32; SATELLITES] = [const { AtomicU32::new(0) }; SATELLITES];

/// (bit, name, register that holds the channel)
const ERRORS: [(u8, &str, &str); 3] = [
    (ASYNC_ERROR_COLLISION, "RTIO collision", rtio::COLLISION_CHANNEL),
    (ASYNC_ERROR_BUSY, "RTIO busy error", rtio::BUSY_CHANNEL),
    (
        ASYNC_ERROR_SEQUENCE_ERROR,
        "RTIO sequence error",
        rtio::SEQUENCE_ERROR_CHANNEL,
    ),
];

/// Registers of asynchronous RTIO errors.
#[derive(Clone, Copy)]
pub struct Rtio {
    async_error: Register,
    channels: [Register; 3],
    /// Errors of the pulse core, if there is one.
    pulse: Option<Register>,
    satellites: [Option<Satellite>; SATELLITES],
}

/// Period of the logic's clock, 125 MHz.
const CYCLE_PS: u32 = 8000;
/// Polls of the phase meter, which takes 33 µs, before it counts as not answering.
const PHASE_POLLS: u32 = 1000;

/// Registers of a link to a satellite: its state, one-way delay, destination, count of unexecuted
/// outputs, and the meter of its clock's phase.
#[derive(Clone, Copy)]
pub(crate) struct Satellite {
    state: Register,
    delay: Register,
    name: Register,
    /// Absent in logic of an earlier build.
    lost_outputs: Option<Register>,
    meter: Option<PhaseMeter>,
}

/// Starts a measurement, and has its result.
#[derive(Clone, Copy)]
struct PhaseMeter {
    measure: Register,
    phase: Register,
}

impl Satellite {
    pub(crate) fn find(descriptor: &Descriptor, number: usize) -> Option<Self> {
        let find = |name| Register::find_numbered(descriptor, name, number);
        Some(Self {
            state: find(satellite::STATE)?,
            delay: find(satellite::ONE_WAY_DELAY)?,
            name: find(satellite::DESTINATION)?,
            lost_outputs: find(satellite::LOST_OUTPUTS),
            meter: find(satellite::MEASURE)
                .zip(find(satellite::PHASE))
                .map(|(measure, phase)| PhaseMeter { measure, phase }),
        })
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state.read() & satellite::STATE_UP_BIT != 0
    }

    /// Its destination, on the board with the network.
    pub(crate) fn destination(&self) -> u8 {
        self.name.read() as u8
    }

    /// One-way delay in cycles.
    pub(crate) fn delay(&self) -> u32 {
        self.delay.read()
    }

    /// Upper bound of the outputs not executed when the satellite's logic was reset.
    pub(crate) fn lost_outputs(&self) -> u32 {
        self.lost_outputs.map_or(0, |register| register.read())
    }

    /// Measures the delay of the clock received from the satellite against this board's, in ps,
    /// modulo a cycle. `None` if it is unreachable or there is no meter.
    pub(crate) fn phase_ps(&self) -> Option<u32> {
        let PhaseMeter { measure, phase } = self.meter.filter(|_| self.is_up())?;
        measure.write(1);
        let known = satellite::PHASE_MEASURED_BIT;
        let found = (0..PHASE_POLLS)
            .map(|_| phase.read())
            .find(|found| found & known != 0)?;
        Some((found & (known - 1)) * CYCLE_PS / known)
    }
}

/// Finds and logs the gateware, starts its clock, and takes the RTIO PHYs out of reset. Without
/// gateware, or without the clock, the device works without RTIO.
pub fn init(config: &Config) -> Option<(Rtio, Option<Switched>)> {
    take_names(config);
    // SAFETY: the kernel core has not been released yet; the HAL has taken the PL out of reset.
    let descriptor = match unsafe { probe() } {
        Ok(descriptor) => descriptor,
        Err(Error::Absent) => {
            log::warn!("no gateware: RTIO is not available");
            return None;
        }
        Err(error) => {
            log::error!("{error}: RTIO is not available");
            return None;
        }
    };
    log::info!(
        "gateware: {} build {}",
        or_unnamed(descriptor.identification()),
        or_unnamed(descriptor.build_id())
    );
    clock::set_up_board(&descriptor);
    let mut switched = None;
    if let Some(clock) = descriptor.clock() {
        let (mhz, khz) = (clock.frequency / 1_000_000, clock.frequency / 1000 % 1000);
        log::info!(
            "RTIO: {} channels, clock {mhz}.{khz:03} MHz",
            descriptor.channels().count()
        );
        match clock::init(&clock, &descriptor, config) {
            Ok(clock) => switched = clock,
            Err(()) => {
                log::error!("RTIO is not available");
                // SAFETY: the kernel core has not been released yet, and the descriptor is not used below.
                unsafe { mark_absent() };
                return None;
            }
        }
    }
    if let Some(reset) = find(&descriptor, rtio::PHY_RESET) {
        reset.write(0);
    }
    let rtio = Rtio {
        async_error: find(&descriptor, rtio::ASYNC_ERROR)?,
        channels: [
            find(&descriptor, ERRORS[0].2)?,
            find(&descriptor, ERRORS[1].2)?,
            find(&descriptor, ERRORS[2].2)?,
        ],
        pulse: Register::find(&descriptor, pulse::ERROR),
        satellites: core::array::from_fn(|number| Satellite::find(&descriptor, number)),
    };
    Some((rtio, switched))
}

/// Reads the channel names from the key `device_map`.
fn take_names(config: &Config) {
    let read = |buffer: &mut [u8]| match config.read(Key::DeviceMap.name(), buffer) {
        Ok(length) => length.unwrap_or(0),
        // Logged at boot.
        Err(kairos_config::store::Error::Card(_)) => 0,
        Err(error) => {
            log::warn!("configuration: device_map: {error}, the limit is {} bytes", names::MAX);
            0
        }
    };
    // SAFETY: the kernel core has not been released yet, and nothing has failed.
    match unsafe { names::install(read) } {
        Ok(map) => {
            if let Some(channel) = map.duplicate() {
                log::warn!(
                    "configuration: device_map has several names for channel {channel:#06x}: the last one is used"
                );
            }
        }
        Err(error) => log::warn!("configuration: device_map is ignored: {error}"),
    }
}

fn or_unnamed(text: &str) -> &str {
    if text.is_empty() {
        "(unnamed)"
    } else {
        text
    }
}

fn find(descriptor: &Descriptor, name: &str) -> Option<Register> {
    let register = Register::find(descriptor, name);
    if register.is_none() {
        log::error!("this gateware has no register {name}");
    }
    register
}

/// Reads, logs and clears the errors; returns all bits seen since the last call.
pub fn take_async_errors(rtio: Option<Rtio>) -> u8 {
    find_errors(rtio);
    SEEN.swap(0, Ordering::Relaxed)
}

/// The number of collisions, busy errors and sequence errors found since the start.
pub fn error_counts() -> [u32; ERRORS.len()] {
    core::array::from_fn(|error| COUNTS[error].load(Ordering::Relaxed))
}

/// Monitors asynchronous errors and the clock, for ever.
#[embassy_executor::task]
pub async fn watch(rtio: Option<Rtio>, mut clock: Option<Switched>) {
    while rtio.is_some() {
        find_errors(rtio);
        if let Some(clock) = &mut clock {
            clock.poll();
        }
        Timer::after(POLL_INTERVAL).await;
    }
}

/// Logs new output errors, and keeps them for `take_async_errors`.
pub fn find_errors(rtio: Option<Rtio>) {
    let Some(rtio) = rtio else { return };
    if let Some(register) = rtio.pulse {
        log_pulse_errors(register.read());
    }
    for (number, satellite) in rtio.satellites.iter().enumerate() {
        if let Some(satellite) = satellite {
            log_satellite(number, satellite);
        }
    }
    let bits = rtio.async_error.read() as u8 & 7;
    if bits == 0 {
        return;
    }
    for ((bit, ..), register) in ERRORS.iter().zip(rtio.channels) {
        if bits & bit != 0 {
            report(*bit, register.read());
        }
    }
    rtio.async_error.write(u32::from(bits));
}

/// Counts and logs an error of an output, and keeps it for `take_async_errors`. `bit`: of [`ERRORS`].
pub(crate) fn report(bit: u8, channel: u32) {
    for ((_, error, _), count) in ERRORS.iter().zip(&COUNTS).filter(|((of, ..), _)| *of == bit) {
        count.fetch_add(1, Ordering::Relaxed);
        let channel = names::global(channel);
        let name = names::channel(channel).unwrap_or("unknown");
        log::error!("{error} involving channel 0x{channel:04x}:{name}");
    }
    SEEN.fetch_or(bit, Ordering::Relaxed);
}

/// Logs when a satellite becomes reachable or unreachable, and the outputs it has lost.
fn log_satellite(number: usize, registers: &Satellite) {
    let (up, name, lost_outputs) = (registers.is_up(), registers.name.read(), registers.lost_outputs());
    let more = lost_outputs.saturating_sub(LOST_OUTPUTS[number].swap(lost_outputs, Ordering::Relaxed));
    if more > 0 {
        log::error!("satellite {name} has not executed up to {more} outputs: its gateware was restarted");
    }
    if SATELLITES_UP[number].swap(up, Ordering::Relaxed) == up {
        return;
    }
    if up {
        log::info!("satellite {name} can be reached: {} cycles each way", registers.delay());
    } else {
        log::error!("satellite {name} cannot be reached: its link is down");
    }
}

/// Logs new errors. They stay in the register until a kernel reads and clears them.
fn log_pulse_errors(errors: u32) {
    let known = PULSE_ERRORS.swap(errors, Ordering::Relaxed);
    for (bit, text) in ERROR_TEXTS {
        if errors & !known & bit != 0 {
            log::error!("pulse core: {text}");
        }
    }
}
