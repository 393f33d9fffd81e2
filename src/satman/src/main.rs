//! The comms core of a satellite (core 0): without a network, reached over the link, on what every
//! board has (`src/comms`).
//!
//! `docs/firmware.md` describes how the two cores work together, and
//! `docs/gateware/link-messages.md` what goes over the link.
#![no_std]
#![no_main]

mod kernels;
mod player;

use embassy_time::{Duration, Timer};
use kairos_chip::reset;
use kairos_comms::analyzer::Analyzer;
use kairos_comms::executor::{self, Background};
use kairos_comms::kernel_core::KernelCore;
use kairos_comms::link::{Link, Links};
use kairos_comms::management::{Management, Measures, Refused, CLIENTS};
use kairos_comms::moninj::Pins;
use kairos_comms::watchdog;
use kairos_comms::wire::{Lost, Wire};
use kairos_links::end::{STREAMS, WAITERS};
use kairos_proto::analyzer::is_told;
use kairos_proto::channels::{Measurement, Refusal};
use kairos_proto::link::Service;

const BANNER: &str = concat!("Kairos satellite ", env!("CARGO_PKG_VERSION"));
/// What the board above may open streams to.
const SERVICES: &[u8] = &[
    Service::Management as u8,
    Service::Kernels as u8,
    Service::Analyzer as u8,
    Service::Monitor as u8,
];
/// Streams to boards behind this one at a time: all that there can be.
const RELAYED: usize = STREAMS;
// Of management, of kernels, analyzer and monitor, and those that pass on.
const _: () = assert!(CLIENTS + 3 + RELAYED <= WAITERS);
/// Time for the last answer to leave before a restart.
const FAREWELL: Duration = Duration::from_millis(100);

/// Entered by the start-up code of `zynq7000-rt` on core 0, with caches and MMU off.
#[no_mangle]
extern "C" fn kmain() -> ! {
    let (board, _) = kairos_comms::start(BANNER);
    let config = board.config;

    executor::run(|spawner| {
        board.spawn(&spawner);
        let mut links = Links::default();
        match links.start_up(&spawner, BANNER, SERVICES) {
            Some(uplink) => {
                links.start_down(&spawner, 1);
                for _ in 0..RELAYED {
                    spawner.spawn(kairos_comms::task(relay(uplink, links)));
                }
                let management = Management::new(config, links);
                for _ in 0..CLIENTS {
                    spawner.spawn(kairos_comms::task(serve(uplink, management)));
                }
                spawner.spawn(kairos_comms::task(kernels::serve(uplink, KernelCore::claim())));
                spawner.spawn(kairos_comms::task(record(uplink, Analyzer::start())));
                spawner.spawn(kairos_comms::task(watch(uplink)));
            }
            None => log::error!("this gateware has no link to a board above: nobody can reach this one"),
        }
        NoNetwork
    })
}

/// Serves one client of management after the other.
#[embassy_executor::task(pool_size = CLIENTS)]
async fn serve(uplink: &'static Link, management: &'static Management) -> ! {
    loop {
        let mut stream = uplink.accept(Service::Management).await;
        let after = management.serve(&mut stream, &Unmeasured).await;
        drop(stream);
        if let Some(mark) = after {
            Timer::after(FAREWELL).await;
            reset::reset(mark);
        }
    }
}

/// Sends the board above, each time it asks, what has been recorded of this board's channels: its
/// own dump has what came from there.
#[embassy_executor::task]
async fn record(uplink: &'static Link, mut analyzer: Analyzer) -> ! {
    loop {
        let mut stream = uplink.accept(Service::Analyzer).await;
        let record = analyzer.take();
        let own = uplink.destination();
        let is_told = |unit: &_| is_told(unit, own, u32::MAX);
        let sending = async {
            stream.write_all(&record.head(is_told).encode()).await?;
            record.send(&mut stream, is_told).await
        };
        if let Err(Lost) = sending.await {
            log::warn!("analyzer: the board above has not taken all of the record");
        }
    }
}

/// Answers questions about this board's pins.
#[embassy_executor::task]
async fn watch(uplink: &'static Link) -> ! {
    loop {
        let mut stream = uplink.accept(Service::Monitor).await;
        // Whoever asked is gone.
        let _ = Pins::find().serve(&mut stream).await;
    }
}

/// Passes on streams to boards behind this one.
#[embassy_executor::task(pool_size = RELAYED)]
async fn relay(uplink: &'static Link, links: Links) -> ! {
    loop {
        uplink.pass_on(links).await;
    }
}

/// Nothing is measured on a satellite yet.
struct Unmeasured;

impl Measures for Unmeasured {
    async fn measure(&self, _: &Measurement, _: &mut [u8]) -> Result<usize, Refused> {
        Err((Refusal::Absent, "a satellite's paths cannot be measured"))
    }
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
