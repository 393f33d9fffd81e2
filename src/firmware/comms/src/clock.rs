//! The RTIO clock: programs the synthesiser or oscillator, where the gateware depends on one, according to the
//! key `rtio_clock`; makes the gateware switch to it; and monitors it afterwards.
//!
//! At run time only the gateware's registers are read, not the chip: the I2C bus belongs to the
//! kernel core.

use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};

use embassy_sync::waitqueue::AtomicWaker;
use embassy_time::{block_for, Duration};
use kairos_chip::i2c;
use kairos_clocking::clock_watch::{ClockChange, Measured, Observation, Source, Watch};
use kairos_clocking::expanders;
use kairos_clocking::rtio_clock::{self, Setting};
use kairos_clocking::si5324::{Bus, Error, Input, Reference, Si5324, Stuck};
use kairos_clocking::si549;
use kairos_config::keys;
use kairos_contracts::registers::{clock as names, uplink};
use kairos_pl::Register;
use kairos_proto::descriptor::{Clock, ClockSource, Descriptor};

use crate::config::Config;
use crate::{report, watchdog};

/// A switch takes less than a millisecond: the gateware gives up on a clock that it cannot lock to
/// within 0.3 ms.
const SWITCH_LIMIT_MS: u32 = 5;
/// Time for the gateware to measure a clock that has just started: two of its windows, with margin.
const MEASURING_LIMIT_MS: u32 = 30;

/// Whether RTIO has lost its clock.
static LOST: AtomicBool = AtomicBool::new(false);
/// Whether the external clock has failed, and the synthesiser continues without it.
static REFERENCE_LOST: AtomicBool = AtomicBool::new(false);
/// The task that runs a kernel; there is one at a time.
static KERNEL: AtomicWaker = AtomicWaker::new();

/// An RTIO clock made by a synthesiser.
pub struct Switched {
    registers: Registers,
    watch: Watch,
}

/// Registers of the gateware: docs/gateware/clock.md.
struct Registers {
    select: Register,
    status: Register,
    lost: Register,
    synthesiser: Register,
    reference: Register,
}

impl Registers {
    fn find(descriptor: &Descriptor) -> Option<Self> {
        Some(Self {
            select: Register::find(descriptor, names::SELECT)?,
            status: Register::find(descriptor, names::STATUS)?,
            lost: Register::find(descriptor, names::LOST)?,
            synthesiser: Register::find(descriptor, names::SYNTHESISER)?,
            reference: Register::find(descriptor, names::REFERENCE)?,
        })
    }

    /// Switches the logic to the clock of the synthesiser or of the processing system. Returns
    /// whether it has switched.
    fn switch(&self, synthesiser: bool) -> bool {
        use names::{STATUS_LOCKED_BIT as LOCKED, STATUS_SELECTED_BIT as SELECTED, STATUS_SWITCHING_BIT as SWITCHING};
        self.select.write(u32::from(synthesiser));
        for _ in 0..SWITCH_LIMIT_MS {
            block_for(Duration::from_millis(1));
            let status = self.status.read();
            if status & SWITCHING == 0 {
                return status & (SELECTED | LOCKED) == LOCKED | u32::from(synthesiser);
            }
        }
        false
    }

    fn observe(&self) -> Observation {
        Observation {
            lost: self.lost.read() & names::LOST_BIT != 0,
            synthesiser: Measured::new(self.synthesiser.read()),
            reference: Measured::new(self.reference.read()),
        }
    }

    /// Allows the PHYs to leave reset.
    fn acknowledge(&self) {
        self.lost.write(1);
    }
}

impl Switched {
    /// Checks the clocks, logs changes, and recovers where possible.
    pub fn poll(&mut self) {
        let change = self.watch.observe(self.registers.observe());
        match change {
            None => {}
            Some(ClockChange::Lost) => {
                log::error!("RTIO clock: lost, RTIO has stopped");
                report::keep(report::Core::Comms, format_args!("the RTIO clock was lost"));
                set_lost(true);
            }
            Some(ClockChange::Back) => {
                if self.registers.switch(true) {
                    self.registers.acknowledge();
                    self.watch.back();
                    log::warn!("RTIO clock: back, RTIO works again");
                    set_lost(false);
                }
            }
            Some(ClockChange::ReferenceLost(found)) => {
                REFERENCE_LOST.store(true, Ordering::Relaxed);
                log::error!("RTIO clock: the external clock has failed ({found}), the Si5324 runs without it");
                report::keep(
                    report::Core::Comms,
                    format_args!("the external clock of RTIO had failed ({found})"),
                );
            }
            Some(ClockChange::LinkPresent) => log::info!("RTIO clock: from the upstream board"),
            Some(ClockChange::LinkGone) => {
                log::warn!("RTIO clock: none from the upstream board, the Si5324 runs from its crystal")
            }
            Some(ClockChange::ReferenceBack) => {
                REFERENCE_LOST.store(false, Ordering::Relaxed);
                log::warn!("RTIO clock: the external clock is back");
            }
        }
    }
}

/// The state of the clock.
pub enum ClockState {
    Good,
    /// The external clock has failed.
    ReferenceFailed,
    /// RTIO has stopped.
    Lost,
}

pub fn state() -> ClockState {
    match (is_lost(), REFERENCE_LOST.load(Ordering::Relaxed)) {
        (true, _) => ClockState::Lost,
        (false, true) => ClockState::ReferenceFailed,
        (false, false) => ClockState::Good,
    }
}

/// Whether RTIO has no clock.
pub fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

fn set_lost(lost: bool) {
    LOST.store(lost, Ordering::Relaxed);
    KERNEL.wake();
}

/// Waits until RTIO loses its clock or, with `lost` false, until it has one. For the task that owns
/// the kernel core.
pub async fn wait(lost: bool) {
    poll_fn(|context| poll(lost, context)).await
}

/// Like [`wait`], to be polled from another future.
pub fn poll(lost: bool, context: &Context<'_>) -> Poll<()> {
    KERNEL.register(context.waker());
    match is_lost() == lost {
        true => Poll::Ready(()),
        false => Poll::Pending,
    }
}

/// Sets up the I/O expanders of the board for which the gateware was made, if it has any: before
/// clock, links and cards are used.
pub(crate) fn set_up_board(descriptor: &Descriptor) {
    let Some(revision) = expanders::revision(descriptor.board()) else {
        return;
    };
    match expanders::set_up(&mut board_bus(), revision, false) {
        Ok(()) => log::info!("I/O expanders: SFP transmitters and cards are on"),
        Err(error) => log::error!("{error}: SFP transmitters and cards may be off"),
    }
}

/// Sets up the clock before the RTIO core leaves reset. On an error, which is logged, RTIO must not
/// be used. The caller must monitor the returned clock, if it is made by a synthesiser.
pub(crate) fn init(clock: &Clock, descriptor: &Descriptor, config: &Config) -> Result<Option<Switched>, ()> {
    let input = match ClockSource::try_from(clock.synthesiser) {
        Ok(ClockSource::ProcessingSystem) => None,
        Ok(ClockSource::Si5324Ckin1) => Some(Input::Ckin1),
        Ok(ClockSource::Si5324Ckin2) => Some(Input::Ckin2),
        Err(other) => {
            log::error!("RTIO clock: synthesiser {other} of this gateware is unknown to this firmware");
            return Err(());
        }
    };
    let linked = Register::find(descriptor, uplink::STATE).is_some();
    let Some(setting) = choose(clock.frequency, input.is_some(), linked, config) else {
        log::error!(
            "RTIO clock: no setting gives the {} Hz of this gateware",
            clock.frequency
        );
        return Err(());
    };
    let Some(input) = input else {
        log::info!("RTIO clock: {}, from the processing system", setting.name);
        return Ok(None);
    };
    let Some(registers) = Registers::find(descriptor) else {
        log::error!("RTIO clock: this gateware has a synthesiser, but no registers to switch to it");
        return Err(());
    };
    // After a reset of the processors alone, the logic may still run from the clock that is about
    // to stop.
    registers.switch(false);
    let chip = match program(&setting, input, clock.frequency) {
        Ok(()) => "Si5324",
        Err(Error::Absent(None)) if expanders::revision(descriptor.board()).is_some() => {
            program_oscillator(&setting, clock.frequency, descriptor)?;
            "Si549"
        }
        Err(error) => {
            let external = matches!(setting.reference, Reference::External(_) | Reference::Bypass);
            match external.then(|| registers.observe().reference) {
                Some(found) => log::error!("RTIO clock: {}: {error} (measured there: {found})", setting.name),
                None => log::error!("RTIO clock: {}: {error}", setting.name),
            }
            return Err(());
        }
    };
    let found = measure(&registers, clock.frequency);
    if !found.is(clock.frequency) {
        let wanted = Measured(clock.frequency);
        log::error!("RTIO clock: {}: the {chip} gives {found}, not {wanted}", setting.name);
        return Err(());
    }
    if !registers.switch(true) {
        log::error!("RTIO clock: {}: the gateware does not lock to the {chip}", setting.name);
        return Err(());
    }
    registers.acknowledge();
    log::info!("RTIO clock: {}, {chip} ready", setting.name);
    let source = match setting.reference {
        Reference::External(frequency) => Source::External(frequency),
        Reference::Link(frequency) => Source::Link(frequency),
        Reference::Crystal | Reference::Bypass => Source::None,
    };
    let watch = Watch::new(clock.frequency, source);
    Ok(Some(Switched { registers, watch }))
}

/// Measures the synthesiser's clock: returns as soon as it is `frequency`, or the last result at
/// the time limit.
fn measure(registers: &Registers, frequency: u32) -> Measured {
    for _ in 0..MEASURING_LIMIT_MS {
        let found = registers.observe().synthesiser;
        if found.is(frequency) {
            return found;
        }
        block_for(Duration::from_millis(1));
    }
    registers.observe().synthesiser
}

fn choose(frequency: u32, synthesiser: bool, linked: bool, config: &Config) -> Option<Setting> {
    let default = rtio_clock::default(frequency, synthesiser && linked);
    match config.setting(&keys::Setting::new(keys::Key::RtioClock, rtio_clock::parse)) {
        None => default,
        Some(setting) => match setting.check(frequency, synthesiser, linked) {
            Ok(()) => Some(setting),
            Err(refused) => {
                log::warn!("configuration: rtio_clock={} is ignored: {refused}", setting.name);
                default
            }
        },
    }
}

fn program(setting: &Setting, input: Input, frequency: u32) -> Result<(), Error> {
    let mut chip = Si5324::find(board_bus())?;
    chip.program(setting.reference, input, frequency)?;
    chip.release()
}

/// Programs the oscillator of a Kasli-SoC without a Si5324, and makes the board select it. Errors are logged.
fn program_oscillator(setting: &Setting, frequency: u32, descriptor: &Descriptor) -> Result<(), ()> {
    let mut bus: WholeBus<i2c::ClockLines> = WholeBus(i2c::Bus::after_reset());
    si549::program(&mut bus, setting.reference, frequency)
        .map_err(|error| log::error!("RTIO clock: {}: {error}", setting.name))?;
    let revision = expanders::revision(descriptor.board()).ok_or(())?;
    expanders::set_up(&mut board_bus(), revision, true)
        .map_err(|error| log::error!("RTIO clock: {}: the Si549 is not selected: {error}", setting.name))
}

/// The board's I2C bus. The kernel core has not been released, so this core owns the bus.
fn board_bus() -> WholeBus<i2c::BoardLines> {
    WholeBus(i2c::Bus::after_reset())
}

/// An I2C bus with whole transactions.
struct WholeBus<L>(i2c::Bus<L>);

impl<L: i2c::Lines> WholeBus<L> {
    fn send(&mut self, address: u8, direction: u8, bytes: &[u8]) -> Result<bool, i2c::Stuck> {
        if !self.0.write(u32::from(address << 1 | direction))? {
            return Ok(false);
        }
        for byte in bytes {
            if !self.0.write(u32::from(*byte))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn receive(&mut self, address: u8, register: u8) -> Result<Option<u8>, i2c::Stuck> {
        self.0.start()?;
        let mut value = None;
        if self.send(address, 0, &[register])? {
            self.0.restart()?;
            if self.send(address, 1, &[])? {
                value = Some(self.0.read(false)? as u8);
            }
        }
        self.0.stop()?;
        Ok(value)
    }
}

impl<L: i2c::Lines> Bus for WholeBus<L> {
    fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck> {
        let mut transfer = || {
            self.0.start()?;
            let acknowledged = self.send(address, 0, bytes)?;
            self.0.stop()?;
            Ok(acknowledged)
        };
        transfer().map_err(|i2c::Stuck| Stuck)
    }

    fn read(&mut self, address: u8, register: u8) -> Result<Option<u8>, Stuck> {
        self.receive(address, register).map_err(|i2c::Stuck| Stuck)
    }

    fn wait_ms(&mut self, milliseconds: u32) {
        // A lock takes up to 20 s.
        watchdog::block_for(Duration::from_millis(u64::from(milliseconds)));
    }
}
