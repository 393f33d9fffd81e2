//! Other boards in a session: the libraries that the host has sent for them, which of them run, and
//! the requests of the session's kernel that concern them (`kairos_comms::subkernels`).

use core::fmt::Write as _;
use core::task::{Context, Poll};

use embassy_time::{Duration, Instant};
use heapless::String;
use kairos_comms::kernel_core::{Failure, KernelCore};
use kairos_comms::link::Links;
use kairos_comms::subkernels::{answer, KeepsNone, Lines, Request, Wait};
use kairos_comms::traces::TraceRequest;
use kairos_comms::uncleared::uncleared;
use kairos_comms::wire::Lost;
use kairos_intercore::{Frame, Outcome};
use kairos_links::libraries::{Full, Libraries, Library, Stands, LIBRARIES as MOST};
use kairos_links::mail::Place;
use kairos_proto::link::{Service, DESTINATION_MASTER};
use kairos_proto::order::{Head, Order};

use super::traces::Traces;

/// Size of the buffer for all subkernels' libraries, in bytes.
const LIBRARIES: usize = 8 * 1024 * 1024;
/// Size of the buffer for messages of other boards that wait to be processed, in bytes.
const MAIL: usize = 256 * 1024;
/// Time limit for a board to load a library.
const START: Duration = Duration::from_secs(10);

/// A session's state of other boards.
pub struct Boards {
    links: Links,
    libraries: Libraries<'static>,
    lines: Lines,
    traces: Traces,
}

/// A subkernel to be loaded and, optionally, run.
struct Start {
    number: u32,
    destination: u8,
    run: bool,
    cursor: [u8; 8],
    /// The board whose kernel requests it.
    starter: u8,
}

impl Boards {
    /// Creates the state. Called once.
    pub fn new(links: Links) -> Self {
        Self {
            links,
            libraries: Libraries::new(uncleared!(LIBRARIES)),
            lines: Lines::new(uncleared!(MAIL)),
            traces: Traces::default(),
        }
    }

    /// Ends a session: satellites stop whatever runs for it, and drop its state.
    pub fn close(&mut self) {
        self.lines.close();
        self.libraries.clear();
        self.traces.clear();
    }

    /// Returns why no library can be kept for a board, if so.
    pub fn refusal(&self, destination: u8) -> Option<String<96>> {
        let mut text = String::new();
        let _ = match (self.links.are_there(), self.links.lead_to(destination)) {
            (_, true) => return None,
            (true, false) => write!(text, "there is no board {destination} on this system"),
            (false, false) => write!(text, "No DRTIO on this system, subkernels are not supported"),
        };
        Some(text)
    }

    /// Whether the link that leads to a board is up.
    pub fn is_there(&self, destination: u8) -> bool {
        self.links.are_up_to(destination)
    }

    /// Keeps a library for a board, or returns why this is impossible.
    pub fn keep(&mut self, number: u32, destination: u8, library: &[u8]) -> Result<(), String<96>> {
        let mut text = String::new();
        self.libraries.keep(number, destination, library).map_err(|Full| {
            let _ = write!(
                text,
                "no room for the libraries of all subkernels: at most {MOST}, {LIBRARIES} bytes in all"
            );
            text
        })
    }

    /// Ready when something may have been received for the kernel.
    pub fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.lines.poll(cx, &mut KeepsNone)
    }

    /// The earliest deadline of the kernel's waits.
    pub fn deadline(&self) -> Option<Instant> {
        match (self.lines.deadline(), self.traces.deadline()) {
            (None, deadline) | (deadline, None) => deadline,
            (Some(wait), Some(traces)) => Some(wait.min(traces)),
        }
    }

    /// Cleans up after the kernel: stops what satellites still run for it.
    pub async fn end(&mut self) {
        self.lines.forget();
        for board in self.traces.end() {
            let _ = self.lines.send(board, &Head::new(Order::Stop, 0), &[]).await;
        }
        for library in self.libraries.iter_mut() {
            if core::mem::replace(&mut library.stands, Stands::Idle).is_running() {
                let order = Head::new(Order::Stop, library.number);
                // A lost board runs nothing any more.
                let _ = self.lines.send(library.destination, &order, &[]).await;
            }
        }
    }

    /// Serves a request of the kernel; false if the frame is of another kind.
    pub async fn serve_frame(&mut self, kernel: &mut KernelCore, frame: &Frame) -> Result<bool, Failure> {
        if let Some(request) = TraceRequest::read(kernel, frame)? {
            self.serve_trace(kernel, request).await?;
        } else if let Some(request) = Request::read(kernel, frame)? {
            self.serve(kernel, request).await?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    async fn serve(&mut self, kernel: &mut KernelCore, request: Request) -> Result<(), Failure> {
        match request {
            Request::Run {
                number,
                destination,
                run,
                cursor,
            } => {
                let start = Start {
                    number,
                    destination,
                    run,
                    cursor,
                    starter: DESTINATION_MASTER,
                };
                if let Err(outcome) = self.start(&start).await {
                    return answer(kernel, outcome, destination).await;
                }
                let start = Wait::Start {
                    number,
                    destination,
                    run,
                };
                self.lines.wait(start, Some(Instant::now() + START));
            }
            Request::Await { number, deadline } => match self.stands(number) {
                Some(Stands::Idle) => return answer(kernel, Outcome::NotRunning, 0).await,
                Some(_) => self.lines.wait(Wait::End { number }, deadline),
                None => return answer(kernel, Outcome::NotLoaded, 0).await,
            },
            Request::Send(message) => {
                // Without a line the message is dropped, and the kernel is told.
                let _ = self.line_to(message.destination);
                self.lines.pass_message(kernel, &message, 0).await?;
            }
            Request::Receive { number, deadline } => self.lines.wait(Wait::Message { number }, deadline),
        }
        self.settle(kernel).await
    }

    /// Serves a request of the kernel that concerns traces.
    async fn serve_trace(&mut self, kernel: &mut KernelCore, request: TraceRequest) -> Result<(), Failure> {
        let served = match request {
            TraceRequest::Keep { number, parts } => {
                for part in &parts {
                    // Without a line the part counts as lost.
                    let _ = self.line_to(part.destination);
                }
                self.traces.keep(&mut self.lines, number, &parts).await
            }
            TraceRequest::Play { number, boards, time } => {
                self.traces.play(&mut self.lines, number, boards, time).await
            }
            TraceRequest::Forget { number } => {
                self.traces.forget(&mut self.lines, number).await;
                return Ok(());
            }
        };
        match served {
            Ok(()) => self.settle(kernel).await,
            Err(board) => answer(kernel, Outcome::Lost, board).await,
        }
    }

    /// Answers the kernel if its wait is over, and forwards messages to other boards.
    pub async fn settle(&mut self, kernel: &mut KernelCore) -> Result<(), Failure> {
        self.notice_losses().await;
        self.pass_on().await;
        self.traces.settle(&mut self.lines, kernel).await?;
        let vain = self.vain();
        if let Some(head) = self.lines.settle(kernel, vain).await? {
            if let Some(library) = self.libraries.find_mut(head.number) {
                library.stands.hear(head.order);
            }
        }
        Ok(())
    }

    /// The state of a subkernel started by this board's kernel.
    fn stands(&self, number: u32) -> Option<Stands> {
        let library = self.libraries.find(number)?;
        match library.starter {
            DESTINATION_MASTER => Some(library.stands),
            _ => Some(Stands::Idle),
        }
    }

    /// Marks subkernels as lost whose board's line is lost, and informs the satellites that started
    /// them.
    async fn notice_losses(&mut self) {
        for library in self.libraries.iter_mut() {
            if !library.stands.is_running() || self.lines.name(library.destination) == library.sent {
                continue;
            }
            library.stands = Stands::Lost;
            let starter = core::mem::replace(&mut library.starter, DESTINATION_MASTER);
            if starter != DESTINATION_MASTER {
                library.stands = Stands::Idle;
                let head = Head {
                    board: library.destination,
                    ..Head::new(Order::Lost, library.number)
                };
                // The starter may be lost as well.
                let _ = self.lines.send(starter, &head, &[]).await;
            }
        }
    }

    /// Forwards messages between kernels of satellites, and starts the subkernels that they
    /// request.
    async fn pass_on(&mut self) {
        while let Some((place, head)) = self.next_away() {
            self.pass(place, head).await;
        }
    }

    /// The next order that concerns other boards rather than this one's kernel.
    fn next_away(&mut self) -> Option<(Place, Head)> {
        let libraries = &self.libraries;
        let starter = |number| {
            libraries
                .find(number)
                .map_or(DESTINATION_MASTER, |library| library.starter)
        };
        let is_away = |head: &Head| match head.order {
            Order::Start => true,
            Order::Message if head.board != DESTINATION_MASTER => true,
            _ => starter(head.number) != DESTINATION_MASTER,
        };
        self.lines.mail().find(is_away)
    }

    async fn pass(&mut self, place: Place, head: Head) {
        let from = self.lines.mail().line(place);
        match head.order {
            Order::Start => self.start_for(from, place, &head).await,
            Order::Message if head.board != DESTINATION_MASTER => {
                let to = head.board;
                // Without a line it is dropped.
                let _ = self.line_to(to);
                let head = Head { board: from, ..head };
                if self.lines.forward(place, to, &head).await.is_err() {
                    log::error!("a message of destination {from} does not reach destination {to}");
                }
            }
            order => {
                let mut starter = DESTINATION_MASTER;
                if let Some(library) = self.libraries.find_mut(head.number) {
                    starter = library.starter;
                    library.stands.hear(order);
                    if (is_end(order) || order == Order::Busy) && !library.stands.is_running() {
                        library.starter = DESTINATION_MASTER;
                    }
                }
                // If the starter is lost, nobody waits for it.
                let _ = self.lines.forward(place, starter, &head).await;
            }
        }
    }

    /// Starts a subkernel at the request of a satellite's kernel.
    async fn start_for(&mut self, from: u8, place: Place, head: &Head) {
        let mut wanted = [0; 9];
        let payload = self.lines.mail().payload(place);
        let length = payload.len().min(wanted.len());
        wanted[..length].copy_from_slice(&payload[..length]);
        self.lines.mail().remove(place);
        let [cursor @ .., run] = wanted;
        let runs = |library: &Library| library.destination == from && library.stands.is_running();
        if !self.libraries.iter().any(runs) {
            // The subkernel that requested it has been stopped.
            return;
        }
        let start = Start {
            number: head.number,
            destination: head.board,
            run: run != 0,
            cursor,
            starter: from,
        };
        let text = match self.start(&start).await {
            Ok(()) => return,
            Err(Outcome::Lost) => None,
            Err(_) => Some("it has no library, or another board is running it"),
        };
        let order = if text.is_some() { Order::Refused } else { Order::Lost };
        let text = text.unwrap_or("");
        let answer = Head {
            board: head.board,
            length: text.len() as u32,
            ..Head::new(order, head.number)
        };
        // A lost board waits for nothing.
        let _ = self.lines.send(from, &answer, text.as_bytes()).await;
    }

    /// Why the kernel's wait cannot succeed, and the board concerned.
    fn vain(&self) -> Option<(Outcome, u8)> {
        let lost = |library: &Library| (Outcome::Lost, library.destination);
        let of = |library: &Library| match library.stands {
            Stands::Lost => Some(lost(library)),
            Stands::Idle => Some((Outcome::NotRunning, library.destination)),
            _ => self.no_room_for(library),
        };
        match self.lines.waiting()? {
            Wait::Start {
                number, destination, ..
            } => match self.libraries.find(number) {
                Some(library) if library.sent == self.lines.name(destination) => self.no_room_for(library),
                _ => Some((Outcome::Lost, destination)),
            },
            Wait::End { number } => self.libraries.find(number).and_then(of),
            Wait::Message { number } => match self.libraries.find(number) {
                // A subkernel's result.
                Some(library) => of(library),
                // The message's number alone does not identify its sender.
                None => {
                    let mut senders = self.libraries.iter().filter(|library| self.may_send(library));
                    match senders.next() {
                        None => Some(self.libraries.any_lost().map_or((Outcome::NotRunning, 0), lost)),
                        Some(first) => senders.try_fold(self.no_room_for(first)?, |_, next| self.no_room_for(next)),
                    }
                }
            },
        }
    }

    /// Whether unread messages of a subkernel's board leave no room for further ones.
    fn no_room_for(&self, library: &Library) -> Option<(Outcome, u8)> {
        let is_full = self.lines.is_full_for(library.destination);
        is_full.then_some((Outcome::TooMuch, DESTINATION_MASTER))
    }

    /// Whether a subkernel may still send messages: its end may have arrived without being awaited.
    fn may_send(&self, library: &Library) -> bool {
        let ends = |head: &Head| head.number == library.number && is_end(head.order);
        match library.stands {
            Stands::Starting | Stands::Running => !self.lines.has_come(ends),
            Stands::Restarting => true,
            Stands::Idle | Stands::Lost => false,
        }
    }

    /// Ensures that there is a line to a board.
    fn line_to(&mut self, destination: u8) -> Result<(), Lost> {
        if self.lines.name(destination) == 0 {
            let stream = self.links.open(destination, Service::Kernels).map_err(|_| Lost)?;
            self.lines.add(destination, stream);
        }
        Ok(())
    }

    /// Makes a board load a subkernel, after sending its library if necessary, and run it.
    async fn start(&mut self, start: &Start) -> Result<(), Outcome> {
        let Start {
            number,
            destination,
            run,
            cursor,
            starter,
        } = *start;
        let known = self
            .libraries
            .find(number)
            .filter(|library| library.destination == destination);
        let known = known.filter(|library| !library.stands.is_running() || library.starter == starter);
        let (sent, runs) = known
            .map(|library| (library.sent, library.stands.is_running()))
            .ok_or(Outcome::NotLoaded)?;
        let lost = |Lost| Outcome::Lost;
        self.line_to(destination).map_err(lost)?;
        let line = self.lines.name(destination);
        // Drops what an earlier run has left; if it is still running, only answers about its start.
        let kept = |head: &Head| runs && !matches!(head.order, Order::Ready | Order::Busy);
        self.lines.mail().retain(|head| head.number != number || kept(head));
        if sent != line {
            let library = self.libraries.bytes(number).ok_or(Outcome::NotLoaded)?;
            let head = Head {
                length: library.len() as u32,
                ..Head::new(Order::Keep, number)
            };
            self.lines.send(destination, &head, library).await.map_err(lost)?;
        }
        let (head, payload) = match run {
            true => (
                Head {
                    length: 8,
                    ..Head::new(Order::Run, number)
                },
                &cursor[..],
            ),
            false => (Head::new(Order::Load, number), &[][..]),
        };
        self.lines.send(destination, &head, payload).await.map_err(lost)?;
        if let Some(library) = self.libraries.find_mut(number) {
            library.sent = line;
            if run {
                library.stands.start();
            } else if !runs {
                library.stands = Stands::Idle;
            }
            library.starter = starter;
        }
        Ok(())
    }
}

/// Whether an order reports the end of a subkernel.
fn is_end(order: Order) -> bool {
    matches!(order, Order::Finished | Order::Exception | Order::Refused)
}
