//! Byte streams over a link: several at a time, bidirectional, each with its own buffers at either
//! end, so that an unread one blocks no other.

use core::task::{Context, Poll, Waker};

use heapless::{Deque, Vec};
use kairos_proto::link::{Message, PIECE_MAX, WINDOW};

/// Most streams: four clients of management, analyzer, monitor, and kernels of seven boards, which
/// a tree of eight may have behind a link.
pub const STREAMS: usize = 4 + 1 + 1 + 7;

/// Most tasks that may wait for a stream; if there were more, all would keep waking each other.
pub const WAITERS: usize = 2 * STREAMS;

/// The stream was refused, or the link was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLost;

/// A stream opened by the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub number: usize,
    /// The board and the service it leads to.
    pub destination: u8,
    pub service: u8,
}

/// One end of a stream.
struct Stream {
    incoming: Deque<u8, WINDOW>,
    outgoing: Deque<u8, WINDOW>,
    state: State,
}

/// What there is of a stream beside its buffers, which are so large that they are emptied in place.
struct State {
    /// Whether a task here holds it.
    held: bool,
    /// Number of the service. Known to the other end if `open_sent`.
    service: u8,
    /// The board it leads to.
    destination: u8,
    open_sent: bool,
    refused: bool,
    /// Whether it waits here to be accepted.
    pending: bool,
    /// Free space at the other end; bytes read here that have not been granted to it again.
    credit: usize,
    freed: usize,
    /// No more bytes will arrive; no more will be sent, and whether the other end knows.
    ended: bool,
    closed: bool,
    close_sent: bool,
    lost: bool,
    waker: Option<Waker>,
}

impl State {
    const FREE: Self = Self {
        held: false,
        service: 0,
        destination: 0,
        open_sent: false,
        refused: false,
        pending: false,
        credit: 0,
        freed: 0,
        ended: false,
        closed: false,
        close_sent: false,
        lost: false,
        waker: None,
    };
}

impl Stream {
    const fn new() -> Self {
        Self {
            incoming: Deque::new(),
            outgoing: Deque::new(),
            state: State::FREE,
        }
    }

    fn is_free(&self) -> bool {
        !self.state.held && !self.state.pending && !self.state.open_sent
    }

    fn begin(&mut self, service: u8, destination: u8) {
        self.free();
        self.state.service = service;
        self.state.destination = destination;
        self.state.credit = WINDOW;
    }

    fn free(&mut self) {
        self.incoming.clear();
        self.outgoing.clear();
        self.state = State::FREE;
    }

    fn wake(&mut self) {
        if let Some(waker) = self.state.waker.take() {
            waker.wake();
        }
    }

    /// Frees it when both ends have finished.
    fn free_if_finished(&mut self) {
        let state = &self.state;
        let is_over = state.lost || state.refused || state.ended && state.close_sent;
        if is_over && !state.held && !state.pending {
            self.free();
        }
    }
}

/// All streams of an end. Large, so it should be created in place.
pub struct Streams {
    all: [Stream; STREAMS],
    next_turn: usize,
    refusal: Option<u8>,
    waiting: Vec<Waker, WAITERS>,
}

impl Default for Streams {
    fn default() -> Self {
        Self::new()
    }
}

impl Streams {
    pub const fn new() -> Self {
        Self {
            all: [const { Stream::new() }; STREAMS],
            next_turn: 0,
            refusal: None,
            waiting: Vec::new(),
        }
    }

    /// Opens a stream; `None` if all are in use.
    pub fn open(&mut self, service: u8, destination: u8) -> Option<usize> {
        let number = self.all.iter().position(Stream::is_free)?;
        let stream = &mut self.all[number];
        stream.begin(service, destination);
        stream.state.held = true;
        Some(number)
    }

    /// Accepts a pending stream opened by the other end; `wanted` checks destination and service.
    pub fn accept(&mut self, wanted: impl Fn(u8, u8) -> bool) -> Option<Accepted> {
        let mut streams = self.all.iter();
        let number = streams
            .position(|stream| stream.state.pending && wanted(stream.state.destination, stream.state.service))?;
        let stream = &mut self.all[number];
        (stream.state.pending, stream.state.held) = (false, true);
        Some(Accepted {
            number,
            destination: stream.state.destination,
            service: stream.state.service,
        })
    }

    /// Whether there is a stream to this service.
    pub fn has(&self, service: u8) -> bool {
        let mut streams = self.all.iter();
        streams.any(|stream| {
            stream.state.service == service && (stream.state.held || stream.state.pending) && !stream.state.lost
        })
    }

    /// Registers a waker for the opening of streams.
    pub fn register_waker(&mut self, waker: &Waker) {
        if !self.waiting.iter().any(|known| known.will_wake(waker)) {
            if self.waiting.is_full() {
                self.wake_waiting();
            }
            let _ = self.waiting.push(waker.clone());
        }
    }

    fn wake_waiting(&mut self) {
        while let Some(waker) = self.waiting.pop() {
            waker.wake();
        }
    }

    /// Reads received bytes; 0 at the end.
    pub fn read(&mut self, number: usize, cx: &Context, out: &mut [u8]) -> Poll<Result<usize, StreamLost>> {
        let stream = &mut self.all[number];
        let count = out.len().min(stream.incoming.len());
        for byte in &mut out[..count] {
            *byte = stream.incoming.pop_front().unwrap_or(0);
        }
        stream.state.freed += count;
        match count {
            0 if stream.state.lost || stream.state.refused => Poll::Ready(Err(StreamLost)),
            0 if !stream.state.ended && !out.is_empty() => {
                stream.state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            count => Poll::Ready(Ok(count)),
        }
    }

    /// Accepts some bytes for sending.
    pub fn write(&mut self, number: usize, cx: &Context, bytes: &[u8]) -> Poll<Result<usize, StreamLost>> {
        let stream = &mut self.all[number];
        if stream.state.lost || stream.state.refused {
            return Poll::Ready(Err(StreamLost));
        }
        let count = bytes.len().min(WINDOW - stream.outgoing.len());
        if count == 0 && !bytes.is_empty() {
            stream.state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        for byte in &bytes[..count] {
            let _ = stream.outgoing.push_back(*byte);
        }
        Poll::Ready(Ok(count))
    }

    /// Closes a stream on this side. Bytes already written are still sent.
    pub fn close(&mut self, number: usize) {
        let stream = &mut self.all[number];
        (stream.state.held, stream.state.closed) = (false, true);
        stream.free_if_finished();
    }

    /// Ends all streams, as the link was lost.
    pub fn lose_all(&mut self) {
        for stream in &mut self.all {
            if stream.state.held || stream.state.open_sent {
                (stream.state.lost, stream.state.pending) = (true, false);
                stream.wake();
                stream.free_if_finished();
            }
        }
        self.refusal = None;
    }

    /// Processes a message of the other end. `accepts`: whether a destination has a service.
    pub fn receive(&mut self, message: &Message, accepts: impl Fn(u8, u8) -> bool) {
        if let Message::Open {
            stream: number,
            service,
            destination,
        } = *message
        {
            match self.all.get_mut(usize::from(number)) {
                Some(stream) if stream.is_free() && accepts(destination, service) => {
                    stream.begin(service, destination);
                    (stream.state.open_sent, stream.state.pending) = (true, true);
                    self.wake_waiting();
                }
                _ => self.refusal = Some(number),
            }
            return;
        }
        let (Message::Refuse { stream: number }
        | Message::Data { stream: number, .. }
        | Message::Credit { stream: number, .. }
        | Message::Close { stream: number }) = *message
        else {
            return;
        };
        let Some(stream) = self
            .all
            .get_mut(usize::from(number))
            .filter(|stream| stream.state.open_sent)
        else {
            return;
        };
        match message {
            Message::Refuse { .. } => stream.state.refused = true,
            Message::Data { bytes, .. } if stream.state.held || stream.state.pending => {
                for byte in *bytes {
                    // Cannot fail: credit was granted only for free space.
                    let _ = stream.incoming.push_back(*byte);
                }
            }
            // It is no longer read; return the credit, so that the other end may continue.
            Message::Data { bytes, .. } => stream.state.freed += bytes.len(),
            Message::Credit { bytes, .. } => stream.state.credit = (stream.state.credit + *bytes as usize).min(WINDOW),
            _ => stream.state.ended = true,
        }
        stream.wake();
        stream.free_if_finished();
    }

    /// The next message to be sent. `buffer`: buffer for stream data.
    pub fn next<'a>(&mut self, buffer: &'a mut [u8; PIECE_MAX]) -> Option<Message<'a>> {
        if let Some(stream) = self.refusal.take() {
            return Some(Message::Refuse { stream });
        }
        for step in 0..STREAMS {
            let number = (self.next_turn + step) % STREAMS;
            let number_byte = number as u8;
            let stream = &mut self.all[number];
            if stream.state.lost || stream.state.refused || !(stream.state.held || stream.state.open_sent) {
                continue;
            }
            if !stream.state.open_sent {
                stream.state.open_sent = true;
                return Some(Message::Open {
                    stream: number_byte,
                    service: stream.state.service,
                    destination: stream.state.destination,
                });
            }
            if stream.state.freed >= WINDOW / 4 {
                let bytes = core::mem::take(&mut stream.state.freed) as u32;
                return Some(Message::Credit {
                    stream: number_byte,
                    bytes,
                });
            }
            let count = stream.outgoing.len().min(stream.state.credit).min(PIECE_MAX);
            if count > 0 {
                for byte in &mut buffer[..count] {
                    *byte = stream.outgoing.pop_front().unwrap_or(0);
                }
                stream.state.credit -= count;
                stream.wake();
                self.next_turn = number + 1;
                let bytes = &buffer[..count];
                return Some(Message::Data {
                    stream: number_byte,
                    bytes,
                });
            }
            if stream.state.closed && !stream.state.close_sent && stream.outgoing.is_empty() {
                stream.state.close_sent = true;
                stream.free_if_finished();
                return Some(Message::Close { stream: number_byte });
            }
        }
        None
    }
}
