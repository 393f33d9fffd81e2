//! What the kernel of one board wants of the others (`docs/gateware/link-messages.md`): the lines to
//! them, what has come by those, and the requests of this board's kernel core that wait for it.
//!
//! On the board with the network a line is a stream to each satellite whose kernels are wanted; on
//! a satellite there is one, to the board above.

use core::task::{Context, Poll};

use embassy_time::{with_timeout, Duration, Instant};
use heapless::Vec;
use kairos_channel::{Kind, Outcome};
use kairos_links::mail::{Mail, Place};
use kairos_proto::order::{Head, Order, ORDER_HEAD};

use crate::kernel_core::{Failure, KernelCore};
use crate::link::{LinkStream, BOARDS};
use crate::wire::{Lost, Wire};

mod request;

pub use request::{Message, Request};

/// A board that takes nothing for so long is taken for lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// By this number a subkernel asks for its arguments.
pub const ARGUMENTS: u32 = u32::MAX;
/// Bytes moved at a time.
const CHUNK: usize = 1024;

/// A line to another board.
struct Line {
    destination: u8,
    /// Unlike those before.
    name: u32,
    stream: LinkStream,
    /// What has come of a head.
    head: [u8; ORDER_HEAD],
    have: usize,
}

/// What the kernel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// That a subkernel is loaded, or runs.
    Start { number: u32, destination: u8, run: bool },
    /// That it ends.
    End { number: u32 },
    /// A message, or the result of a subkernel.
    Message { number: u32 },
}

/// The lines of this board.
pub struct Lines {
    mail: Mail<'static>,
    /// At most one to a board. None are looked at without cost: a call of the host passes here twice.
    lines: Vec<Line, BOARDS>,
    names: u32,
    wait: Option<(Wait, Option<Instant>)>,
}

/// What has come by a line that is not mail: pieces of a library, or of a trace.
pub trait Keeps {
    /// A library begins to come.
    fn begin(&mut self, head: &Head);
    /// Where it goes on; empty if it is complete.
    fn room(&mut self) -> &mut [u8];
    fn filled(&mut self, count: usize);
    /// All of it has come, if there was room.
    fn complete(&mut self, head: &Head);
}

/// Whether what an order carries is no mail.
fn is_kept(order: Order) -> bool {
    matches!(order, Order::Keep | Order::Trace)
}

/// Whether an order is for the board to which it comes, not for its kernel.
pub fn is_command(order: Order) -> bool {
    matches!(
        order,
        Order::Load | Order::Run | Order::Play | Order::Forget | Order::Stop
    )
}

/// Keeps none.
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
    /// `memory`: room for what has come and was not looked at.
    pub fn new(memory: &'static mut [u8]) -> Self {
        Self {
            mail: Mail::new(memory),
            lines: Vec::new(),
            names: 0,
            wait: None,
        }
    }

    /// Drops all lines, and forgets what has come.
    pub fn close(&mut self) {
        self.lines.clear();
        self.forget();
    }

    /// A kernel has ended: nobody waits, and for nothing.
    pub fn forget(&mut self) {
        self.mail.clear();
        self.wait = None;
    }

    /// The kernel of a satellite has ended: nobody waits for messages, and for what was to be heard
    /// of other boards.
    pub fn finish(&mut self) {
        self.mail.retain(|head| is_command(head.order));
        self.wait = None;
    }

    /// A new line to a board, in place of the one before.
    pub fn add(&mut self, destination: u8, stream: LinkStream) {
        self.drop_line(destination);
        self.names += 1;
        // There are no more boards than places.
        let _ = self.lines.push(Line {
            destination,
            name: self.names,
            stream,
            head: [0; ORDER_HEAD],
            have: 0,
        });
    }

    /// The name of the line to a board; 0: there is none.
    pub fn name(&self, destination: u8) -> u32 {
        let line = self.lines.iter().find(|line| line.destination == destination);
        line.map_or(0, |line| line.name)
    }

    pub fn mail(&mut self) -> &mut Mail<'static> {
        &mut self.mail
    }

    /// Whether nothing more comes from a board before the kernel takes what has come: there is no
    /// room for it.
    pub fn is_full_for(&self, destination: u8) -> bool {
        let line = self.lines.iter().find(|line| line.destination == destination);
        let next = line
            .filter(|line| line.have == ORDER_HEAD)
            .and_then(|line| Head::decode(&line.head));
        next.is_some_and(|head| !is_kept(head.order) && !self.mail.has_room(&head))
    }

    /// Whether something has come, and was not looked at.
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

    /// Takes what has come. Ready when an order is complete, or a line is lost.
    pub fn poll(&mut self, cx: &Context<'_>, keeps: &mut impl Keeps) -> Poll<()> {
        let mut result = Poll::Pending;
        let Self { mail, lines, .. } = self;
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

    /// Sends an order, by a line that is dropped if it does not take it.
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

    /// Passes on to another board what has come, and forgets it.
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

    /// Passes on the message of a request of the kernel core, and answers it. `board`: what the
    /// receiver is told of it.
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

    /// The kernel waits from now on.
    pub fn wait(&mut self, wait: Wait, deadline: Option<Instant>) {
        self.wait = Some((wait, deadline));
    }

    pub fn waiting(&self) -> Option<Wait> {
        self.wait.map(|(wait, _)| wait)
    }

    /// When the kernel has waited for too long.
    pub fn deadline(&self) -> Option<Instant> {
        self.wait.and_then(|(_, deadline)| deadline)
    }

    /// Answers the kernel that waits, if what it waits for has come. `vain`: why it never will, and
    /// which board that is about. Returns the order that has ended the wait.
    pub async fn settle(
        &mut self,
        kernel: &mut KernelCore,
        vain: Option<(Outcome, u8)>,
    ) -> Result<Option<Head>, Failure> {
        let Some((wait, deadline)) = self.wait else {
            return Ok(None);
        };
        let found = self.mail.find(|head| wait.ends_with(head));
        // What has ended by an exception sends nothing more.
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
            // What has come before is of an earlier run, what comes now of this one.
            self.mail.remove_before(place, |head| head.number == number);
        }
        Ok(Some(head))
    }
}

/// Writes to a line; nobody drops it.
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
    /// Whether an order is what is waited for.
    fn ends_with(self, head: &Head) -> bool {
        let orders: &[Order] = match self {
            Wait::Start { .. } => &[Order::Ready, Order::Refused, Order::Busy],
            Wait::End { .. } => &[Order::Finished, Order::Exception, Order::Refused],
            Wait::Message { .. } => &[Order::Message],
        };
        let (Wait::Start { number, .. } | Wait::End { number } | Wait::Message { number }) = self;
        head.number == number && orders.contains(&head.order)
    }

    /// Whether an order says that it never comes. Of a message nobody knows by its number alone who
    /// would send it.
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
    /// Takes one piece of what has come. True if an order is complete.
    fn take(&mut self, cx: &Context<'_>, mail: &mut Mail, keeps: &mut impl Keeps) -> Poll<Result<bool, Lost>> {
        if self.have < ORDER_HEAD {
            match core::task::ready!(self.stream.poll_read(cx, &mut self.head[self.have..])) {
                Ok(0) | Err(Lost) => return Poll::Ready(Err(Lost)),
                Ok(count) => self.have += count,
            }
            if self.have < ORDER_HEAD {
                return Poll::Ready(Ok(false));
            }
            // What it does not know is another firmware's.
            let Some(head) = Head::decode(&self.head) else {
                return Poll::Ready(Err(Lost));
            };
            return self.begin(&head, mail, keeps);
        }
        let Some(head) = Head::decode(&self.head) else {
            return Poll::Ready(Err(Lost));
        };
        if self.have == ORDER_HEAD {
            // There was no room for it.
            return self.begin(&head, mail, keeps);
        }
        let kept = is_kept(head.order);
        let room = match kept {
            true => keeps.room(),
            false => mail.room(self.destination),
        };
        let (wanted, mut dropped) = (room.len(), [0; 64]);
        let room = match kept && wanted == 0 {
            // One that is not kept is read and dropped.
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

    /// Begins with a payload, if there is room for it.
    fn begin(&mut self, head: &Head, mail: &mut Mail, keeps: &mut impl Keeps) -> Poll<Result<bool, Lost>> {
        if is_kept(head.order) {
            keeps.begin(head);
        } else if head.length as usize > mail.longest() {
            return Poll::Ready(Err(Lost));
        } else if !mail.begin(self.destination, head) {
            return Poll::Pending;
        }
        // One more than the head: its payload has begun.
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

/// Answers a request of the kernel core; `board` is that which it is about.
pub async fn answer(kernel: &mut KernelCore, outcome: Outcome, board: u8) -> Result<(), Failure> {
    match outcome {
        Outcome::Done => kernel.send(Kind::SubkernelAnswer, &[outcome as u8], false).await,
        _ => kernel.send(Kind::SubkernelAnswer, &[outcome as u8, board], false).await,
    }
}
