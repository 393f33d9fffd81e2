//! Sockets, as the services use them. Each serves one client after another; all of its futures may
//! be dropped at any time without losing anything.

use core::future::poll_fn;
use core::task::{Context, Poll};

use smoltcp::socket::tcp::{self, RecvError, State};
use smoltcp::time::Duration;
use smoltcp::wire::IpEndpoint;

use crate::stack::{Owner, Place, Stack};

/// The connection was reset, the client has not answered for too long, or this side has closed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error;

/// The place for one client at a time of a port.
pub struct Socket {
    stack: &'static Stack,
    index: usize,
}

impl Socket {
    /// A socket for clients of `port`, with its buffers. Those of one port take turns.
    ///
    /// # Panics
    /// If the stack has [`SOCKETS`](crate::SOCKETS) already.
    pub fn new(
        stack: &'static Stack,
        port: u16,
        place: &'static mut Place,
        receive: &'static mut [u8],
        transmit: &'static mut [u8],
    ) -> Self {
        let index = stack.add(port, place, receive, transmit);
        Self { stack, index }
    }

    fn with<R>(&self, f: impl FnOnce(&mut tcp::Socket<'static>) -> R) -> R {
        f(self.stack.0.borrow_mut().slots[self.index].socket())
    }

    /// The same; the socket has something to say if the result says so.
    fn work<R>(&self, f: impl FnOnce(&mut tcp::Socket<'static>) -> (bool, R)) -> R {
        let mut inner = self.stack.0.borrow_mut();
        let (due, result) = f(inner.slots[self.index].socket());
        inner.due |= u32::from(due) << self.index;
        result
    }

    /// A client that does not answer for `timeout` seconds is lost; it is asked after `keep_alive`
    /// seconds of silence.
    pub fn set_times(&mut self, timeout: u64, keep_alive: u64) {
        self.with(|socket| {
            socket.set_timeout(Some(Duration::from_secs(timeout)));
            socket.set_keep_alive(Some(Duration::from_secs(keep_alive)));
        });
    }

    /// Waits for a client. What is left of the one before is reset.
    pub async fn accept(&mut self) {
        self.abort();
        poll_fn(|cx| {
            let slot = &mut self.stack.0.borrow_mut().slots[self.index];
            let socket = slot.socket();
            socket.register_send_waker(cx.waker());
            match socket.state() {
                State::Closed | State::Listen => {
                    slot.owner = Owner::Nobody;
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

    /// Waits until [`read`](Self::read) has something to say, be it that there is no more.
    pub async fn readable(&self) {
        poll_fn(|cx| self.poll_readable(cx)).await;
    }

    /// The same within another future.
    pub fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.with(|socket| {
            if socket.can_recv() || !socket.may_recv() {
                return Poll::Ready(());
            }
            socket.register_recv_waker(cx.waker());
            Poll::Pending
        })
    }

    /// Reads what is there, at least a byte; 0 bytes at the end of the stream.
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

    /// Reads until the buffer is full. False if the stream ends before.
    pub async fn read_exact(&mut self, mut buffer: &mut [u8]) -> Result<bool, Error> {
        while !buffer.is_empty() {
            match self.read(buffer).await? {
                0 => return Ok(false),
                length => buffer = &mut buffer[length..],
            }
        }
        Ok(true)
    }

    /// Lets `f` take bytes from the buffer, as many as it returns. At the end of the stream it is given none.
    pub async fn read_with<R>(&mut self, f: impl FnOnce(&mut [u8]) -> (usize, R)) -> Result<R, Error> {
        let mut f = Some(f);
        poll_fn(|cx| {
            let received = self.receive(cx, |socket| match socket.can_recv() {
                true => socket.recv(|data| call(&mut f, data)).map(Some),
                // Tells why there is nothing.
                false => socket.recv(|_| (0, None)),
            });
            received.map(|read| read.map(|read| read.unwrap_or_else(|| call(&mut f, &mut []).1)))
        })
        .await
    }

    /// Lets `f` write into the buffer, where there is room; it returns how many bytes.
    pub async fn write_with<R>(&mut self, f: impl FnOnce(&mut [u8]) -> (usize, R)) -> Result<R, Error> {
        let mut f = Some(f);
        poll_fn(|cx| {
            self.work(|socket| {
                if socket.may_send() && !socket.can_send() {
                    socket.register_send_waker(cx.waker());
                    return (false, Poll::Pending);
                }
                let written = socket.send(|room| call(&mut f, room));
                (true, Poll::Ready(written.map_err(|_| Error)))
            })
        })
        .await
    }

    /// Writes all of `bytes` into the buffer, waiting for room.
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

    /// Waits until the client has all that was written, and knows of a close; or is lost.
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

    /// Ends the stream to the client, behind what was written.
    pub fn close(&mut self) {
        self.work(|socket| (true, socket.close()));
    }

    /// Resets the connection.
    pub fn abort(&mut self) {
        self.work(|socket| (true, socket.abort()));
    }

    /// Takes from the receive buffer: `Ok(None)` of `take` means that there is nothing. The result
    /// is `None` at the end of the stream.
    fn receive<R>(
        &self,
        cx: &mut Context<'_>,
        take: impl FnOnce(&mut tcp::Socket<'static>) -> Result<Option<R>, RecvError>,
    ) -> Poll<Result<Option<R>, Error>> {
        self.work(|socket| {
            // The client may have been told of too little room to go on by itself.
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

/// Calls a function that is called once.
fn call<A, R>(f: &mut Option<impl FnOnce(A) -> R>, argument: A) -> R {
    let f = f.take().expect("a future that is ready is not polled again");
    f(argument)
}
