//! The part of the comms core (core 0) common to every board, whether it has a network
//! (`src/runtime`) or is a satellite on a link (`src/satman`): the chip, the log, the
//! configuration, the gateware and its clock, the kernel core, health, and management requests from
//! any source.
//!
//! Builds for ARM only, as part of an image: `docs/firmware.md`.
#![no_std]
#![cfg(all(target_arch = "arm", feature = "image"))]

pub mod analyzer;
mod batch;
mod boot_image;
pub mod chip;
pub mod clock;
pub mod close_reason;
pub mod config;
pub mod executor;
pub mod fair_mutex;
mod faults;
pub mod gateware;
mod health;
mod i2c;
mod interrupts;
pub mod kernel_core;
pub mod kernel_event;
pub mod link;
pub mod logger;
pub mod management;
pub mod moninj;
pub mod report;
mod secondary;
pub mod sensors;
mod stack;
pub mod subkernels;
pub mod traces;
pub mod uncleared;
pub mod watchdog;
pub mod wire;

/// Unwraps a task that is spawned once at boot. If its pool is too small, the image is wrong.
pub fn task<S>(
    token: Result<embassy_executor::SpawnToken<S>, embassy_executor::SpawnError>,
) -> embassy_executor::SpawnToken<S> {
    token.expect("task pool too small")
}

/// Starts what every board needs first: the chip, the log, the report kept over the reset, and the
/// watchdog. `banner` identifies the firmware. Also returns the Ethernet controller, for boards
/// with a network.
pub fn start(banner: &str) -> (Board, Ethernet) {
    stack::paint();
    // Core 1 starts at address 0, where this puts a branch.
    let chip = chip::init(kernel_core::write_reset_branch);
    logger::init(chip.console);
    chip::announce(banner, kernel_core::IMAGE.len());
    report::announce();
    watchdog::start(&chip.clocks);
    let config = config::init(chip.sd, &chip.clocks);
    let (rtio, clock) = gateware::init(config).unzip();
    let board = Board {
        clocks: chip.clocks,
        xadc: chip.xadc,
        config,
        rtio,
        clock: clock.flatten(),
    };
    (board, chip.ethernet)
}

/// Registers of the Ethernet controller.
pub type Ethernet = zynq7000::eth::MmioRegisters<'static>;

/// A booted board.
pub struct Board {
    pub clocks: zynq7000_hal::clocks::Clocks,
    xadc: zynq7000::xadc::MmioRegisters<'static>,
    pub config: &'static config::Config,
    pub rtio: Option<gateware::Rtio>,
    clock: Option<clock::Switched>,
}

impl Board {
    /// Spawns the tasks that run on every board.
    pub fn spawn(self, spawner: &embassy_executor::Spawner) {
        spawner.spawn(task(logger::drain()));
        spawner.spawn(task(watchdog::feed()));
        spawner.spawn(task(sensors::watch(self.xadc)));
        spawner.spawn(task(gateware::watch(self.rtio, self.clock)));
    }
}
