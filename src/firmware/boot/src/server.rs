//! The network boot service (`kairos_proto::netboot`): one client at a time, until complete files
//! are to be booted.

use core::future::pending;
use core::ops::ControlFlow;

use embassy_time::{Duration, Instant};
use kairos_boot::netboot::{text, Check, Connection, Files, Output, Text};
use kairos_chip::setup::timer_count;
use kairos_config::auth::{self, Access, Nonces};
use kairos_intercore::memory::RUNTIME;
use kairos_net::{Error, Socket};
use kairos_proto::bitstream::Bitstream;
use kairos_proto::firmware::Firmware;
use kairos_proto::netboot::Kind;

use crate::chip;
use crate::config::Config;
use crate::network::{before, Hardware};

/// Time after which a silent client is dropped.
const SILENCE: Duration = Duration::from_secs(20);
/// Time limit for the last answer to reach the client.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// Checks whether a file can be booted on this chip.
struct Checker;

impl Check for Checker {
    fn check(&mut self, kind: Kind, content: &[u8]) -> Result<(), Text> {
        match kind {
            Kind::Firmware => match Firmware::parse(content, RUNTIME) {
                Ok(_) => Ok(()),
                Err(error) => Err(text(format_args!("{error}"))),
            },
            Kind::Gateware => match Bitstream::find(content, chip::idcode()) {
                Ok(_) => Ok(()),
                Err(error) => Err(text(format_args!("{error}"))),
            },
        }
    }
}

/// The present time at the highest available resolution, for nonces.
fn time() -> [u8; 12] {
    let mut time = [0; 12];
    time[..8].copy_from_slice(&Instant::now().as_ticks().to_le_bytes());
    time[8..].copy_from_slice(&timer_count().to_le_bytes());
    time
}

/// Serves clients until one asks to boot its files, or until none has offered anything for `wait`
/// seconds.
pub fn serve(hardware: &mut Hardware, config: &mut Config, files: &mut Files, wait: Option<u32>) {
    let access = config.access();
    let closed = access == Access::Closed;
    if closed {
        log::error!(
            "{} must have {} to {} bytes: nothing is accepted from the network",
            auth::KEY,
            auth::KEY_MIN,
            auth::KEY_MAX
        );
    }
    let key = access.key();
    let mut nonces = Nonces::new();
    nonces.stir(config.read(auth::SEED, &mut [0; auth::VALUE_MAX]).unwrap_or_default());
    let network = hardware.start(config);
    let mut clients = Clients {
        socket: &mut network.socket,
        files,
        key,
        nonces,
        wait,
        last_offer: Instant::now(),
    };
    network.runner.block_on(async {
        match closed {
            true => before(clients.end(), pending()).await,
            false => before(None, clients.serve()).await,
        };
        clients.socket.abort();
        let _ = before(Some(Instant::now() + CLOSE_TIMEOUT), clients.socket.flush()).await;
    });
}

/// Serves clients, one after the other.
struct Clients<'a, 'm> {
    socket: &'a mut Socket,
    files: &'a mut Files<'m>,
    key: Option<&'a [u8]>,
    nonces: Nonces,
    /// Seconds without an offer after which to stop waiting.
    wait: Option<u32>,
    last_offer: Instant,
}

/// Whether to wait for another client after one has been served, or to boot.
type Next = ControlFlow<()>;

impl Clients<'_, '_> {
    /// When to stop waiting for clients.
    fn end(&self) -> Option<Instant> {
        let wait = self.wait.map(|seconds| Duration::from_secs(seconds.into()));
        wait.map(|wait| self.last_offer + wait)
    }

    /// Serves clients until it is time to boot.
    async fn serve(&mut self) {
        while before(self.end(), self.socket.accept()).await.is_some() {
            let nonce = self.nonces.next(self.key.unwrap_or_default(), &time());
            let next = self.client(Connection::new(self.key, nonce)).await;
            if let Ok(ControlFlow::Break(())) = next {
                return;
            }
        }
    }

    /// Serves one client. An error means that the connection is lost.
    async fn client(&mut self, mut client: Connection<'_>) -> Result<Next, Error> {
        loop {
            let output = match self.advance(&mut client).await? {
                Ok(output) => output,
                Err(next) => return Ok(next),
            };
            if client.has_offered() {
                self.last_offer = Instant::now();
            }
            match output {
                Output::None => {}
                Output::Send(bytes) => self.send(&bytes).await?,
                Output::Refuse(bytes, reason) => {
                    log::warn!("refused: {reason}");
                    self.send(&bytes).await?;
                    self.close().await;
                    return Ok(ControlFlow::Continue(()));
                }
                Output::Boot(bytes) => {
                    self.send(&bytes).await?;
                    self.close().await;
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }

    /// Processes some input; returns the resulting action, or what follows the end of the connection.
    async fn advance(&mut self, client: &mut Connection<'_>) -> Result<Result<Output, Next>, Error> {
        // Also without input: a file that was complete already produces none.
        let (_, output) = client.advance(self.files, &mut Checker, &[]);
        if !matches!(output, Output::None) {
            return Ok(Ok(output));
        }
        let (end, silence) = (self.end(), Instant::now() + SILENCE);
        let limit = end.map_or(silence, |end| end.min(silence));
        let files = &mut *self.files;
        let read = self.socket.read_with(|data| {
            let (taken, output) = client.advance(files, &mut Checker, data);
            (taken, (data.is_empty(), output))
        });
        match before(Some(limit), read).await {
            Some(read) => match read? {
                (false, output) => Ok(Ok(output)),
                (true, _) => {
                    self.close().await;
                    Ok(Err(ControlFlow::Continue(())))
                }
            },
            // Nothing was offered in time.
            None if end == Some(limit) => Ok(Err(ControlFlow::Break(()))),
            None => {
                log::warn!("a silent client was disconnected");
                Ok(Err(ControlFlow::Continue(())))
            }
        }
    }

    /// Sends an answer; fails if the client does not accept it in time.
    async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let sent = before(Some(Instant::now() + SILENCE), self.socket.write_all(bytes)).await;
        sent.unwrap_or(Err(Error))
    }

    /// Closes the connection, after giving the last answer time to reach the client.
    async fn close(&mut self) {
        self.socket.close();
        let end = Some(Instant::now() + CLOSE_TIMEOUT);
        before(end, self.socket.flush()).await;
        // A reset would make the client's system discard unread data: let it close first.
        let mut rest = [0; 64];
        before(end, async {
            while matches!(self.socket.read(&mut rest).await, Ok(1..)) {}
        })
        .await;
    }
}
