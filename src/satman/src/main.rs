//! The comms core (core 0) of a satellite, which has no network and is reached over the link, on
//! top of `src/firmware/comms`.
//!
//! `docs/firmware.md` describes how the two cores work together, and
//! `docs/gateware/link-messages.md` the messages on the link.
#![no_std]
#![no_main]

mod kernels;
mod playback;

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
use kairos_proto::analyzer::is_included;
use kairos_proto::link::Service;
use kairos_proto::paths::{Measurement, Refusal};

const BANNER: &str = concat!("Kairos satellite ", env!("CARGO_PKG_VERSION"));
/// Services to which the upstream board may open streams.
const SERVICES: &[u8] = &[
    Service::Management as u8,
    Service::Kernels as u8,
    Service::Analyzer as u8,
    Service::Monitor as u8,
];
/// Concurrent relayed streams to downstream boards: as many as there can be.
const RELAYED: usize = STREAMS;
// Waiters: clients of management; kernels, analyzer and monitor; and relays.
const _: () = assert!(CLIENTS + 3 + RELAYED <= WAITERS);
/// Time for the last answer to leave before a restart.
const RESTART_DELAY: Duration = Duration::from_millis(100);

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
            None => log::error!("this gateware has no link to an upstream board: this board cannot be reached"),
        }
        NoNetwork
    })
}

/// Serves management clients, one at a time.
#[embassy_executor::task(pool_size = CLIENTS)]
async fn serve(uplink: &'static Link, management: &'static Management) -> ! {
    loop {
        let mut stream = uplink.accept(Service::Management).await;
        let after = management.serve(&mut stream, &Unmeasured).await;
        drop(stream);
        if let Some(mark) = after {
            Timer::after(RESTART_DELAY).await;
            reset::reset(mark);
        }
    }
}

/// Sends the upstream board, on each request, the recording of this board's own channels: the
/// upstream board's dump contains the events that it submitted.
#[embassy_executor::task]
async fn record(uplink: &'static Link, mut analyzer: Analyzer) -> ! {
    loop {
        let mut stream = uplink.accept(Service::Analyzer).await;
        let record = analyzer.take();
        let own = uplink.destination();
        let is_included = |unit: &_| is_included(unit, own, u32::MAX);
        let sending = async {
            stream.write_all(&record.head(is_included).encode()).await?;
            record.send(&mut stream, is_included).await
        };
        if let Err(Lost) = sending.await {
            log::warn!("analyzer: the upstream board did not read the complete record");
        }
    }
}

/// Answers monitor and injector requests for this board's pins.
#[embassy_executor::task]
async fn watch(uplink: &'static Link) -> ! {
    loop {
        let mut stream = uplink.accept(Service::Monitor).await;
        // The client is gone.
        let _ = Pins::find().serve(&mut stream).await;
    }
}

/// Relays streams to downstream boards.
#[embassy_executor::task(pool_size = RELAYED)]
async fn relay(uplink: &'static Link, links: Links) -> ! {
    loop {
        uplink.relay(links).await;
    }
}

/// Measurements are not available on a satellite.
struct Unmeasured;

impl Measures for Unmeasured {
    async fn measure(&self, _: &Measurement, _: &mut [u8]) -> Result<usize, Refused> {
        Err((Refusal::Absent, "a satellite's paths cannot be measured"))
    }
}

/// There is no work between polls of the tasks.
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
