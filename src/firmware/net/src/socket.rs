//! Sockets, as used by the services. Each serves one client after another; all of its futures are
//! cancel-safe.

use core::future::poll_fn;
use core::task::{Context, Poll};

use smoltcp::socket::tcp::{self, RecvError, State};
use smoltcp::time::Duration;
use smoltcp::wire::IpEndpoint;

use crate::stack::{Owner, SocketMemory, Stack};

/// The connection was reset, timed out, or closed by this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error;

/// A socket for one client of a port at a time.
pub struct Socket {
    stack: &'static Stack,
    index: usize,
}

impl Socket {
    /// Creates a socket for clients of `port`, with its buffers. Sockets of the same port take
    /// clients in turn.
    ///
    /// # Panics
    /// If the stack already has [`SOCKETS`](crate::SOCKETS).
    pub fn new(
        stack: &'static Stack,
        port: u16,
        memory: &'static mut SocketMemory,
        receive: &'static mut [u8],
        transmit: &'static mut [u8],
    ) -> Self {
        let index = stack.add(port, memory, receive, transmit);
        Self { stack, index }
    }

    fn with<R>(&self, f: impl FnOnce(&mut tcp::Socket<'static>) -> R) -> R {
        f(self.stack.0.borrow_mut().slots[self.index].socket())
    }

    /// Accesses the socket; the first result of `f` is whether it is due to send.
    fn work<R>(&self, f: impl FnOnce(&mut tcp::Socket<'static>) -> (bool, R)) -> R {
        let mut inner = self.stack.0.borrow_mut();
        let (due, result) = f(inner.slots[self.index].socket());
        inner.due |= u32::from(due) << self.index;
        result
    }

    /// Drops a client that does not answer for `timeout` seconds, and probes it after `keep_alive`
    /// seconds of silence.
    pub fn set_times(&mut self, timeout: u64, keep_alive: u64) {
        self.with(|socket| {
            socket.set_timeout(Some(Duration::from_secs(timeout)));
            socket.set_keep_alive(Some(Duration::from_secs(keep_alive)));
        });
    }

    /// Waits for a client. Any previous connection is reset.
    pub async fn accept(&mut self) {
        self.abort();
        poll_fn(|cx| {
            let slot = &mut self.stack.0.borrow_mut().slots[self.index];
            let socket = slot.socket();
            socket.register_send_waker(cx.waker());
            match socket.state() {
                State::Closed | State::Listen => {
                    slot.owner = Owner::Waiting;
                    Poll::Pending
                }
                State::SynReceived => Poll::Pending,
                _ => Poll::Ready(()),
            }
        })
        .await;
    }

    /// The client's address and port.
    pub fn remote(&self) -> Option<IpEndpoint> {
        self.with(|socket| socket.remote_endpoint())
    }

    /// Waits until [`read`](Self::read) would not block, including at the end of the stream.
    pub async fn readable(&self) {
        poll_fn(|cx| self.poll_readable(cx)).await;
    }

    /// Like [`readable`](Self::readable), to be polled from another future.
    pub fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.with(|socket| {
            if socket.can_recv() || !socket.may_recv() {
                return Poll::Ready(());
            }
            socket.register_recv_waker(cx.waker());
            Poll::Pending
        })
    }

    /// Reads available bytes, at least one; 0 bytes at the end of the stream.
    pub async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        poll_fn(|cx| {
            let received = self.receive(cx, |socket| {
                let length = socket.recv_slice(buffer)?;
                Ok((length > 0 || buffer.is_empty()).then_some(length))
            });
            received.map(|read| read.map(Option::unwrap_or_default))
        })
        .await
    }

    /// Reads until the buffer is full; false if the stream ends before.
    pub async fn read_exact(&mut self, mut buffer: &mut [u8]) -> Result<bool, Error> {
        while !buffer.is_empty() {
            match self.read(buffer).await? {
                0 => return Ok(false),
                length => buffer = &mut buffer[length..],
            }
        }
        Ok(true)
    }

    /// Lets `f` consume bytes of the buffer; it returns their number. At the end of the stream it
    /// receives none.
    pub async fn read_with<R>(&mut self, f: impl FnOnce(&mut [u8]) -> (usize, R)) -> Result<R, Error> {
        let mut f = Some(f);
        poll_fn(|cx| {
            let received = self.receive(cx, |socket| match socket.can_recv() {
                true => socket.recv(|data| call(&mut f, data)).map(Some),
                // Returns the reason.
                false => socket.recv(|_| (0, None)),
            });
            received.map(|read| read.map(|read| read.unwrap_or_else(|| call(&mut f, &mut []).1)))
        })
        .await
    }

    /// Lets `f` write into the buffer, once there is space; it returns the number of bytes.
    pub async fn write_with<R>(&mut self, f: impl FnOnce(&mut [u8]) -> (usize, R)) -> Result<R, Error> {
        let mut f = Some(f);
        poll_fn(|cx| {
            self.work(|socket| {
                if socket.may_send() && !socket.can_send() {
                    socket.register_send_waker(cx.waker());
                    return (false, Poll::Pending);
                }
                let written = socket.send(|space| call(&mut f, space));
                (true, Poll::Ready(written.map_err(|_| Error)))
            })
        })
        .await
    }

    /// Writes all of `bytes` into the buffer, waiting for space.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        poll_fn(|cx| {
            self.work(|socket| {
                while !bytes.is_empty() {
                    match socket.send_slice(bytes) {
                        Ok(0) => {
                            socket.register_send_waker(cx.waker());
                            return (true, Poll::Pending);
                        }
                        Ok(length) => bytes = &bytes[length..],
                        Err(_) => return (false, Poll::Ready(Err(Error))),
                    }
                }
                (true, Poll::Ready(Ok(())))
            })
        })
        .await
    }

    /// Waits until the client has acknowledged all data, and a close; or is lost.
    pub async fn flush(&mut self) {
        poll_fn(|cx| {
            self.with(|socket| {
                let pending = match socket.state() {
                    State::Closed => socket.remote_endpoint().is_some(),
                    State::FinWait1 | State::Closing | State::LastAck => true,
                    _ => socket.send_queue() > 0,
                };
                if !pending {
                    return Poll::Ready(());
                }
                socket.register_send_waker(cx.waker());
                Poll::Pending
            })
        })
        .await;
    }

    /// Ends the stream to the client, after the data already written.
    pub fn close(&mut self) {
        self.work(|socket| (true, socket.close()));
    }

    /// Resets the connection.
    pub fn abort(&mut self) {
        self.work(|socket| (true, socket.abort()));
    }

    /// Takes from the receive buffer: `take` returns `Ok(None)` if it is empty. The result is
    /// `None` at the end of the stream.
    fn receive<R>(
        &self,
        cx: &mut Context<'_>,
        take: impl FnOnce(&mut tcp::Socket<'static>) -> Result<Option<R>, RecvError>,
    ) -> Poll<Result<Option<R>, Error>> {
        self.work(|socket| {
            // The last window announced to the client may be too small for it to continue.
            let crowded = socket.recv_queue() > socket.recv_capacity() / 2;
            let taken = match take(socket) {
                Ok(None) => {
                    socket.register_recv_waker(cx.waker());
                    return (false, Poll::Pending);
                }
                Ok(taken) => Ok(taken),
                Err(RecvError::Finished) => Ok(None),
                Err(RecvError::InvalidState) => Err(Error),
            };
            (crowded, Poll::Ready(taken))
        })
    }
}

/// Calls an `FnOnce` stored in an option.
fn call<A, R>(f: &mut Option<impl FnOnce(A) -> R>, argument: A) -> R {
    let f = f.take().expect("a future that is ready is not polled again");
    f(argument)
}
