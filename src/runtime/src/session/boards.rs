//! Other boards in a session: the libraries that the host has sent for them, which of them run, and
//! the requests of the session's kernel that concern them (`kairos_comms::subkernels`).

use core::fmt::Write as _;
use core::task::{Context, Poll};

use embassy_time::{Duration, Instant};
use heapless::String;
use kairos_comms::kernel_core::{Failure, KernelCore};
use kairos_comms::kernel_event::BoardRequest;
use kairos_comms::link::Links;
use kairos_comms::subkernels::{answer, send_answer, KernelStreams, NoSink, Request, Wait};
use kairos_comms::traces::TraceRequest;
use kairos_comms::uncleared::uncleared;
use kairos_comms::wire::Lost;
use kairos_intercore::{Frame, Outcome};
use kairos_links::library_store::{Full, Library, LibraryStore, SubkernelState, LIBRARIES as MOST};
use kairos_links::message_queue::Handle;
use kairos_proto::intercore::{Answer, BusValue};
use kairos_proto::kernel_message::{self, Cursor, Header, KernelMessage};
use kairos_proto::layout::Layout;
use kairos_proto::link::{Service, DESTINATION_MASTER};

use super::traces::Traces;

/// Size of the buffer for all subkernels' libraries, in bytes.
const LIBRARIES: usize = 8 * 1024 * 1024;
/// Size of the buffer for messages of other boards that wait to be processed, in bytes.
const QUEUE: usize = 256 * 1024;
/// Time limit for a board to load a library.
const START: Duration = Duration::from_secs(10);

/// A session's state of other boards.
pub struct Boards {
    links: Links,
    libraries: LibraryStore<'static>,
    streams: KernelStreams,
    traces: Traces,
}

/// A subkernel to be loaded and, optionally, run.
struct Start {
    number: u32,
    destination: u8,
    run: bool,
    cursor: i64,
    /// The board whose kernel requests it.
    starter: u8,
}

impl Boards {
    /// Creates the state. Called once.
    pub fn new(links: Links) -> Self {
        Self {
            links,
            libraries: LibraryStore::new(uncleared!(LIBRARIES)),
            streams: KernelStreams::new(uncleared!(QUEUE)),
            traces: Traces::default(),
        }
    }

    /// Ends a session: satellites stop whatever runs for it, and drop its state.
    pub fn close(&mut self) {
        self.streams.close();
        self.libraries.clear();
        self.traces.clear();
    }

    /// Returns why no library can be kept for a board, if so.
    pub fn refusal(&self, destination: u8) -> Option<String<96>> {
        let mut text = String::new();
        let _ = match (self.links.any(), self.links.has_route(destination)) {
            (_, true) => return None,
            (true, false) => write!(text, "there is no board {destination} on this system"),
            (false, false) => write!(text, "No DRTIO on this system, subkernels are not supported"),
        };
        Some(text)
    }

    /// Whether the link that leads to a board is up.
    pub fn is_reachable(&self, destination: u8) -> bool {
        self.links.is_up(destination)
    }

    /// PayloadSink a library for a board, or returns why this is impossible.
    pub fn keep(&mut self, number: u32, destination: u8, library: &[u8]) -> Result<(), String<96>> {
        let mut text = String::new();
        self.libraries.keep(number, destination, library).map_err(|Full| {
            let _ = write!(
                text,
                "no space for the libraries of all subkernels: at most {MOST}, {LIBRARIES} bytes in all"
            );
            text
        })
    }

    /// Ready when something may have been received for the kernel.
    pub fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        self.streams.poll(cx, &mut NoSink)
    }

    /// The earliest deadline of the kernel's waits.
    pub fn deadline(&self) -> Option<Instant> {
        match (self.streams.deadline(), self.traces.deadline()) {
            (None, deadline) | (deadline, None) => deadline,
            (Some(wait), Some(traces)) => Some(wait.min(traces)),
        }
    }

    /// Cleans up after the kernel: stops what satellites still run for it.
    pub async fn end(&mut self) {
        self.streams.clear_messages();
        for board in self.traces.end() {
            let _ = self
                .streams
                .send(board, &Header::new(KernelMessage::Stop, 0), &[])
                .await;
        }
        for library in self.libraries.iter_mut() {
            if core::mem::replace(&mut library.state, SubkernelState::Idle).is_running() {
                let kind = Header::new(KernelMessage::Stop, library.number);
                // A lost board runs nothing any more.
                let _ = self.streams.send(library.destination, &kind, &[]).await;
            }
        }
    }

    /// Serves the kernel's request in this frame.
    pub async fn serve(&mut self, kernel: &mut KernelCore, frame: &Frame) -> Result<(), Failure> {
        match BoardRequest::read(kernel, frame)? {
            BoardRequest::Subkernel(request) => self.serve_subkernel(kernel, request).await,
            BoardRequest::Trace(request) => self.serve_trace(kernel, request).await,
            BoardRequest::Bus(question) => match self.links.ask(question).await {
                Some(value) => {
                    let value = BusValue { value: value as u8 };
                    send_answer(kernel, &Answer::new(Outcome::Done, &value), &[]).await
                }
                None => answer(kernel, Outcome::Lost, question.destination()).await,
            },
        }
    }

    async fn serve_subkernel(&mut self, kernel: &mut KernelCore, request: Request) -> Result<(), Failure> {
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
                self.streams.wait(start, Some(Instant::now() + START));
            }
            Request::Await { number, deadline } => match self.state_of(number) {
                Some(SubkernelState::Idle) => return answer(kernel, Outcome::NotRunning, 0).await,
                Some(_) => self.streams.wait(Wait::End { number }, deadline),
                None => return answer(kernel, Outcome::NotLoaded, 0).await,
            },
            Request::Send(message) => {
                // Without a stream the message is dropped, and the kernel is told.
                let _ = self.open_stream(message.destination);
                self.streams.pass_message(kernel, &message, 0).await?;
            }
            Request::Receive { number, deadline } => self.streams.wait(Wait::Message { number }, deadline),
        }
        self.process_messages(kernel).await
    }

    /// Serves a request of the kernel that concerns traces.
    async fn serve_trace(&mut self, kernel: &mut KernelCore, request: TraceRequest) -> Result<(), Failure> {
        let served = match request {
            TraceRequest::Keep { number, parts } => {
                for part in &parts {
                    // Without a stream the part counts as lost.
                    let _ = self.open_stream(part.destination);
                }
                self.traces.keep(&mut self.streams, number, &parts).await
            }
            TraceRequest::Play { number, boards, time } => {
                self.traces.play(&mut self.streams, number, boards, time).await
            }
            TraceRequest::Erase { number } => {
                self.traces.erase(&mut self.streams, number).await;
                return Ok(());
            }
        };
        match served {
            Ok(()) => self.process_messages(kernel).await,
            Err(board) => answer(kernel, Outcome::Lost, board).await,
        }
    }

    /// Answers the kernel if its wait is over, and forwards messages to other boards.
    pub async fn process_messages(&mut self, kernel: &mut KernelCore) -> Result<(), Failure> {
        self.mark_lost().await;
        self.forward_messages().await;
        self.traces.complete_wait(&mut self.streams, kernel).await?;
        let failure = self.wait_failure();
        if let Some(header) = self.streams.complete_wait(kernel, failure).await? {
            if let Some(library) = self.libraries.find_mut(header.number) {
                library.state.update(header.kind);
            }
        }
        Ok(())
    }

    /// The state of a subkernel started by this board's kernel.
    fn state_of(&self, number: u32) -> Option<SubkernelState> {
        let library = self.libraries.find(number)?;
        match library.starter {
            DESTINATION_MASTER => Some(library.state),
            _ => Some(SubkernelState::Idle),
        }
    }

    /// Marks subkernels as lost whose board's stream is lost, and informs the satellites that started
    /// them.
    async fn mark_lost(&mut self) {
        for library in self.libraries.iter_mut() {
            if !library.state.is_running() || self.streams.id(library.destination) == library.sent {
                continue;
            }
            library.state = SubkernelState::Lost;
            let starter = core::mem::replace(&mut library.starter, DESTINATION_MASTER);
            if starter != DESTINATION_MASTER {
                library.state = SubkernelState::Idle;
                let header = Header {
                    board: library.destination,
                    ..Header::new(KernelMessage::Lost, library.number)
                };
                // The starter may be lost as well.
                let _ = self.streams.send(starter, &header, &[]).await;
            }
        }
    }

    /// Forwards messages between kernels of satellites, and starts the subkernels that they
    /// request.
    async fn forward_messages(&mut self) {
        while let Some((handle, header)) = self.next_for_others() {
            self.forward(handle, header).await;
        }
    }

    /// The next message that concerns other boards rather than this one's kernel.
    fn next_for_others(&mut self) -> Option<(Handle, Header)> {
        let libraries = &self.libraries;
        let starter = |number| {
            libraries
                .find(number)
                .map_or(DESTINATION_MASTER, |library| library.starter)
        };
        let is_for_others = |header: &Header| match header.kind {
            KernelMessage::Start => true,
            KernelMessage::Message if header.board != DESTINATION_MASTER => true,
            _ => starter(header.number) != DESTINATION_MASTER,
        };
        self.streams.messages().find(is_for_others)
    }

    async fn forward(&mut self, handle: Handle, header: Header) {
        let from = self.streams.messages().stream(handle);
        match header.kind {
            KernelMessage::Start => self.start_for(from, handle, &header).await,
            KernelMessage::Message if header.board != DESTINATION_MASTER => {
                let to = header.board;
                // Without a stream it is dropped.
                let _ = self.open_stream(to);
                let header = Header { board: from, ..header };
                if self.streams.forward(handle, to, &header).await.is_err() {
                    log::error!("a message of destination {from} does not reach destination {to}");
                }
            }
            kind => {
                let mut starter = DESTINATION_MASTER;
                if let Some(library) = self.libraries.find_mut(header.number) {
                    starter = library.starter;
                    library.state.update(kind);
                    if (is_end(kind) || kind == KernelMessage::Busy) && !library.state.is_running() {
                        library.starter = DESTINATION_MASTER;
                    }
                }
                // If the starter is lost, no kernel waits for it.
                let _ = self.streams.forward(handle, starter, &header).await;
            }
        }
    }

    /// Starts a subkernel at the request of a satellite's kernel.
    async fn start_for(&mut self, from: u8, handle: Handle, header: &Header) {
        let wanted = kernel_message::Start::decode(self.streams.messages().payload(handle)).unwrap_or_default();
        self.streams.messages().remove(handle);
        let runs = |library: &Library| library.destination == from && library.state.is_running();
        if !self.libraries.iter().any(runs) {
            // The subkernel that requested it has been stopped.
            return;
        }
        let start = Start {
            number: header.number,
            destination: header.board,
            run: wanted.run,
            cursor: wanted.cursor,
            starter: from,
        };
        let text = match self.start(&start).await {
            Ok(()) => return,
            Err(Outcome::Lost) => None,
            Err(_) => Some("it has no library, or another board is running it"),
        };
        let kind = if text.is_some() {
            KernelMessage::Refused
        } else {
            KernelMessage::Lost
        };
        let text = text.unwrap_or("");
        let answer = Header {
            board: header.board,
            length: text.len() as u32,
            ..Header::new(kind, header.number)
        };
        // A lost board waits for nothing.
        let _ = self.streams.send(from, &answer, text.as_bytes()).await;
    }

    /// Why the kernel's wait cannot succeed, and the board concerned.
    fn wait_failure(&self) -> Option<(Outcome, u8)> {
        let lost = |library: &Library| (Outcome::Lost, library.destination);
        let of = |library: &Library| match library.state {
            SubkernelState::Lost => Some(lost(library)),
            SubkernelState::Idle => Some((Outcome::NotRunning, library.destination)),
            _ => self.has_no_space_for(library),
        };
        match self.streams.waiting()? {
            Wait::Start {
                number, destination, ..
            } => match self.libraries.find(number) {
                Some(library) if library.sent == self.streams.id(destination) => self.has_no_space_for(library),
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
                        Some(first) => {
                            senders.try_fold(self.has_no_space_for(first)?, |_, next| self.has_no_space_for(next))
                        }
                    }
                }
            },
        }
    }

    /// Whether unread messages of a subkernel's board leave no space for further ones.
    fn has_no_space_for(&self, library: &Library) -> Option<(Outcome, u8)> {
        let is_full = self.streams.is_full_for(library.destination);
        is_full.then_some((Outcome::TooMuch, DESTINATION_MASTER))
    }

    /// Whether a subkernel may still send messages: its end may have arrived without being awaited.
    fn may_send(&self, library: &Library) -> bool {
        let ends = |header: &Header| header.number == library.number && is_end(header.kind);
        match library.state {
            SubkernelState::Starting | SubkernelState::Running => !self.streams.has_received(ends),
            SubkernelState::Restarting => true,
            SubkernelState::Idle | SubkernelState::Lost => false,
        }
    }

    /// Ensures that there is a stream to a board.
    fn open_stream(&mut self, destination: u8) -> Result<(), Lost> {
        if self.streams.id(destination) == 0 {
            let stream = self.links.open(destination, Service::Kernels).map_err(|_| Lost)?;
            self.streams.add(destination, stream);
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
        let known = known.filter(|library| !library.state.is_running() || library.starter == starter);
        let (sent, runs) = known
            .map(|library| (library.sent, library.state.is_running()))
            .ok_or(Outcome::NotLoaded)?;
        let lost = |Lost| Outcome::Lost;
        self.open_stream(destination).map_err(lost)?;
        let stream = self.streams.id(destination);
        // Drops what an earlier run has left; if it is still running, only answers about its start.
        let kept = |header: &Header| runs && !matches!(header.kind, KernelMessage::Ready | KernelMessage::Busy);
        self.streams
            .messages()
            .retain(|header| header.number != number || kept(header));
        if sent != stream {
            let library = self.libraries.bytes(number).ok_or(Outcome::NotLoaded)?;
            let header = Header {
                length: library.len() as u32,
                ..Header::new(KernelMessage::Keep, number)
            };
            self.streams.send(destination, &header, library).await.map_err(lost)?;
        }
        let cursor = Cursor { time: cursor }.encode();
        let (header, payload) = match run {
            true => (
                Header {
                    length: Cursor::LENGTH as u32,
                    ..Header::new(KernelMessage::Run, number)
                },
                &cursor[..],
            ),
            false => (Header::new(KernelMessage::Load, number), &[][..]),
        };
        self.streams.send(destination, &header, payload).await.map_err(lost)?;
        if let Some(library) = self.libraries.find_mut(number) {
            library.sent = stream;
            if run {
                library.state.start();
            } else if !runs {
                library.state = SubkernelState::Idle;
            }
            library.starter = starter;
        }
        Ok(())
    }
}

/// Whether a message reports the end of a subkernel.
fn is_end(kind: KernelMessage) -> bool {
    matches!(
        kind,
        KernelMessage::Finished | KernelMessage::Exception | KernelMessage::Refused
    )
}
