//! The comms core of a satellite (core 0): without a network, reached over the link, on what every board has (`src/comms`).
//!
//! `docs/firmware.md` describes how the two cores work together, and `docs/gateware/link.md` what goes over the link.
#![no_std]
#![no_main]

use kairos_comms::executor::{self, Background};
use kairos_comms::kernel_core::KernelCore;
use kairos_comms::watchdog;

/// Entered by the start-up code of `zynq7000-rt` on core 0, with caches and MMU off.
#[no_mangle]
extern "C" fn kmain() -> ! {
    let (board, _) = kairos_comms::start(concat!("Kairos satellite ", env!("CARGO_PKG_VERSION")));

    executor::run(|spawner| {
        board.spawn(&spawner);
        spawner.spawn(kairos_comms::task(start_kernel_core()));
        NoNetwork
    })
}

/// Nothing is done between the turns of the tasks.
struct NoNetwork;

impl Background for NoNetwork {
    fn run(&mut self) -> bool {
        watchdog::NETWORK.beat();
        true
    }

    fn may_sleep(&mut self) -> bool {
        true
    }
}

/// Starts core 1 at boot, so that the first kernel need not wait for it, and a core that does not start is noticed.
#[embassy_executor::task]
async fn start_kernel_core() {
    if KernelCore::claim().restart().await.is_ok() {
        log::info!("kernel core ready");
    }
}
