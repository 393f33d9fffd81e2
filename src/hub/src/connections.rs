//! Connections of clients: no more than the hub can have beside those to its devices and plugins,
//! and none of whom says nothing. Who may do what is asked of each call (`access`).

use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::{getrlimit, Resource};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, Sleep};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// Connections at most, whatever the system allows.
const CONNECTIONS_MAX: u64 = 4096;
/// Open files that are left for all else.
const FILES_LEFT: u64 = 2;
/// Time that a client has for its greeting.
const GREETING: Duration = Duration::from_secs(5);
/// Bytes of that: what HTTP/2 begins with. A request of HTTP/1 and the first message of TLS are longer.
const GREETING_BYTES: usize = 24;
/// Between attempts to accept when the system has no file for it.
const PAUSE: Duration = Duration::from_millis(100);

/// Those that come in, one after the other, without end.
pub fn accept(listener: TcpListener) -> ReceiverStream<Result<Connection, Error>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let most = Arc::new(Semaphore::new(most()));
        let mut is_told = false;
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = sender.closed() => return,
            };
            let (stream, from) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!("a client was rejected: {error}");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            let Ok(permit) = most.clone().try_acquire_owned() else {
                if !is_told {
                    tracing::warn!(%from, "too many connections: further ones are closed immediately");
                }
                is_told = true;
                continue;
            };
            is_told = false;
            // What is small is not to wait for more.
            let _ = stream.set_nodelay(true);
            if sender.send(Ok(Connection::new(stream, permit))).await.is_err() {
                return;
            }
        }
    });
    ReceiverStream::new(receiver)
}

/// How many there may be.
fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (files / FILES_LEFT).clamp(1, CONNECTIONS_MAX) as usize
}

/// A connection, which ends if its client does not begin in time.
pub struct Connection {
    stream: TcpStream,
    from: Option<SocketAddr>,
    /// Until it has greeted.
    patience: Option<(Pin<Box<Sleep>>, usize)>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, permit: OwnedSemaphorePermit) -> Self {
        Self {
            from: stream.peer_addr().ok(),
            stream,
            patience: Some((Box::pin(sleep(GREETING)), 0)),
            _permit: permit,
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<(), Error>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        let Some((patience, greeted)) = &mut this.patience else {
            return read;
        };
        *greeted += buffer.filled().len() - before;
        if *greeted >= GREETING_BYTES {
            this.patience = None;
        } else if read.is_pending() && patience.as_mut().poll(context).is_ready() {
            tracing::debug!(from = ?this.from, "a client says nothing");
            return Poll::Ready(Err(ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Error>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize, Error>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
