//! Kernels that run without a host (wire protocols, section 1.12): the startup kernel once at boot,
//! before the first session, and the idle kernel whenever no session is served. They are in the
//! configuration, as ELF files or, with libraries for satellites, as archives.

use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use embassy_futures::select::{select, select3, Either, Either3};
use embassy_time::{Duration, Instant, Timer};
use kairos_config::keys::Key;
use kairos_intercore::Kind;
use kairos_proto::archive;
use kairos_proto::summary::Summary;

use super::{Owner, Shared, CLIENTS};
use kairos_comms::config::{Config, IDLE_KERNEL_CHANGED};
use kairos_comms::kernel_core::Failure;
use kairos_comms::kernel_event::KernelEvent;
use kairos_comms::{clock, gateware};

/// Whether an idle kernel is configured, as far as is known.
pub static IS_SET: AtomicBool = AtomicBool::new(false);

/// Time after a start within which the boards of an archive must be reachable.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(2);
const ARRIVAL_INTERVAL: Duration = Duration::from_millis(10);

/// Pause before restarting an idle kernel that has failed.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Why a kernel did not complete.
enum Error {
    /// The configured value is not a library.
    NotElf,
    Archive(archive::Wrong),
    /// A board that has a library in the archive does not answer.
    Silent(u8),
    Refused(heapless::String<160>),
    Exception(heapless::String<320>),
    Rpc,
    Kernel(Failure),
    Clock,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotElf => write!(
                f,
                "it is neither an ELF file nor an archive ('kairos compile' makes them)"
            ),
            Error::Archive(wrong) => write!(f, "{wrong}"),
            Error::Silent(board) => write!(f, "destination {board} does not answer"),
            Error::Refused(text) => write!(f, "it cannot be loaded: {text}"),
            Error::Exception(text) => write!(f, "it ended with {text}"),
            Error::Rpc => write!(f, "it called the host, but there is none: stopped"),
            Error::Kernel(failure) => write!(f, "{failure}"),
            Error::Clock => write!(f, "it has no RTIO clock: stopped"),
        }
    }
}

impl Error {
    /// Whether another attempt would fail in the same way.
    fn is_lasting(&self) -> bool {
        matches!(self, Error::NotElf | Error::Archive(_) | Error::Refused(_) | Error::Rpc)
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
    shared.boards.close();
}

/// Runs the idle kernel repeatedly while no session is served, for ever.
#[embassy_executor::task]
pub async fn idle(owner: &'static Owner, config: &'static Config) {
    // Avoids reading the card after each session when there is no idle kernel.
    let mut absent = false;
    loop {
        CLIENTS.wait(|state| state.is_unused()).await;
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
        let arrival = CLIENTS.wait(|state| state.served > 0 || state.is_reserved);
        let running = async {
            let error = match length {
                Some(length) => repeat(&mut shared, length).await,
                None => core::future::pending().await,
            };
            log::error!("idle kernel: {error}");
            shared.kernel.stop().await;
            shared.boards.close();
            if error.is_lasting() {
                core::future::pending::<()>().await;
            }
            Timer::after(RESTART_PAUSE).await;
        };
        let ended = select3(arrival, IDLE_KERNEL_CHANGED.wait(), running).await;
        if matches!(ended, Either3::Second(())) {
            absent = false;
        }
        shared.kernel.stop().await;
        shared.boards.close();
        if length.is_some() && !matches!(ended, Either3::Third(())) {
            log::info!("idle kernel: stopped");
        }
    }
}

/// Runs a kernel repeatedly until an error occurs.
async fn repeat(shared: &mut Shared, length: usize) -> Error {
    loop {
        clock::wait(false).await;
        if let Err(error) = run(shared, length).await {
            return error;
        }
    }
}

/// Reads a key's library into the library buffer; returns its length.
fn read(shared: &mut Shared, config: &Config, key: Key) -> Option<usize> {
    match config.read(key.name(), &mut shared.library[..]) {
        Ok(length) => length.filter(|&length| length > 0),
        // Logged at boot.
        Err(kairos_config::store::Error::Card(_)) => None,
        Err(error) => {
            log::error!("configuration: {}: {error}", key.name());
            None
        }
    }
}

/// Locates this board's library in the buffer; keeps those of other boards for them.
async fn unpack(shared: &mut Shared, length: usize) -> Result<Range<usize>, Error> {
    let Shared { library, boards, .. } = shared;
    let content = &library[..length];
    if content.starts_with(b"\x7fELF") {
        return Ok(0..length);
    }
    if !archive::is_archive(content) {
        return Err(Error::NotElf);
    }
    let mut own = None;
    for part in archive::parts(content) {
        let part = part.map_err(Error::Archive)?;
        let Some((number, destination)) = part.subkernel else {
            own = Some(part.place);
            continue;
        };
        let kept = match boards.refusal(destination) {
            Some(reason) => Err(reason),
            None => boards.keep(number, destination, &content[part.place]),
        };
        kept.map_err(|reason| Error::Refused(heapless::String::try_from(reason.as_str()).unwrap_or_default()))?;
        let deadline = Instant::now() + ARRIVAL_TIMEOUT;
        while !boards.is_reachable(destination) {
            if Instant::now() >= deadline {
                return Err(Error::Silent(destination));
            }
            Timer::after(ARRIVAL_INTERVAL).await;
        }
    }
    own.ok_or(Error::Archive(archive::Wrong::NoMain))
}

/// Runs the kernel in the buffer to its end.
async fn run(shared: &mut Shared, length: usize) -> Result<(), Error> {
    let range = unpack(shared, length).await?;
    let Shared { kernel, library, .. } = shared;
    kernel.load(&library[range]).await?;
    let frame = kernel.next_frame().await?;
    match frame.kind {
        Kind::LoadCompleted => {}
        Kind::LoadFailed => return Err(Error::Refused(shared.kernel.text()?)),
        kind => return Err(Failure::Unexpected(kind).into()),
    }
    kernel.send(Kind::Run, &[], false).await?;
    let ended = match select(until_end(shared), clock::wait(true)).await {
        Either::First(ended) => ended,
        Either::Second(()) => Err(Error::Clock),
    };
    shared.boards.end().await;
    ended
}

/// Serves the kernel's requests to other boards until it ends.
async fn until_end(shared: &mut Shared) -> Result<(), Error> {
    loop {
        let Shared {
            kernel, boards, rtio, ..
        } = &mut *shared;
        let deadline = boards.deadline();
        let Some(frame) = kernel.next_frame_or(deadline, |cx| boards.poll(cx)).await? else {
            boards.process_messages(kernel).await?;
            continue;
        };
        match KernelEvent::from(frame.kind) {
            KernelEvent::Log => kernel.log().await?,
            KernelEvent::Finished => {
                kernel.ended();
                // They have been logged, and do not concern a later session.
                gateware::take_async_errors(*rtio);
                return Ok(());
            }
            KernelEvent::Exception => {
                let mut report = [0; 512];
                let length = kernel.read(&mut report)?;
                let mut text = heapless::String::new();
                let _ = match Summary::read(&report[..length]) {
                    Some(summary) => fmt::write(&mut text, format_args!("{summary}")),
                    None => fmt::write(&mut text, format_args!("an exception")),
                };
                return Err(Error::Exception(text));
            }
            KernelEvent::Rpc { .. } => return Err(Error::Rpc),
            KernelEvent::Board => boards.serve(kernel, &frame).await?,
        }
    }
}
