//! The comms core (core 0) of a board with a network: its services, on top of `src/firmware/comms`.
//!
//! `docs/firmware.md` describes how the two cores work together.
#![no_std]
#![no_main]

mod analyzer;
mod clients;
mod management;
mod moninj;
mod network;
mod paths;
mod service;
mod session;

use kairos_chip::ethernet::Port;
use kairos_comms::executor;
use kairos_comms::kernel_core::KernelCore;
use kairos_comms::link::Links;
use kairos_comms::management::Management;
use paths::Instrument;

/// Entered by the start-up code of `zynq7000-rt` on core 0, with caches and MMU off.
#[no_mangle]
extern "C" fn kmain() -> ! {
    let (board, ethernet) = kairos_comms::start(concat!("Kairos runtime ", env!("CARGO_PKG_VERSION")));
    let (config, rtio) = (board.config, board.rtio);
    let settings = network::settings(config);
    let processor = 2 * board.clocks.arm_clocks().cpu_3x2x_clk().to_raw();
    let port = Port::new(ethernet, &board.clocks, settings.mac);

    executor::run(|spawner| {
        let network = network::start(&spawner, port, settings);
        let stack = network.stack();
        board.spawn(&spawner);
        let mut links = Links::default();
        links.start_down(&spawner, 0);
        links.compare_routes(config);
        analyzer::start(&spawner, stack, links);
        moninj::start(&spawner, stack, links);
        let kernel = session::start(&spawner, stack, KernelCore::claim(), rtio, links, config);
        let instrument = Instrument { kernel, processor };
        management::start(&spawner, stack, Management::new(config, links), instrument, links);
        network
    })
}
