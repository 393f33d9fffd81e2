//! Communication of this board's kernel with other boards (`docs/gateware/link-messages.md`): the
//! lines to them, the orders received, and the pending request of the kernel core.
//!
//! On the board with the network there is a line, a stream, to each satellite whose kernels are
//! used; on a satellite there is one, to its upstream board.

use core::task::{Context, Poll};

use embassy_time::{with_timeout, Duration, Instant};
use heapless::Vec;
use kairos_intercore::{Kind, Outcome};
use kairos_links::mail::{Mail, Place};
use kairos_proto::order::{Head, Order, ORDER_HEAD};

use crate::kernel_core::{Failure, KernelCore};
use crate::link::{LinkStream, BOARDS};
use crate::wire::{Lost, Wire};

mod request;

pub use request::{Message, Request};

/// A board that accepts no data for this long is considered lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// Message number by which a subkernel asks for its arguments.
pub const ARGUMENTS: u32 = u32::MAX;
/// Bytes moved at a time.
const CHUNK: usize = 1024;

/// A line to another board.
struct Line {
    destination: u8,
    /// Distinguishes this line from previous ones to the same board.
    name: u32,
    stream: LinkStream,
    /// The bytes of an order's head received so far.
    head: [u8; ORDER_HEAD],
    have: usize,
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

/// The lines of this board.
pub struct Lines {
    mail: Mail<'static>,
    /// At most one per board. Polling no lines costs nothing: an RPC comes by here twice.
    lines: Vec<Line, BOARDS>,
    names: u32,
    wait: Option<(Wait, Option<Instant>)>,
}

/// Receives payloads that are not mail: pieces of a library or of a trace.
pub trait Keeps {
    /// Begins receiving a payload.
    fn begin(&mut self, head: &Head);
    /// The space for its next bytes; empty if it is complete.
    fn room(&mut self) -> &mut [u8];
    fn filled(&mut self, count: usize);
    /// The whole payload has arrived, if there was room.
    fn complete(&mut self, head: &Head);
}

/// Whether the payload of an order goes to [`Keeps`] rather than to the mail.
fn is_kept(order: Order) -> bool {
    matches!(order, Order::Keep | Order::Trace)
}

/// Whether an order is addressed to the receiving board rather than to its kernel.
pub fn is_command(order: Order) -> bool {
    matches!(
        order,
        Order::Load | Order::Run | Order::Play | Order::Forget | Order::Stop
    )
}

/// Keeps nothing.
pub struct KeepsNone;

impl Keeps for KeepsNone {
    fn begin(&mut self, _: &Head) {}

    fn room(&mut self) -> &mut [u8] {
        &mut []
    }

    fn filled(&mut self, _: usize) {}

    fn complete(&mut self, _: &Head) {}
}

impl Lines {
    /// Creates the state. `memory` holds received orders until they are processed.
    pub fn new(memory: &'static mut [u8]) -> Self {
        Self {
            mail: Mail::new(memory),
            lines: Vec::new(),
            names: 0,
            wait: None,
        }
    }

    /// Drops all lines and all received orders.
    pub fn close(&mut self) {
        self.lines.clear();
        self.forget();
    }

    /// Clears the received orders and the wait when a kernel has ended.
    pub fn forget(&mut self) {
        self.mail.clear();
        self.wait = None;
    }

    /// Cleans up after the kernel of a satellite: ends its wait, and drops its messages and
    /// answers. Orders for the board remain.
    pub fn finish(&mut self) {
        self.mail.retain(|head| is_command(head.order));
        self.wait = None;
    }

    /// Adds a line to a board, replacing any previous one.
    pub fn add(&mut self, destination: u8, stream: LinkStream) {
        self.drop_line(destination);
        self.names += 1;
        // Cannot fail: there are no more boards than places.
        let _ = self.lines.push(Line {
            destination,
            name: self.names,
            stream,
            head: [0; ORDER_HEAD],
            have: 0,
        });
    }

    /// The name of the line to a board; 0 if there is none.
    pub fn name(&self, destination: u8) -> u32 {
        let line = self.lines.iter().find(|line| line.destination == destination);
        line.map_or(0, |line| line.name)
    }

    pub fn mail(&mut self) -> &mut Mail<'static> {
        &mut self.mail
    }

    /// Whether a board's next order has to wait for room until the kernel takes what has been
    /// received.
    pub fn is_full_for(&self, destination: u8) -> bool {
        let line = self.lines.iter().find(|line| line.destination == destination);
        let next = line
            .filter(|line| line.have == ORDER_HEAD)
            .and_then(|line| Head::decode(&line.head));
        next.is_some_and(|head| !is_kept(head.order) && !self.mail.has_room(&head))
    }

    /// Whether a received order satisfies `wanted`.
    pub fn has_come(&self, wanted: impl FnMut(&Head) -> bool) -> bool {
        self.mail.find(wanted).is_some()
    }

    fn drop_line(&mut self, destination: u8) {
        let before = self.lines.len();
        self.lines.retain(|line| line.destination != destination);
        if self.lines.len() < before {
            self.mail.lose(destination);
        }
    }

    /// Receives from the lines. Ready when an order is complete or a line is lost.
    pub fn poll(&mut self, cx: &Context<'_>, keeps: &mut impl Keeps) -> Poll<()> {
        let mut result = Poll::Pending;
        let Self { mail, lines, .. } = self;
        // Most systems have none, and a session polls with every message of its kernel.
        if lines.is_empty() {
            return result;
        }
        lines.retain_mut(|line| loop {
            match line.take(cx, mail, keeps) {
                Poll::Pending => return true,
                Poll::Ready(Ok(false)) => {}
                Poll::Ready(Ok(true)) => result = Poll::Ready(()),
                Poll::Ready(Err(Lost)) => {
                    mail.lose(line.destination);
                    result = Poll::Ready(());
                    return false;
                }
            }
        });
        result
    }

    /// Sends an order. If this fails, the line is dropped.
    ///
    /// # Errors
    /// [`Lost`].
    pub async fn send(&mut self, destination: u8, head: &Head, payload: &[u8]) -> Result<(), Lost> {
        self.write(destination, &head.encode()).await?;
        self.write(destination, payload).await
    }

    async fn write(&mut self, destination: u8, bytes: &[u8]) -> Result<(), Lost> {
        let written = write(&mut self.lines, destination, bytes).await;
        if written.is_err() {
            self.drop_line(destination);
        }
        written
    }

    /// Forwards a received order to another board, and removes it.
    ///
    /// # Errors
    /// [`Lost`].
    pub async fn forward(&mut self, place: Place, destination: u8, head: &Head) -> Result<(), Lost> {
        let mut written = write(&mut self.lines, destination, &head.encode()).await;
        if written.is_ok() {
            written = write(&mut self.lines, destination, self.mail.payload(place)).await;
        }
        self.mail.remove(place);
        if written.is_err() {
            self.drop_line(destination);
        }
        written
    }

    /// Sends the message of a kernel core's request, and answers the request. `board` names the
    /// sender to the receiver.
    pub async fn pass_message(&mut self, kernel: &mut KernelCore, request: &Message, board: u8) -> Result<(), Failure> {
        let head = Head {
            order: Order::Message,
            board,
            number: request.number,
            length: 1 + request.length,
        };
        let fits = head.length as usize <= self.mail.longest();
        let mut lost = !fits || self.send(request.line, &head, &[request.count]).await.is_err();
        let mut rest = request.length as usize;
        let mut chunk = [0; CHUNK];
        while rest > 0 {
            if kernel.remaining() == 0 {
                kernel.next_frame().await?;
            }
            let count = kernel.read(&mut chunk)?.min(rest);
            rest -= count;
            lost = lost || self.write(request.line, &chunk[..count]).await.is_err();
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

    /// Answers the waiting kernel if its wait is over. `vain`: why the wait can never succeed, and
    /// the board concerned. Returns the order that ended the wait.
    pub async fn settle(
        &mut self,
        kernel: &mut KernelCore,
        vain: Option<(Outcome, u8)>,
    ) -> Result<Option<Head>, Failure> {
        let Some((wait, deadline)) = self.wait else {
            return Ok(None);
        };
        let found = self.mail.find(|head| wait.ends_with(head));
        // A subkernel that ended by an exception sends nothing more.
        let found = found.or_else(|| match wait {
            Wait::Message { .. } => self.mail.find(|head| head.order == Order::Exception),
            _ => None,
        });
        let found = found.or_else(|| self.mail.find(|head| wait.is_lost_with(head)));
        let Some((place, head)) = found else {
            let over = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let (outcome, board) = match vain {
                Some(vain) => vain,
                None if over && matches!(wait, Wait::Start { .. }) => (Outcome::Lost, wait.destination()),
                None if over => (Outcome::TimedOut, wait.destination()),
                None => return Ok(None),
            };
            self.wait = None;
            answer(kernel, outcome, board).await?;
            return Ok(None);
        };
        self.wait = None;
        let payload = self.mail.payload(place);
        match head.order {
            Order::Message => {
                let (count, values) = payload
                    .split_first()
                    .map_or((0, payload), |(count, rest)| (*count, rest));
                let mut bytes = [Outcome::Message as u8, count, 0, 0, 0, 0];
                bytes[2..].copy_from_slice(&(values.len() as u32).to_le_bytes());
                send_answer(kernel, &bytes, values).await?;
            }
            Order::Exception => {
                let mut bytes = [Outcome::Exception as u8; 9];
                bytes[1..5].copy_from_slice(&head.number.to_le_bytes());
                bytes[5..].copy_from_slice(&(payload.len() as u32).to_le_bytes());
                send_answer(kernel, &bytes, payload).await?;
            }
            Order::Lost => answer(kernel, Outcome::Lost, head.board).await?,
            Order::Refused | Order::Busy => {
                log::error!("subkernel {}: {}", head.number, text(payload));
                answer(kernel, Outcome::NotLoaded, wait.destination()).await?;
            }
            _ => answer(kernel, Outcome::Done, 0).await?,
        }
        self.mail.remove(place);
        if let (Order::Ready, Wait::Start { number, run: true, .. }) = (head.order, wait) {
            // Earlier messages are of a previous run, later ones of this run.
            self.mail.remove_before(place, |head| head.number == number);
        }
        Ok(Some(head))
    }
}

/// Writes to a line. The caller must drop it on an error.
async fn write(lines: &mut [Line], destination: u8, bytes: &[u8]) -> Result<(), Lost> {
    if bytes.is_empty() {
        return Ok(());
    }
    let line = lines.iter_mut().find(|line| line.destination == destination);
    let line = line.ok_or(Lost)?;
    with_timeout(PATIENCE, line.stream.write_all(bytes))
        .await
        .unwrap_or(Err(Lost))
}

fn text(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

impl Wait {
    /// Whether an order completes the wait.
    fn ends_with(self, head: &Head) -> bool {
        let orders: &[Order] = match self {
            Wait::Start { .. } => &[Order::Ready, Order::Refused, Order::Busy],
            Wait::End { .. } => &[Order::Finished, Order::Exception, Order::Refused],
            Wait::Message { .. } => &[Order::Message],
        };
        let (Wait::Start { number, .. } | Wait::End { number } | Wait::Message { number }) = self;
        head.number == number && orders.contains(&head.order)
    }

    /// Whether an order means that the wait cannot succeed. A message's number alone does not tell
    /// its sender.
    fn is_lost_with(self, head: &Head) -> bool {
        let (Wait::Start { number, .. } | Wait::End { number } | Wait::Message { number }) = self;
        head.order == Order::Lost && (head.number == number || matches!(self, Wait::Message { .. }))
    }

    fn destination(self) -> u8 {
        match self {
            Wait::Start { destination, .. } => destination,
            Wait::End { .. } | Wait::Message { .. } => 0,
        }
    }
}

impl Line {
    /// Receives one piece. True if an order is complete.
    fn take(&mut self, cx: &Context<'_>, mail: &mut Mail, keeps: &mut impl Keeps) -> Poll<Result<bool, Lost>> {
        if self.have < ORDER_HEAD {
            match core::task::ready!(self.stream.poll_read(cx, &mut self.head[self.have..])) {
                Ok(0) | Err(Lost) => return Poll::Ready(Err(Lost)),
                Ok(count) => self.have += count,
            }
            if self.have < ORDER_HEAD {
                return Poll::Ready(Ok(false));
            }
            // An unknown order is another firmware's.
            let Some(head) = Head::decode(&self.head) else {
                return Poll::Ready(Err(Lost));
            };
            return self.begin(&head, mail, keeps);
        }
        let Some(head) = Head::decode(&self.head) else {
            return Poll::Ready(Err(Lost));
        };
        if self.have == ORDER_HEAD {
            // There was no room for the payload before.
            return self.begin(&head, mail, keeps);
        }
        let kept = is_kept(head.order);
        let room = match kept {
            true => keeps.room(),
            false => mail.room(self.destination),
        };
        let (wanted, mut dropped) = (room.len(), [0; 64]);
        let room = match kept && wanted == 0 {
            // A payload that is not kept is read and dropped.
            true => &mut dropped[..],
            false => room,
        };
        let left = head.length as usize - (self.have - ORDER_HEAD - 1);
        let most = room.len().min(left);
        let count = match core::task::ready!(self.stream.poll_read(cx, &mut room[..most])) {
            Ok(0) | Err(Lost) => return Poll::Ready(Err(Lost)),
            Ok(count) => count,
        };
        match kept {
            true if wanted == 0 => {}
            true => keeps.filled(count),
            false => mail.filled(self.destination, count),
        }
        self.have += count;
        if count == left {
            self.have = 0;
            if kept {
                keeps.complete(&head);
            }
        }
        Poll::Ready(Ok(count == left))
    }

    /// Begins a payload, if there is room for it.
    fn begin(&mut self, head: &Head, mail: &mut Mail, keeps: &mut impl Keeps) -> Poll<Result<bool, Lost>> {
        if is_kept(head.order) {
            keeps.begin(head);
        } else if head.length as usize > mail.longest() {
            return Poll::Ready(Err(Lost));
        } else if !mail.begin(self.destination, head) {
            return Poll::Pending;
        }
        // One more than the head: the payload has begun.
        self.have = if head.length == 0 { 0 } else { ORDER_HEAD + 1 };
        Poll::Ready(Ok(head.length == 0))
    }
}

/// Answers a request of the kernel core with these bytes.
pub async fn send_answer(kernel: &mut KernelCore, head: &[u8], payload: &[u8]) -> Result<(), Failure> {
    if payload.is_empty() {
        return kernel.send(Kind::SubkernelAnswer, head, false).await;
    }
    kernel.send(Kind::SubkernelAnswer, head, true).await?;
    kernel.send(Kind::SubkernelAnswer, payload, false).await
}

/// Answers a request of the kernel core; `board` is the board concerned.
pub async fn answer(kernel: &mut KernelCore, outcome: Outcome, board: u8) -> Result<(), Failure> {
    match outcome {
        Outcome::Done => kernel.send(Kind::SubkernelAnswer, &[outcome as u8], false).await,
        _ => kernel.send(Kind::SubkernelAnswer, &[outcome as u8, board], false).await,
    }
}
