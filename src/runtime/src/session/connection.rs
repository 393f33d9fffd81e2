//! One client's session: its requests and the kernel core's messages, in order of arrival.
//!
//! The socket is watched while a kernel runs: if the client leaves, its kernel is killed at once.
//! Only during the loading of a library, which is brief, is the socket not watched.

use core::fmt::Write as _;
use core::future::poll_fn;
use core::task::{Context, Poll};

use embassy_futures::select::{select, Either};
use embassy_time::Timer;
use heapless::String;
use kairos_intercore::{Frame, Kind};
use kairos_net::Socket;
use kairos_proto::intercore::Surplus;
use kairos_proto::session::{reply, Request, RequestDecoder};
use kairos_proto::ProtocolError;

use super::{Shared, LIBRARY_MAX};
use crate::service::lost;
use kairos_comms::close_reason::CloseReason;
use kairos_comms::kernel_core::{Failure, SUPERVISION};
use kairos_comms::kernel_event::KernelEvent;
use kairos_comms::{clock, gateware};

/// State of the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Loaded,
    Running,
}

/// Events that a session waits for.
enum Event {
    Frame(Frame),
    /// The host has sent bytes or closed the stream.
    Readable,
    /// The RTIO clock is lost while a kernel runs.
    ClockLost,
    /// Another board has sent something, or the kernel's wait for one has timed out.
    Board,
}

/// Disposition of the library that is being received.
enum Upload {
    /// Kept; this many bytes are in the buffer.
    Keep(usize),
    /// Received and dropped, because a kernel is running.
    Busy,
    /// Received and dropped, because it does not fit; its length.
    TooLong(u32),
}

impl Upload {
    /// Appends a piece.
    fn keep(&mut self, data: &[u8], library: &mut [u8; LIBRARY_MAX]) {
        if let Upload::Keep(filled) = self {
            library[*filled..*filled + data.len()].copy_from_slice(data);
            *filled += data.len();
        }
    }
}

pub struct Connection<'a> {
    socket: &'a mut Socket,
    shared: &'a mut Shared,
    state: State,
    /// Also follows the kernel's calls of the host.
    decoder: RequestDecoder,
    upload: Upload,
    /// Number and destination of the subkernel whose library is being received.
    subkernel: Option<(u32, u8)>,
    /// The kernel core's message whose frames are being forwarded.
    streaming: Option<Kind>,
    /// The newest frame was a log frame.
    logged: bool,
}

/// Bytes moved at a time, from the host and from the kernel core.
const CHUNK: usize = 4096;

impl Drop for Connection<'_> {
    /// However the session ends, other boards run nothing for it any more.
    fn drop(&mut self) {
        self.shared.boards.close();
    }
}

impl<'a> Connection<'a> {
    pub fn new(socket: &'a mut Socket, shared: &'a mut Shared) -> Self {
        Self {
            socket,
            shared,
            state: State::Absent,
            decoder: RequestDecoder::new(),
            upload: Upload::Keep(0),
            subkernel: None,
            streaming: None,
            logged: false,
        }
    }

    /// Serves until the session ends.
    pub async fn serve(mut self) -> CloseReason {
        let mut buffer = [0; CHUNK];
        loop {
            match self.step(&mut buffer).await {
                Err(CloseReason::Closed) if self.decoder.in_request() => return CloseReason::CutOff,
                Err(reason) => return reason,
                Ok(()) => {}
            }
        }
    }

    /// Handles the next event: bytes of the host or a frame of the kernel core.
    async fn step(&mut self, buffer: &mut [u8; CHUNK]) -> Result<(), CloseReason> {
        match self.next_event().await? {
            Event::ClockLost => {
                // In the middle of a frame a reply would be out of place: there the end of the
                // stream informs the host.
                if self.streaming.is_none() {
                    self.send(&reply::clock_failure()).await?;
                }
                return Err(CloseReason::ClockLost);
            }
            Event::Frame(frame) if frame.kind == Kind::RpcDone && self.decoder.in_reply() => self.decoder.end_call(),
            Event::Frame(frame) if frame.kind == Kind::RpcSurplus && self.decoder.in_reply() => {
                let Surplus { bytes } = self.shared.kernel.record()?;
                return Err(ProtocolError::LongReply(bytes).into());
            }
            Event::Frame(frame) => {
                self.logged = frame.kind == Kind::Log;
                match self.logged {
                    true => self.shared.kernel.log().await?,
                    false => self.kernel_frame(frame).await?,
                }
            }
            Event::Board => {
                let Shared { kernel, boards, .. } = &mut *self.shared;
                boards.process_messages(kernel).await?;
            }
            Event::Readable if self.decoder.in_value() => self.pass_value().await?,
            Event::Readable if self.decoder.in_library() => self.receive_library().await?,
            Event::Readable => {
                let mut input = match self.socket.read(buffer).await.map_err(lost)? {
                    0 => return Err(CloseReason::Closed),
                    length => &buffer[..length],
                };
                loop {
                    // Not by `?`, which copies the request: 30 instructions per call.
                    let request = match self.decoder.next(&mut input) {
                        Ok(Some(request)) => request,
                        Ok(None) => break,
                        Err(error) => return Err(error.into()),
                    };
                    self.request(request).await?;
                    // Nothing can follow a value, whose end only the kernel core knows.
                    if self.decoder.in_value() && input.is_empty() {
                        break;
                    }
                }
                match self.decoder.take_discarded() {
                    0 => {}
                    bytes => log::warn!("{bytes} bytes between requests skipped"),
                }
            }
        }
        Ok(())
    }

    /// Waits for the next event. The kernel's end of an RPC precedes anything the host may send
    /// after it, so frames are polled first, including those for which the kernel core has not
    /// rung.
    async fn next_event(&mut self) -> Result<Event, CloseReason> {
        let _expected = SUPERVISION.expect();
        let deadline = self.shared.boards.deadline();
        let event = poll_fn(|cx| self.poll_event(cx));
        match deadline {
            None => event.await,
            Some(deadline) => match select(event, Timer::at(deadline)).await {
                Either::First(event) => event,
                Either::Second(()) => Ok(Event::Board),
            },
        }
    }

    fn poll_event(&mut self, cx: &Context<'_>) -> Poll<Result<Event, CloseReason>> {
        // A kernel that logs continuously must not keep the host from ending it.
        if core::mem::take(&mut self.logged) && self.socket.poll_readable(cx).is_ready() {
            return Poll::Ready(Ok(Event::Readable));
        }
        // Before what the kernel says: one that begins without a clock may be faster than this look at it.
        if self.is_running() && clock::is_lost() {
            return Poll::Ready(Ok(Event::ClockLost));
        }
        if let Poll::Ready(frame) = self.shared.kernel.poll_frame(cx) {
            return Poll::Ready(Ok(Event::Frame(frame?)));
        }
        if self.socket.poll_readable(cx).is_ready() {
            return Poll::Ready(Ok(Event::Readable));
        }
        if self.shared.boards.poll(cx).is_ready() {
            return Poll::Ready(Ok(Event::Board));
        }
        // Again, to be woken by its loss: not needed as long as there is something to do.
        if self.is_running() && clock::poll(true, cx).is_ready() {
            return Poll::Ready(Ok(Event::ClockLost));
        }
        Poll::Pending
    }

    /// Receives bytes of the library directly from the socket's buffer.
    async fn receive_library(&mut self) -> Result<(), CloseReason> {
        let (decoder, upload, library) = (&mut self.decoder, &mut self.upload, &mut *self.shared.library);
        let received = self.socket.read_with(|data| {
            let (length, mut input) = (data.len(), &*data);
            let request = match length {
                0 => Err(CloseReason::Closed),
                _ => decoder.next(&mut input).map_err(CloseReason::Protocol),
            };
            let last = request.map(|request| match request {
                Some(Request::Library { data, last }) => {
                    upload.keep(data, library);
                    last
                }
                _ => false,
            });
            (length - input.len(), last)
        });
        match received.await.map_err(lost)?? {
            true => self.received().await,
            false => Ok(()),
        }
    }

    /// Forwards bytes of an RPC reply directly from the socket's buffer into the ring.
    async fn pass_value(&mut self) -> Result<(), CloseReason> {
        let kernel = &mut self.shared.kernel;
        let passed = self.socket.read_with(|data| {
            // An empty buffer means the end of the stream, as opposed to a full ring.
            let taken = if data.is_empty() {
                None
            } else {
                kernel.try_send(Kind::RpcReply, data, true)
            };
            (taken.unwrap_or(0), (data.is_empty(), taken))
        });
        match passed.await.map_err(lost)? {
            (true, _) => Err(CloseReason::Closed),
            (false, None) => Ok(self.shared.kernel.wait_for_space().await?),
            (false, Some(_)) => Ok(()),
        }
    }

    async fn request(&mut self, request: Request<'_>) -> Result<(), CloseReason> {
        match request {
            Request::SystemInfo => self.send(&reply::system_info()).await,
            Request::LoadKernel { length } => {
                self.expect_library(length);
                Ok(())
            }
            Request::Library { data, last } => {
                self.upload.keep(data, self.shared.library);
                if last {
                    self.received().await
                } else {
                    Ok(())
                }
            }
            Request::RunKernel if self.state == State::Loaded => {
                self.shared.kernel.send(Kind::Run, &[], false).await?;
                self.state = State::Running;
                Ok(())
            }
            Request::RunKernel => self.send(&reply::kernel_startup_failed()).await,
            // After its tag a reply is parsed by the kernel core.
            Request::Value(data) => match self.shared.kernel.try_send(Kind::RpcReply, data, true) {
                Some(taken) if taken == data.len() => Ok(()),
                taken => {
                    let rest = &data[taken.unwrap_or(0)..];
                    Ok(self.shared.kernel.send(Kind::RpcReply, rest, true).await?)
                }
            },
            Request::RpcException => {
                let exception = self.decoder.exception();
                Ok(self.shared.kernel.send(Kind::RpcException, exception, false).await?)
            }
            Request::SubkernelUpload {
                number,
                destination,
                length,
            } => {
                self.expect_library(length);
                self.subkernel = Some((number, destination));
                Ok(())
            }
        }
    }

    /// Prepares to receive a library of `length` bytes.
    fn expect_library(&mut self, length: u32) {
        self.upload = match self.state {
            State::Absent | State::Loaded if length as usize <= LIBRARY_MAX => Upload::Keep(0),
            State::Absent | State::Loaded => Upload::TooLong(length),
            State::Running => Upload::Busy,
        };
    }

    /// Processes a complete library: keeps a subkernel's, loads any other, and reports the result.
    async fn received(&mut self) -> Result<(), CloseReason> {
        let subkernel = self.subkernel.take();
        if let Some(reason) = subkernel.and_then(|(_, destination)| self.shared.boards.refusal(destination)) {
            return self.load_failed(&reason).await;
        }
        let mut text = String::<96>::new();
        let length = match self.upload {
            Upload::Keep(length) => length,
            Upload::Busy => return self.load_failed("a kernel is running").await,
            Upload::TooLong(length) => {
                let _ = write!(text, "the library has {length} bytes, the limit is {LIBRARY_MAX}");
                return self.load_failed(&text).await;
            }
        };
        let Shared {
            kernel,
            library,
            boards,
            ..
        } = &mut *self.shared;
        if let Some((number, destination)) = subkernel {
            return match boards.keep(number, destination, &library[..length]) {
                Ok(()) => self.send(&reply::load_completed()).await,
                Err(reason) => self.load_failed(&reason).await,
            };
        }
        self.state = State::Absent;
        match kernel.load(&library[..length]).await {
            Err(Failure::Silent) => {
                let _ = write!(text, "{}", Failure::Silent);
                return self.load_failed(&text).await;
            }
            loaded => loaded?,
        }
        let frame = self.shared.kernel.next_frame().await?;
        match frame.kind {
            Kind::LoadCompleted => {
                self.state = State::Loaded;
                self.send(&reply::load_completed()).await
            }
            Kind::LoadFailed => {
                let text: String<256> = self.shared.kernel.text()?;
                self.load_failed(&text).await
            }
            kind => Err(Failure::Unexpected(kind).into()),
        }
    }

    async fn load_failed(&mut self, reason: &str) -> Result<(), CloseReason> {
        log::warn!("cannot load kernel: {reason}");
        self.send(&reply::load_failed(reason.len() as u32)).await?;
        self.send(reason.as_bytes()).await
    }

    /// Forwards a frame of the kernel core to the host.
    async fn kernel_frame(&mut self, frame: Frame) -> Result<(), CloseReason> {
        let running = self.is_running();
        let may_request = running && !self.decoder.in_call();
        if self.streaming.is_some_and(|kind| kind != frame.kind) {
            return Err(Failure::Unexpected(frame.kind).into());
        }
        match KernelEvent::from(frame.kind) {
            KernelEvent::Rpc { is_async } if may_request => {
                if self.stream(frame, &reply::rpc_request(is_async)).await? && !is_async {
                    self.decoder.begin_call();
                }
            }
            KernelEvent::Exception if running => {
                if self.stream(frame, &reply::kernel_exception()).await? {
                    let errors = gateware::take_async_errors(self.shared.rtio);
                    self.send(&[errors]).await?;
                    self.ended().await;
                }
            }
            KernelEvent::Finished if running => {
                let errors = gateware::take_async_errors(self.shared.rtio);
                self.send(&reply::kernel_finished(errors)).await?;
                self.ended().await;
            }
            KernelEvent::Board if may_request => {
                let Shared { kernel, boards, .. } = &mut *self.shared;
                boards.serve(kernel, &frame).await?;
            }
            _ => return Err(Failure::Unexpected(frame.kind).into()),
        }
        Ok(())
    }

    /// Forwards a frame's payload, preceded by `head` in the first frame of a message. True for the
    /// last frame.
    async fn stream(&mut self, frame: Frame, head: &[u8]) -> Result<bool, CloseReason> {
        // Directly from the ring into the socket's buffer.
        if self.streaming.is_none() && !self.send_with_header(frame.len, head).await? {
            self.send(head).await?;
        }
        while self.shared.kernel.remaining() > 0 {
            let kernel = &mut self.shared.kernel;
            let copied = self.socket.write_with(|space| match kernel.read(space) {
                Ok(length) => (length, Ok(())),
                Err(failure) => (0, Err(failure)),
            });
            copied.await.map_err(lost)??;
        }
        self.streaming = frame.more.then_some(frame.kind);
        Ok(!frame.more)
    }

    /// Sends `head` and the frame's payload, if both fit at once.
    async fn send_with_header(&mut self, payload: usize, head: &[u8]) -> Result<bool, CloseReason> {
        let kernel = &mut self.shared.kernel;
        let sent = self
            .socket
            .write_with(|space| match space.split_at_mut_checked(head.len()) {
                Some((first, space)) if space.len() >= payload => {
                    first.copy_from_slice(head);
                    match kernel.read(&mut space[..payload]) {
                        Ok(length) => (head.len() + length, Ok(true)),
                        Err(failure) => (0, Err(failure)),
                    }
                }
                _ => (0, Ok(false)),
            });
        Ok(sent.await.map_err(lost)??)
    }

    fn is_running(&self) -> bool {
        self.state == State::Running
    }

    async fn ended(&mut self) {
        self.state = State::Absent;
        self.decoder.abandon_call();
        self.shared.kernel.ended();
        self.shared.boards.end().await;
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), CloseReason> {
        self.socket.write_all(bytes).await.map_err(lost)
    }
}
