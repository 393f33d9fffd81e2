//! Client connections: limited in number, so that files remain for devices and plugins, and closed
//! if the client stays silent. Rights are checked per call (`access`).

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

/// Maximum number of connections, regardless of system limits.
const CONNECTIONS_MAX: u64 = 4096;
/// Connections may use the open-file limit divided by this.
const FILES_LEFT: u64 = 2;
/// Time limit for a client's greeting.
const GREETING: Duration = Duration::from_secs(5);
/// Size of the greeting in bytes: the HTTP/2 preface. An HTTP/1 request and the first TLS message
/// are longer.
const GREETING_BYTES: usize = 24;
/// Pause between attempts to accept a connection after a failure.
const PAUSE: Duration = Duration::from_millis(100);

/// An endless stream of incoming connections.
pub fn accept(listener: TcpListener) -> ReceiverStream<Result<Connection, Error>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let most = Arc::new(Semaphore::new(most()));
        let mut is_reported = false;
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = sender.closed() => return,
            };
            let (stream, from) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            let Ok(permit) = most.clone().try_acquire_owned() else {
                if !is_reported {
                    tracing::warn!(%from, "too many connections: further ones are closed immediately");
                }
                is_reported = true;
                continue;
            };
            is_reported = false;
            // Small messages must not be delayed.
            let _ = stream.set_nodelay(true);
            if sender.send(Ok(Connection::new(stream, permit))).await.is_err() {
                return;
            }
        }
    });
    ReceiverStream::new(receiver)
}

/// Maximum number of connections.
fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (files / FILES_LEFT).clamp(1, CONNECTIONS_MAX) as usize
}

/// A connection that ends if its client does not send a greeting in time.
pub struct Connection {
    stream: TcpStream,
    from: Option<SocketAddr>,
    /// Timeout and number of bytes received, until the greeting is complete.
    greeting_timeout: Option<(Pin<Box<Sleep>>, usize)>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    fn new(stream: TcpStream, permit: OwnedSemaphorePermit) -> Self {
        Self {
            from: stream.peer_addr().ok(),
            stream,
            greeting_timeout: Some((Box::pin(sleep(GREETING)), 0)),
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
        let Some((greeting_timeout, received)) = &mut this.greeting_timeout else {
            return read;
        };
        *received += buffer.filled().len() - before;
        if *received >= GREETING_BYTES {
            this.greeting_timeout = None;
        } else if read.is_pending() && greeting_timeout.as_mut().poll(context).is_ready() {
            tracing::debug!(from = ?this.from, "a client has sent no greeting");
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
