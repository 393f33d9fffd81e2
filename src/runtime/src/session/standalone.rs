//! Kernels that run without a host (wire protocols, section 1.12): the startup kernel once at boot, before the first session,
//! and the idle kernel whenever no session is served. They come from the configuration, as ELF files.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use embassy_futures::select::{select, select3, Either, Either3};
use embassy_time::{Duration, Timer};
use kairos_channel::Kind;
use kairos_config::keys::Key;
use kairos_proto::summary::Summary;

use super::{Owner, Shared, CLIENTS};
use kairos_comms::config::{Config, IDLE_KERNEL_CHANGED};
use kairos_comms::kernel_core::Failure;
use kairos_comms::{clock, gateware};

/// There is an idle kernel, as far as is known.
pub static IS_SET: AtomicBool = AtomicBool::new(false);

/// Before an idle kernel that has failed is started again.
const PAUSE: Duration = Duration::from_millis(500);

/// Why a kernel did not run to its end.
enum Error {
    /// What the configuration has is no library.
    NotElf,
    Refused(heapless::String<160>),
    Exception(heapless::String<320>),
    Rpc,
    Kernel(Failure),
    Unexpected(Kind),
    Clock,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotElf => write!(f, "it is not an ELF file ('kairos compile' makes one)"),
            Error::Refused(text) => write!(f, "it cannot be loaded: {text}"),
            Error::Exception(text) => write!(f, "it ended with {text}"),
            Error::Rpc => write!(f, "it has called the host, and there is none: it is stopped"),
            Error::Kernel(failure) => write!(f, "{failure}"),
            Error::Unexpected(kind) => write!(f, "unexpected message {kind:?} from the kernel core"),
            Error::Clock => write!(f, "it has no RTIO clock: it is stopped"),
        }
    }
}

impl Error {
    /// Starting it again would end in the same way.
    fn is_lasting(&self) -> bool {
        matches!(self, Error::NotElf | Error::Refused(_) | Error::Rpc)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Kernel(failure)
    }
}

/// Runs the startup kernel, if there is one.
pub async fn startup(shared: &mut Shared, config: &Config) {
    let Some(length) = read(shared, config, Key::StartupKernel) else {
        return;
    };
    log::info!("startup kernel: running");
    match run(shared, length).await {
        Ok(()) => log::info!("startup kernel: finished"),
        Err(error) => log::error!("startup kernel: {error}"),
    }
    shared.kernel.stop().await;
}

/// Runs the idle kernel over and over while no session is served, for ever.
#[embassy_executor::task]
pub async fn idle(owner: &'static Owner, config: &'static Config) {
    let mut clients = CLIENTS.receiver().expect("a receiver for this task");
    // The card is not asked after each session for what is not there.
    let mut absent = false;
    loop {
        clients.get_and(|clients| clients.absent()).await;
        let mut shared = owner.lock().await;
        if IDLE_KERNEL_CHANGED.try_take().is_some() {
            absent = false;
        }
        let length = match absent {
            true => None,
            false => read(&mut shared, config, Key::IdleKernel),
        };
        absent = length.is_none();
        IS_SET.store(!absent, Ordering::Relaxed);
        if length.is_some() {
            log::info!("idle kernel: running");
        }
        let arrival = clients.get_and(|clients| clients.present > 0 || clients.lent);
        let running = async {
            let error = match length {
                Some(length) => repeat(&mut shared, length).await,
                None => core::future::pending().await,
            };
            log::error!("idle kernel: {error}");
            shared.kernel.stop().await;
            if error.is_lasting() {
                core::future::pending::<()>().await;
            }
            Timer::after(PAUSE).await;
        };
        let ended = select3(arrival, IDLE_KERNEL_CHANGED.wait(), running).await;
        if matches!(ended, Either3::Second(())) {
            absent = false;
        }
        shared.kernel.stop().await;
        if length.is_some() && !matches!(ended, Either3::Third(())) {
            log::info!("idle kernel: stopped");
        }
    }
}

/// Runs a kernel again and again until something goes wrong.
async fn repeat(shared: &mut Shared, length: usize) -> Error {
    loop {
        clock::wait(false).await;
        if let Err(error) = run(shared, length).await {
            return error;
        }
    }
}

/// The library that a key holds, read to the buffer for libraries; its length.
fn read(shared: &mut Shared, config: &Config, key: Key) -> Option<usize> {
    match config.read(key.name(), &mut shared.library[..]) {
        Ok(length) => length.filter(|&length| length > 0),
        // Said at boot.
        Err(kairos_config::store::Error::Card(_)) => None,
        Err(error) => {
            log::error!("configuration: {}: {error}", key.name());
            None
        }
    }
}

/// Runs the kernel in the buffer to its end.
async fn run(shared: &mut Shared, length: usize) -> Result<(), Error> {
    if !shared.library[..length].starts_with(b"\x7fELF") {
        return Err(Error::NotElf);
    }
    let Shared {
        kernel, library, rtio, ..
    } = shared;
    kernel.load(&library[..length]).await?;
    let frame = kernel.next_frame().await?;
    match frame.kind {
        Kind::LoadCompleted => {}
        Kind::LoadFailed => return Err(Error::Refused(shared.kernel.text()?)),
        kind => return Err(Error::Unexpected(kind)),
    }
    kernel.send(Kind::Run, &[], false).await?;
    let frame = match select(kernel.next_frame(), clock::wait(true)).await {
        Either::First(frame) => frame?,
        Either::Second(()) => return Err(Error::Clock),
    };
    match frame.kind {
        Kind::Finished => {
            kernel.ended();
            // They have been logged, and concern no later session.
            gateware::take_async_errors(*rtio);
            Ok(())
        }
        Kind::Exception => {
            let mut report = [0; 512];
            let length = kernel.read(&mut report)?;
            let mut text = heapless::String::new();
            let _ = match Summary::read(&report[..length]) {
                Some(summary) => fmt::write(&mut text, format_args!("{summary}")),
                None => fmt::write(&mut text, format_args!("an exception")),
            };
            Err(Error::Exception(text))
        }
        Kind::RpcSync | Kind::RpcAsync => Err(Error::Rpc),
        kind => Err(Error::Unexpected(kind)),
    }
}
