//! The comms core of Kairos (core 0): network services, and supervision of the kernel core.
//!
//! `docs/firmware.md` describes how the two cores work together.
#![no_std]
#![no_main]

mod analyzer;
mod chip;
mod clock;
mod config;
mod executor;
mod fair_mutex;
mod faults;
mod gateware;
mod interrupts;
mod kernel_core;
mod logger;
mod management;
mod moninj;
mod network;
mod report;
mod secondary;
mod sensors;
mod service;
mod session;
mod uncleared;
mod watchdog;

use kairos_chip::ethernet::Port;
use kernel_core::KernelCore;

/// Entered by the start-up code of `zynq7000-rt` on core 0, with caches and MMU off.
#[no_mangle]
extern "C" fn kmain() -> ! {
    // A branch at address 0 is where core 1 starts.
    let chip = chip::init(kernel_core::write_reset_branch);
    logger::init(chip.console);
    chip::announce(kernel_core::IMAGE.len());
    report::announce();
    watchdog::start(&chip.clocks);
    let config = config::init(chip.sd, &chip.clocks);
    let (rtio, clock) = gateware::init(config).unzip();
    let settings = network::settings(config);
    let port = Port::new(chip.ethernet, &chip.clocks, settings.mac);

    executor::run(|spawner| {
        let network = network::start(&spawner, port, settings);
        let stack = network.stack();
        spawner.spawn(task(logger::drain()));
        spawner.spawn(task(watchdog::feed()));
        spawner.spawn(task(sensors::watch(chip.xadc)));
        spawner.spawn(task(gateware::watch(rtio, clock.flatten())));
        management::start(&spawner, stack, config);
        analyzer::start(&spawner, stack);
        moninj::start(&spawner, stack);
        session::start(&spawner, stack, KernelCore::new(), rtio, config);
        network
    })
}

/// A task that is spawned once at boot: there is room for it, or the image is wrong.
fn task<S>(
    token: Result<embassy_executor::SpawnToken<S>, embassy_executor::SpawnError>,
) -> embassy_executor::SpawnToken<S> {
    token.expect("task pool too small")
}
