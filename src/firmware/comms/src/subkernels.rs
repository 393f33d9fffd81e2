//! Communication of this board's kernel with other boards (`docs/gateware/link-messages.md`): the
//! streams to them, the messages received, and the pending request of the kernel core.
//!
//! On the board with the network there is a stream to each satellite whose kernels are
//! used; on a satellite there is one, to its upstream board.

use core::task::{Context, Poll};

use embassy_time::{with_timeout, Duration, Instant};
use heapless::Vec;
use kairos_intercore::{Kind, Outcome};
use kairos_links::message_queue::{Handle, MessageQueue};
use kairos_proto::intercore::{Answer, Concerned, Report, Values};
use kairos_proto::kernel_message::{Header, KernelMessage, HEADER_LENGTH};

use crate::kernel_core::{Failure, KernelCore};
use crate::link::{LinkStream, BOARDS};
use crate::wire::{Lost, Wire};

mod request;

pub use request::{Message, Request};

/// A board that accepts no data for this long is considered lost.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Message number by which a subkernel asks for its arguments.
pub const ARGUMENTS: u32 = u32::MAX;
/// Bytes moved at a time.
const CHUNK: usize = 1024;

/// A stream to another board.
struct KernelStream {
    destination: u8,
    /// Distinguishes this stream from previous ones to the same board.
    id: u32,
    link: LinkStream,
    /// The bytes of a message's header received so far.
    header: [u8; HEADER_LENGTH],
    received: usize,
}

/// What the kernel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A subkernel has been loaded, or runs.
    Start { number: u32, destination: u8, run: bool },
    /// A subkernel ends.
    End { number: u32 },
    /// A message or the result of a subkernel arrives.
    Message { number: u32 },
}

/// The streams of this board.
pub struct KernelStreams {
    messages: MessageQueue<'static>,
    /// At most one per board. Polling no streams costs nothing: each RPC polls twice.
    streams: Vec<KernelStream, BOARDS>,
    last_id: u32,
    wait: Option<(Wait, Option<Instant>)>,
}

/// Receives payloads that do not go to the queue: pieces of a library or of a trace.
pub trait PayloadSink {
    /// Begins receiving a payload.
    fn begin(&mut self, header: &Header);
    /// The space for its next bytes; empty if it is complete.
    fn space(&mut self) -> &mut [u8];
    fn filled(&mut self, count: usize);
    /// The payload is complete, if there was space.
    fn complete(&mut self, header: &Header);
}

/// Whether the payload of a message goes to [`PayloadSink`] rather than to the queue.
fn goes_to_sink(kind: KernelMessage) -> bool {
    matches!(kind, KernelMessage::Keep | KernelMessage::Trace)
}

/// Whether a message is addressed to the receiving board rather than to its kernel.
pub fn is_command(kind: KernelMessage) -> bool {
    matches!(
        kind,
        KernelMessage::Load | KernelMessage::Run | KernelMessage::Play | KernelMessage::Erase | KernelMessage::Stop
    )
}

/// Accepts no payloads.
pub struct NoSink;

impl PayloadSink for NoSink {
    fn begin(&mut self, _: &Header) {}

    fn space(&mut self) -> &mut [u8] {
        &mut []
    }

    fn filled(&mut self, _: usize) {}

    fn complete(&mut self, _: &Header) {}
}

impl KernelStreams {
    /// Creates the state. `memory` holds received messages until they are processed.
    pub fn new(memory: &'static mut [u8]) -> Self {
        Self {
            messages: MessageQueue::new(memory),
            streams: Vec::new(),
            last_id: 0,
            wait: None,
        }
    }

    /// Drops all streams and all received messages.
    pub fn close(&mut self) {
        self.streams.clear();
        self.clear_messages();
    }

    /// Clears the received messages and the wait when a kernel has ended.
    pub fn clear_messages(&mut self) {
        self.messages.clear();
        self.wait = None;
    }

    /// Cleans up after the kernel of a satellite: ends its wait, and drops its messages and
    /// answers. Messages for the board remain.
    pub fn finish(&mut self) {
        self.messages.retain(|header| is_command(header.kind));
        self.wait = None;
    }

    /// Adds a stream to a board, replacing any previous one.
    pub fn add(&mut self, destination: u8, link: LinkStream) {
        self.drop_stream(destination);
        self.last_id += 1;
        // Cannot fail: there are no more boards than streams in the list.
        let _ = self.streams.push(KernelStream {
            destination,
            id: self.last_id,
            link,
            header: [0; HEADER_LENGTH],
            received: 0,
        });
    }

    /// The number of the stream to a board; 0 if there is none.
    pub fn id(&self, destination: u8) -> u32 {
        let stream = self.streams.iter().find(|stream| stream.destination == destination);
        stream.map_or(0, |stream| stream.id)
    }

    pub fn messages(&mut self) -> &mut MessageQueue<'static> {
        &mut self.messages
    }

    /// Whether a board's next message has to wait for space until the kernel takes what has been
    /// received.
    pub fn is_full_for(&self, destination: u8) -> bool {
        let stream = self.streams.iter().find(|stream| stream.destination == destination);
        let next = stream
            .filter(|stream| stream.received == HEADER_LENGTH)
            .and_then(|stream| Header::decode(&stream.header));
        next.is_some_and(|header| !goes_to_sink(header.kind) && !self.messages.has_space(&header))
    }

    /// Whether a received message satisfies `wanted`.
    pub fn has_received(&self, wanted: impl FnMut(&Header) -> bool) -> bool {
        self.messages.find(wanted).is_some()
    }

    fn drop_stream(&mut self, destination: u8) {
        let before = self.streams.len();
        self.streams.retain(|stream| stream.destination != destination);
        if self.streams.len() < before {
            self.messages.discard_incomplete(destination);
        }
    }

    /// Receives from the streams. Ready when a message is complete or a stream is lost.
    pub fn poll(&mut self, cx: &Context<'_>, sink: &mut impl PayloadSink) -> Poll<()> {
        let mut result = Poll::Pending;
        let Self { messages, streams, .. } = self;
        // Most systems received none, and a session polls with every message of its kernel.
        if streams.is_empty() {
            return result;
        }
        streams.retain_mut(|stream| loop {
            match stream.receive(cx, messages, sink) {
                Poll::Pending => return true,
                Poll::Ready(Ok(false)) => {}
                Poll::Ready(Ok(true)) => result = Poll::Ready(()),
                Poll::Ready(Err(Lost)) => {
                    messages.discard_incomplete(stream.destination);
                    result = Poll::Ready(());
                    return false;
                }
            }
        });
        result
    }

    /// Sends a message. If this fails, the stream is dropped.
    ///
    /// # Errors
    /// [`Lost`].
    pub async fn send(&mut self, destination: u8, header: &Header, payload: &[u8]) -> Result<(), Lost> {
        self.write(destination, &header.encode()).await?;
        self.write(destination, payload).await
    }

    async fn write(&mut self, destination: u8, bytes: &[u8]) -> Result<(), Lost> {
        let written = write(&mut self.streams, destination, bytes).await;
        if written.is_err() {
            self.drop_stream(destination);
        }
        written
    }

    /// Forwards a received message to another board, and removes it.
    ///
    /// # Errors
    /// [`Lost`].
    pub async fn forward(&mut self, handle: Handle, destination: u8, header: &Header) -> Result<(), Lost> {
        let mut written = write(&mut self.streams, destination, &header.encode()).await;
        if written.is_ok() {
            written = write(&mut self.streams, destination, self.messages.payload(handle)).await;
        }
        self.messages.remove(handle);
        if written.is_err() {
            self.drop_stream(destination);
        }
        written
    }

    /// Sends the message of a kernel core's request, and answers the request. `board` names the
    /// sender to the receiver.
    pub async fn pass_message(&mut self, kernel: &mut KernelCore, request: &Message, board: u8) -> Result<(), Failure> {
        let header = Header {
            kind: KernelMessage::Message,
            board,
            number: request.number,
            length: 1 + request.length,
        };
        let fits = header.length as usize <= self.messages.longest();
        let mut lost = !fits || self.send(request.via, &header, &[request.count]).await.is_err();
        let mut rest = request.length as usize;
        let mut chunk = [0; CHUNK];
        while rest > 0 {
            if kernel.remaining() == 0 {
                kernel.next_frame().await?;
            }
            let count = kernel.read(&mut chunk)?.min(rest);
            rest -= count;
            lost = lost || self.write(request.via, &chunk[..count]).await.is_err();
        }
        match (fits, lost) {
            (false, _) => answer(kernel, Outcome::TooMuch, request.destination).await,
            (true, true) => answer(kernel, Outcome::Lost, request.destination).await,
            (true, false) => answer(kernel, Outcome::Done, request.destination).await,
        }
    }

    /// Begins a wait of the kernel.
    pub fn wait(&mut self, wait: Wait, deadline: Option<Instant>) {
        self.wait = Some((wait, deadline));
    }

    pub fn waiting(&self) -> Option<Wait> {
        self.wait.map(|(wait, _)| wait)
    }

    /// The deadline of the kernel's wait.
    pub fn deadline(&self) -> Option<Instant> {
        self.wait.and_then(|(_, deadline)| deadline)
    }

    /// Answers the waiting kernel if its wait is over. `failure`: why the wait can never succeed, and
    /// the board concerned. Returns the message that ended the wait.
    pub async fn complete_wait(
        &mut self,
        kernel: &mut KernelCore,
        failure: Option<(Outcome, u8)>,
    ) -> Result<Option<Header>, Failure> {
        let Some((wait, deadline)) = self.wait else {
            return Ok(None);
        };
        let found = self.messages.find(|header| wait.ends_with(header));
        // A subkernel that ended by an exception sends nothing more.
        let found = found.or_else(|| match wait {
            Wait::Message { .. } => self.messages.find(|header| header.kind == KernelMessage::Exception),
            _ => None,
        });
        let found = found.or_else(|| self.messages.find(|header| wait.is_lost_with(header)));
        let Some((handle, header)) = found else {
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let (outcome, board) = match failure {
                Some(failure) => failure,
                None if over && matches!(wait, Wait::Start { .. }) => (Outcome::Lost, wait.destination()),
                None if over => (Outcome::TimedOut, wait.destination()),
                None => return Ok(None),
            };
            self.wait = None;
            answer(kernel, outcome, board).await?;
            return Ok(None);
        };
        self.wait = None;
        let payload = self.messages.payload(handle);
        match header.kind {
            KernelMessage::Message => {
                let (count, values) = payload
                    .split_first()
                    .map_or((0, payload), |(count, rest)| (*count, rest));
                let length = values.len() as u32;
                let head = Answer::new(Outcome::Message, &Values { count, length });
                send_answer(kernel, &head, values).await?;
            }
            KernelMessage::Exception => {
                let (number, length) = (header.number, payload.len() as u32);
                let head = Answer::new(Outcome::Exception, &Report { number, length });
                send_answer(kernel, &head, payload).await?;
            }
            KernelMessage::Lost => answer(kernel, Outcome::Lost, header.board).await?,
            KernelMessage::Refused | KernelMessage::Busy => {
                log::error!("subkernel {}: {}", header.number, text(payload));
                answer(kernel, Outcome::NotLoaded, wait.destination()).await?;
            }
            _ => answer(kernel, Outcome::Done, 0).await?,
        }
        self.messages.remove(handle);
        if let (KernelMessage::Ready, Wait::Start { number, run: true, .. }) = (header.kind, wait) {
            // Earlier messages are of a previous run, later ones of this run.
            self.messages.remove_before(handle, |header| header.number == number);
        }
        Ok(Some(header))
    }
}

/// Writes to a stream. The caller must drop it on an error.
async fn write(streams: &mut [KernelStream], destination: u8, bytes: &[u8]) -> Result<(), Lost> {
    if bytes.is_empty() {
        return Ok(());
    }
    let stream = streams.iter_mut().find(|stream| stream.destination == destination);
    let stream = stream.ok_or(Lost)?;
    with_timeout(WRITE_TIMEOUT, stream.link.write_all(bytes))
        .await
        .unwrap_or(Err(Lost))
}

fn text(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

impl Wait {
    /// Whether a message completes the wait.
    fn ends_with(self, header: &Header) -> bool {
        let kinds: &[KernelMessage] = match self {
            Wait::Start { .. } => &[KernelMessage::Ready, KernelMessage::Refused, KernelMessage::Busy],
            Wait::End { .. } => &[
                KernelMessage::Finished,
                KernelMessage::Exception,
                KernelMessage::Refused,
            ],
            Wait::Message { .. } => &[KernelMessage::Message],
        };
        let (Wait::Start { number, .. } | Wait::End { number } | Wait::Message { number }) = self;
        header.number == number && kinds.contains(&header.kind)
    }

    /// Whether a message means that the wait cannot succeed. A message's number alone does not identify
    /// its sender.
    fn is_lost_with(self, header: &Header) -> bool {
        let (Wait::Start { number, .. } | Wait::End { number } | Wait::Message { number }) = self;
        header.kind == KernelMessage::Lost && (header.number == number || matches!(self, Wait::Message { .. }))
    }

    fn destination(self) -> u8 {
        match self {
            Wait::Start { destination, .. } => destination,
            Wait::End { .. } | Wait::Message { .. } => 0,
        }
    }
}

impl KernelStream {
    /// Receives one piece. True if a message is complete.
    fn receive(
        &mut self,
        cx: &Context<'_>,
        messages: &mut MessageQueue,
        sink: &mut impl PayloadSink,
    ) -> Poll<Result<bool, Lost>> {
        if self.received < HEADER_LENGTH {
            match core::task::ready!(self.link.poll_read(cx, &mut self.header[self.received..])) {
                Ok(0) | Err(Lost) => return Poll::Ready(Err(Lost)),
                Ok(count) => self.received += count,
            }
            if self.received < HEADER_LENGTH {
                return Poll::Ready(Ok(false));
            }
            // An unknown message is another firmware's.
            let Some(header) = Header::decode(&self.header) else {
                return Poll::Ready(Err(Lost));
            };
            return self.begin(&header, messages, sink);
        }
        let Some(header) = Header::decode(&self.header) else {
            return Poll::Ready(Err(Lost));
        };
        if self.received == HEADER_LENGTH {
            // There was no space for the payload before.
            return self.begin(&header, messages, sink);
        }
        let to_sink = goes_to_sink(header.kind);
        let space = match to_sink {
            true => sink.space(),
            false => messages.space(self.destination),
        };
        let (wanted, mut dropped) = (space.len(), [0; 64]);
        let space = match to_sink && wanted == 0 {
            // A payload for which there is no space is read and dropped.
            true => &mut dropped[..],
            false => space,
        };
        let left = header.length as usize - (self.received - HEADER_LENGTH - 1);
        let most = space.len().min(left);
        let count = match core::task::ready!(self.link.poll_read(cx, &mut space[..most])) {
            Ok(0) | Err(Lost) => return Poll::Ready(Err(Lost)),
            Ok(count) => count,
        };
        match to_sink {
            true if wanted == 0 => {}
            true => sink.filled(count),
            false => messages.filled(self.destination, count),
        }
        self.received += count;
        if count == left {
            self.received = 0;
            if to_sink {
                sink.complete(&header);
            }
        }
        Poll::Ready(Ok(count == left))
    }

    /// Begins a payload, if there is space for it.
    fn begin(
        &mut self,
        header: &Header,
        messages: &mut MessageQueue,
        sink: &mut impl PayloadSink,
    ) -> Poll<Result<bool, Lost>> {
        if goes_to_sink(header.kind) {
            sink.begin(header);
        } else if header.length as usize > messages.longest() {
            return Poll::Ready(Err(Lost));
        } else if !messages.begin(self.destination, header) {
            return Poll::Pending;
        }
        // One more than the header: the payload has begun.
        self.received = if header.length == 0 { 0 } else { HEADER_LENGTH + 1 };
        Poll::Ready(Ok(header.length == 0))
    }
}

/// Answers a request of the kernel core; `payload` are the values or the report that follow.
pub async fn send_answer(kernel: &mut KernelCore, answer: &Answer, payload: &[u8]) -> Result<(), Failure> {
    if payload.is_empty() {
        return kernel.send(Kind::SubkernelAnswer, answer.bytes(), false).await;
    }
    kernel.send(Kind::SubkernelAnswer, answer.bytes(), true).await?;
    kernel.send(Kind::SubkernelAnswer, payload, false).await
}

/// Answers a request of the kernel core; `board` is the board concerned.
pub async fn answer(kernel: &mut KernelCore, outcome: Outcome, board: u8) -> Result<(), Failure> {
    let answer = match outcome {
        Outcome::Done => Answer::done(),
        _ => Answer::new(outcome, &Concerned { board }),
    };
    send_answer(kernel, &answer, &[]).await
}
