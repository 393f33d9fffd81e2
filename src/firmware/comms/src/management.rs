//! Management of a board (wire protocols, section 2): log, configuration, flash, reboot. Runs after
//! the greeting and the choice of a destination. The caller supplies the connection ([`Wire`]) and
//! the measurements ([`Measures`]).

use core::convert::Infallible;
use core::fmt::{self, Write as _};
use core::sync::atomic::{AtomicU32, Ordering};

use embassy_time::{with_deadline, with_timeout, Duration};
use heapless::String;
use kairos_chip::reset::Mark;
use kairos_config::{keys, store};
use kairos_proto::management::{is_answered, reply, Item, Kind, RequestDecoder, IMAGE_REFUSED};
use kairos_proto::paths::{self, Measurement};
use log::Level;
use static_cell::StaticCell;

use crate::close_reason::{CloseReason, Refusal};
use crate::config::Config;
use crate::fair_mutex::FairMutex;
use crate::health;
use crate::link::Links;
use crate::logger;
use crate::uncleared::uncleared;
use crate::wire::{patience, Lost, Wire};

mod gate;
mod upload;

use gate::Gate;

/// Number of concurrent clients.
pub const CLIENTS: usize = 4;
/// Longest value or image, in bytes: a boot image of the largest supported chip is 14 MB.
const DATA_MAX: usize = 16 * 1024 * 1024;
/// Time within which a client in the middle of a request must continue.
const DATA_TIMEOUT: Duration = Duration::from_secs(10);

/// Buffer for one value, image or log in transit. Tasks take turns.
type Data = FairMutex<&'static mut [u8], CLIENTS>;
/// Held by the client that pulls the log, until it leaves.
type Pulling = FairMutex<(), CLIENTS>;
/// Number of the newest client that pulls the log.
static PULLER: AtomicU32 = AtomicU32::new(0);

/// Measurements of the paths between processors, memory and logic.
#[allow(async_fn_in_trait, reason = "one executor, whose tasks never move between threads")]
pub trait Measures {
    /// Writes the answer's content to `buffer` and returns its length.
    async fn measure(&self, measurement: &Measurement, buffer: &mut [u8]) -> Result<usize, Refused>;
}

/// Why nothing was measured, to be sent to the host.
pub type Refused = (paths::Refusal, &'static str);

/// State shared by all clients.
pub struct Management {
    config: &'static Config,
    links: Links,
    data: Data,
    pulling: Pulling,
}

impl Management {
    /// Creates the state. Must be called once.
    pub fn new(config: &'static Config, links: Links) -> &'static Self {
        static MANAGEMENT: StaticCell<Management> = StaticCell::new();
        let buffer: &'static mut [u8; DATA_MAX] = uncleared!(DATA_MAX);
        let management: &'static Self = MANAGEMENT.init(Self {
            config,
            links,
            data: FairMutex::new(buffer),
            pulling: FairMutex::new(()),
        });
        config.set_background_work(&management.links);
        management
    }

    /// Serves a client whose destination is this board, until either side ends the connection. The
    /// returned mark is to be acted on after the connection has been closed.
    pub async fn serve(&'static self, wire: &mut impl Wire, instrument: &impl Measures) -> Option<Mark> {
        let connection = Connection {
            wire,
            instrument,
            config: self.config,
            links: self.links,
            data: &self.data,
            pulling: &self.pulling,
            gate: Gate::new(self.config),
            reason: Reason::new(),
        };
        let Err(reason) = connection.run().await;
        reason.log("management");
        let is_answered = match reason {
            CloseReason::Restart(mark) => return Some(mark),
            CloseReason::Protocol(error) => is_answered(error),
            CloseReason::Refused(_) => true,
            _ => false,
        };
        if is_answered {
            let _ = wire.write_all(&reply::ERROR).await;
        }
        None
    }
}

struct Connection<'a, W, M> {
    wire: &'a mut W,
    instrument: &'a M,
    config: &'static Config,
    links: Links,
    data: &'static Data,
    pulling: &'static Pulling,
    gate: Gate,
    /// Why the latest failed request has failed.
    reason: Reason,
}

/// Text of a failure, truncated.
type Reason = String<160>;

impl<W: Wire, M: Measures> Connection<'_, W, M> {
    async fn run(mut self) -> Result<Infallible, CloseReason> {
        let mut decoder = self.gate.decoder();
        let mut buffer = [0; 1024];
        loop {
            let length = self.read(&mut buffer).await?;
            if length == 0 {
                return Err(match decoder.in_request() {
                    true => CloseReason::CutOff,
                    false => CloseReason::Closed,
                });
            }
            let mut input = &buffer[..length];
            while let Some(item) = decoder.next(&mut input)? {
                // Data are consumed by the request that announces them.
                let Item::Request(kind) = item else { continue };
                if !self.gate.open && !matches!(kind, Kind::Challenge | Kind::Authenticate) {
                    return Err(CloseReason::Refused(Refusal::KeyRequired));
                }
                self.request(&mut decoder, &mut input).await?;
            }
        }
    }

    /// Executes the newest request. Its data, if any, are the next items that the decoder finds in
    /// `input` or in the bytes received after it.
    async fn request(&mut self, decoder: &mut RequestDecoder, input: &mut &[u8]) -> Result<(), CloseReason> {
        let request = decoder.request();
        let config = self.config;
        let key = &request.key;
        match request.kind {
            Kind::Challenge => {
                let challenge = self.gate.challenge(config)?;
                self.send(&challenge).await
            }
            Kind::Authenticate => {
                self.gate.authenticate(&request.proof)?;
                self.send(&reply::SUCCESS).await
            }
            Kind::Measure => {
                let measurement = request.measurement;
                self.measure(&measurement).await
            }
            Kind::Flash | Kind::ConfigWrite | Kind::Batch => self.receive(decoder, input).await,
            Kind::GetLog => {
                let mut buffer = self.data.lock().await;
                let length = logger::copy(&mut buffer, false);
                self.answer(&reply::log_content(length as u32), &buffer[..length]).await
            }
            Kind::Links => self.text(|connection, out| connection.links.describe(out)).await,
            Kind::Health => {
                self.text(|connection, out| health::describe(connection.links, out))
                    .await
            }
            Kind::Descriptor => match kairos_pl::descriptor_bytes() {
                [] => {
                    self.fail(
                        Level::Warn,
                        format_args!("management: there is no gateware to describe"),
                    )
                    .await
                }
                bytes => self.answer(&reply::log_content(bytes.len() as u32), bytes).await,
            },
            Kind::FailureReason => {
                let reason = self.reason.clone();
                let head = reply::log_content(reason.len() as u32);
                self.answer(&head, reason.as_bytes()).await
            }
            Kind::ClearLog => {
                logger::clear();
                self.send(&reply::SUCCESS).await
            }
            Kind::PullLog => self.pull().await,
            Kind::DebugAllocator => {
                // There is no allocator on this core; its memory layout is fixed at build time.
                log::info!("no heap on core 0; longest value or image {DATA_MAX} bytes");
                Ok(())
            }
            Kind::Reboot | Kind::Netboot => {
                let (mark, into) = match request.kind {
                    Kind::Reboot => (Mark::Nothing, ""),
                    _ => (Mark::Netboot, " into the loader"),
                };
                log::info!("reboot{into} requested");
                self.send(&reply::REBOOT_IMMINENT).await?;
                Err(CloseReason::Restart(mark))
            }
            Kind::ConfigRead if keys::is_secret(key.as_str()) => {
                self.fail(
                    Level::Warn,
                    format_args!("configuration: {} cannot be read", key.as_str()),
                )
                .await
            }
            Kind::ConfigRead => {
                let mut buffer = self.data.lock().await;
                match config.read(key.as_str(), &mut buffer) {
                    Ok(Some(length)) => self.answer(&reply::config_data(length as u32), &buffer[..length]).await,
                    Ok(None) => {
                        // Not logged: a host may look for a key that is not set.
                        self.reason.clear();
                        let _ = self.reason.push_str("configuration: no such key");
                        self.send(&reply::ERROR).await
                    }
                    Err(error) => self.fail_access(key.as_str(), error).await,
                }
            }
            Kind::ConfigRemove | Kind::ConfigErase => {
                let (what, changed) = match request.kind {
                    Kind::ConfigRemove => (key.as_str(), config.remove(key.as_str())),
                    _ => ("erase", config.erase()),
                };
                self.changed(what, changed).await
            }
        }
    }

    /// Answers with a text.
    async fn text(&mut self, describe: impl FnOnce(&Self, &mut Text) -> fmt::Result) -> Result<(), CloseReason> {
        let mut buffer = self.data.lock().await;
        let mut text = Text {
            buffer: &mut buffer,
            length: 0,
        };
        // Always fits.
        let _ = describe(self, &mut text);
        let length = text.length;
        self.answer(&reply::log_content(length as u32), &buffer[..length]).await
    }

    async fn measure(&mut self, measurement: &Measurement) -> Result<(), CloseReason> {
        let mut buffer = self.data.lock().await;
        match self.instrument.measure(measurement, &mut buffer).await {
            Ok(length) => self.answer(&reply::measured(length as u32), &buffer[..length]).await,
            Err((refusal, text)) => {
                self.send(&reply::refused(1 + text.len() as u32)).await?;
                self.answer(&[refusal as u8], text.as_bytes()).await
            }
        }
    }

    /// Logs why a request has failed, keeps the reason for the client, and answers Error.
    async fn fail(&mut self, level: Level, reason: fmt::Arguments<'_>) -> Result<(), CloseReason> {
        self.reason.clear();
        // A reason that is too long is truncated.
        let _ = self.reason.write_fmt(reason);
        log::log!(level, "{reason}");
        self.send(&reply::ERROR).await
    }

    /// Answers a request to change the configuration.
    async fn changed(&mut self, what: &str, result: Result<(), store::Error>) -> Result<(), CloseReason> {
        match result {
            Ok(()) => self.send(&reply::SUCCESS).await,
            Err(error) => self.fail_access(what, error).await,
        }
    }

    async fn fail_access(&mut self, to: &str, error: store::Error) -> Result<(), CloseReason> {
        self.fail(Level::Warn, format_args!("configuration: {to}: {error}"))
            .await
    }

    async fn fail_boot_image(&mut self, reason: impl fmt::Display) -> Result<(), CloseReason> {
        self.fail(Level::Error, format_args!("{IMAGE_REFUSED}{reason}")).await
    }

    /// Sends the log as it grows, until the client leaves or is superseded.
    async fn pull(&mut self) -> Result<(), CloseReason> {
        let number = PULLER.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        logger::GROWN.signal(());
        // The previous client takes the signal, which supports only one waiter, and leaves.
        let _turn = self.pulling.lock().await;
        loop {
            if PULLER.load(Ordering::Relaxed) != number {
                return Err(CloseReason::Superseded);
            }
            let mut buffer = self.data.lock().await;
            let length = logger::copy(&mut buffer, true);
            if length > 0 {
                self.answer(&(length as u32).to_le_bytes(), &buffer[..length]).await?;
                continue;
            }
            drop(buffer);
            let mut byte = [0];
            match embassy_futures::select::select(logger::GROWN.wait(), self.wire.read(&mut byte)).await {
                embassy_futures::select::Either::First(()) => {}
                // The client sends nothing more; a read completes only when it leaves.
                embassy_futures::select::Either::Second(Ok(0) | Err(_)) => return Err(CloseReason::Closed),
                embassy_futures::select::Either::Second(Ok(_)) => {}
            }
        }
    }

    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, CloseReason> {
        let read = self.wire.read(buffer);
        if self.gate.open {
            return Ok(read.await?);
        }
        let late = |_| CloseReason::Refused(Refusal::Unauthenticated);
        Ok(with_deadline(self.gate.deadline, read).await.map_err(late)??)
    }

    async fn answer(&mut self, head: &[u8], content: &[u8]) -> Result<(), CloseReason> {
        self.send(head).await?;
        self.send(content).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), CloseReason> {
        with_timeout(patience(bytes.len()), self.wire.write_all(bytes))
            .await
            .unwrap_or_else(|_| {
                log::warn!("management: a client is not reading its data");
                Err(Lost)
            })?;
        Ok(())
    }
}

/// A text written to the start of `buffer`.
struct Text<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let space = self.buffer.get_mut(self.length..self.length + text.len());
        space.ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}
