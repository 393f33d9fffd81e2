//! Kernels that this board's kernel core runs for the upstream board. Libraries are kept while the
//! stream to that board exists. They are loaded and run at its requests, and messages to other boards
//! pass through it.

use core::convert::Infallible;

use embassy_time::{Duration, Instant};
use heapless::{String, Vec};
use kairos_comms::close_reason::CloseReason;
use kairos_comms::kernel_core::{Failure, KernelCore};
use kairos_comms::kernel_event::{BoardRequest, KernelEvent};
use kairos_comms::link::Link;
use kairos_comms::subkernels::{answer, is_command, KernelStreams, PayloadSink, Request, Wait, ARGUMENTS};
use kairos_comms::traces::TraceRequest;
use kairos_comms::uncleared::uncleared;
use kairos_intercore::{Frame, Kind, Outcome};
use kairos_links::library_store::LibraryStore;
use kairos_pl::names;
use kairos_proto::kernel_message::{self, Cursor, Header, KernelMessage};
use kairos_proto::layout::Layout;
use kairos_proto::link::{Service, DESTINATION_MASTER};

use crate::playback::DmaPlayback;

/// Size of the buffer for all libraries, in bytes.
const LIBRARIES: usize = 8 * 1024 * 1024;
/// Size of the buffer for messages that wait to be processed, in bytes.
const QUEUE: usize = 256 * 1024;
/// Longest report of an exception, in bytes.
const REPORT: usize = 8192;

/// Most subkernels on other boards that a kernel here may have running.
const STARTED: usize = 16;
/// Time limit for another board to load a library.
const START: Duration = Duration::from_secs(10);

/// Polling interval of a running player.
const POLL_INTERVAL: Duration = Duration::from_micros(10);

/// State of the kernel core.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Empty,
    Loaded(u32),
    Running(u32),
}

/// Libraries and traces received over the stream.
struct Stores {
    libraries: LibraryStore<'static>,
    playback: DmaPlayback,
    /// Whether a trace is being received.
    is_trace: bool,
}

impl PayloadSink for Stores {
    fn begin(&mut self, header: &Header) {
        self.is_trace = header.kind == KernelMessage::Trace;
        if self.is_trace {
            return self.playback.begin(header);
        }
        if self.libraries.begin(header.number, 0, header.length as usize).is_err() {
            log::error!("no space for subkernel {} of {} bytes", header.number, header.length);
        }
    }

    fn space(&mut self) -> &mut [u8] {
        match self.is_trace {
            true => self.playback.space(),
            false => self.libraries.space(),
        }
    }

    fn filled(&mut self, count: usize) {
        match self.is_trace {
            true => self.playback.filled(count),
            false => self.libraries.filled(count),
        }
    }

    fn complete(&mut self, header: &Header) {
        if header.kind == KernelMessage::Trace {
            self.playback.complete(header);
        }
    }
}

/// Starts core 1, so that the first kernel need not wait for it, and a failure to start is noticed.
/// Then serves streams of the upstream board, one at a time.
#[embassy_executor::task]
pub async fn serve(uplink: &'static Link, mut kernel: KernelCore) -> ! {
    if kernel.restart().await.is_ok() {
        log::info!("kernel core ready");
    }
    let mut streams = KernelStreams::new(uncleared!(QUEUE));
    let mut stores = Stores {
        libraries: LibraryStore::new(uncleared!(LIBRARIES)),
        playback: DmaPlayback::new(),
        is_trace: false,
    };
    loop {
        streams.add(DESTINATION_MASTER, uplink.accept(Service::Kernels).await);
        let mut session = Session {
            kernel: &mut kernel,
            streams: &mut streams,
            stores: &mut stores,
            state: State::Empty,
            started: Vec::new(),
            starting: None,
        };
        let Err(reason) = session.serve().await;
        reason.log("subkernels");
        streams.close();
        stores.libraries.clear();
        stores.playback.clear();
        kernel.stop().await;
    }
}

struct Session<'a> {
    kernel: &'a mut KernelCore,
    streams: &'a mut KernelStreams,
    stores: &'a mut Stores,
    state: State,
    /// Subkernels on other boards that the kernel has started and whose end it has not learned.
    started: Vec<u32, STARTED>,
    /// The subkernel that is being started.
    starting: Option<u32>,
}

impl Session<'_> {
    async fn serve(&mut self) -> Result<Infallible, CloseReason> {
        loop {
            self.step().await?;
        }
    }

    async fn step(&mut self) -> Result<(), CloseReason> {
        let next_poll = self
            .stores
            .playback
            .is_playing()
            .then(|| Instant::now() + POLL_INTERVAL);
        let deadline = [self.streams.deadline(), next_poll].into_iter().flatten().min();
        let (kernel, streams, stores) = (&mut *self.kernel, &mut *self.streams, &mut *self.stores);
        match kernel.next_frame_or(deadline, |cx| streams.poll(cx, stores)).await {
            Ok(Some(frame)) => match self.frame(frame).await {
                // It ends the subkernel, not the connection.
                Err(CloseReason::Kernel(failure)) => self.failed(failure).await?,
                served => served?,
            },
            Err(failure) => self.failed(failure).await?,
            Ok(None) => {}
        }
        if self.streams.id(DESTINATION_MASTER) == 0 {
            return Err(CloseReason::Lost);
        }
        self.stores.playback.poll();
        self.send_playback_answers().await?;
        while let Some((handle, header)) = self.streams.messages().find(|header| is_command(header.kind)) {
            // The other commands have none.
            let cursor = Cursor::decode(self.streams.messages().payload(handle)).unwrap_or_default();
            self.streams.messages().remove(handle);
            self.command(header, cursor).await?;
        }
        // Unread messages may leave no space for the one that the kernel waits for.
        let is_full = self.streams.waiting().is_some() && self.streams.is_full_for(DESTINATION_MASTER);
        let failure = is_full.then(|| (Outcome::TooMuch, names::destination() as u8));
        if let Some(header) = self.streams.complete_wait(self.kernel, failure).await? {
            self.update_started(&header);
        }
        Ok(())
    }

    /// Records an answer that the kernel has received about a subkernel of another board.
    fn update_started(&mut self, header: &Header) {
        let number = header.number;
        match header.kind {
            KernelMessage::Ready if self.starting == Some(number) => {
                if !self.started.contains(&number) && self.started.push(number).is_err() {
                    log::warn!("subkernel {number}: no more than {STARTED} can be awaited at a time");
                }
            }
            KernelMessage::Finished | KernelMessage::Exception | KernelMessage::Refused | KernelMessage::Lost => {
                self.started.retain(|known| *known != number);
            }
            _ => {}
        }
    }

    async fn send_playback_answers(&mut self) -> Result<(), CloseReason> {
        while let Some((header, content)) = self.stores.playback.next_answer() {
            self.streams.send(DESTINATION_MASTER, &header, &content).await?;
        }
        Ok(())
    }

    async fn command(&mut self, header: Header, cursor: Cursor) -> Result<(), CloseReason> {
        match header.kind {
            KernelMessage::Load | KernelMessage::Run => {
                if let State::Running(number) = self.state {
                    let mut text = String::<64>::new();
                    let _ = core::fmt::write(&mut text, format_args!("subkernel {number} is running on its board"));
                    log::error!("subkernel {}: {text}", header.number);
                    return self.report(KernelMessage::Busy, header.number, text.as_bytes()).await;
                }
                // A preceding `Load` may have loaded it already.
                let number = header.number;
                if self.state != State::Loaded(number) && !self.load(number).await? {
                    return Ok(());
                }
                if header.kind == KernelMessage::Run {
                    self.kernel.send(Kind::SetCursor, &cursor.encode(), false).await?;
                    self.kernel.send(Kind::Run, &[], false).await?;
                    self.state = State::Running(number);
                }
                Ok(self
                    .streams
                    .send(DESTINATION_MASTER, &Header::new(KernelMessage::Ready, number), &[])
                    .await?)
            }
            KernelMessage::Play => {
                self.stores.playback.play(&header, cursor.time);
                self.send_playback_answers().await
            }
            KernelMessage::Erase => {
                self.stores.playback.erase(header.number);
                Ok(())
            }
            KernelMessage::Stop => {
                self.stores.playback.stop();
                self.kernel.stop().await;
                self.ended();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Loads a library; false if it was refused.
    async fn load(&mut self, number: u32) -> Result<bool, CloseReason> {
        self.state = State::Empty;
        let Some(library) = self.stores.libraries.bytes(number) else {
            self.refuse(number, "its board does not have its library").await?;
            return Ok(false);
        };
        self.kernel.load(library).await?;
        let frame = self.kernel.next_frame().await?;
        if frame.kind == Kind::LoadCompleted {
            self.state = State::Loaded(number);
            return Ok(true);
        }
        let text: String<256> = self.kernel.text()?;
        self.refuse(number, &text).await?;
        Ok(false)
    }

    async fn refuse(&mut self, number: u32, text: &str) -> Result<(), CloseReason> {
        log::error!("subkernel {number}: {text}");
        self.report(KernelMessage::Refused, number, text.as_bytes()).await
    }

    async fn report(&mut self, kind: KernelMessage, number: u32, payload: &[u8]) -> Result<(), CloseReason> {
        let header = Header {
            length: payload.len() as u32,
            ..Header::new(kind, number)
        };
        Ok(self.streams.send(DESTINATION_MASTER, &header, payload).await?)
    }

    /// Handles a failure of the kernel core.
    async fn failed(&mut self, failure: Failure) -> Result<(), CloseReason> {
        self.kernel.stop().await;
        let State::Running(number) = core::mem::replace(&mut self.state, State::Empty) else {
            return Ok(());
        };
        let mut text = String::<96>::new();
        let _ = core::fmt::write(&mut text, format_args!("{failure}"));
        self.refuse(number, &text).await
    }

    async fn frame(&mut self, frame: Frame) -> Result<(), CloseReason> {
        let event = KernelEvent::from(frame.kind);
        if let KernelEvent::Log = event {
            return Ok(self.kernel.log().await?);
        }
        let State::Running(number) = self.state else {
            return Ok(());
        };
        match event {
            KernelEvent::Log => Ok(()),
            KernelEvent::Board => match BoardRequest::read(self.kernel, &frame)? {
                BoardRequest::Subkernel(request) => self.request(number, request).await,
                BoardRequest::Trace(TraceRequest::Erase { .. }) => Ok(()),
                // Only the board with the network knows the other boards.
                BoardRequest::Trace(_) | BoardRequest::Bus(_) => Ok(answer(self.kernel, Outcome::NotLoaded, 0).await?),
            },
            KernelEvent::Finished => {
                self.ended();
                self.report(KernelMessage::Finished, number, &[]).await
            }
            KernelEvent::Exception => {
                let mut report = [0; REPORT];
                let mut length = self.kernel.read(&mut report)?;
                let mut more = frame.more;
                while more {
                    more = self.kernel.next_frame().await?.more;
                    length += self.kernel.read(&mut report[length..])?;
                }
                self.ended();
                self.report(KernelMessage::Exception, number, &report[..length]).await
            }
            KernelEvent::Rpc { .. } => {
                self.kernel.stop().await;
                self.state = State::Empty;
                self.refuse(number, "it called the host, which subkernels cannot do: stopped")
                    .await
            }
        }
    }

    fn ended(&mut self) {
        self.kernel.ended();
        self.state = State::Empty;
        self.started.clear();
        self.streams.finish();
    }

    async fn request(&mut self, own: u32, request: Request) -> Result<(), CloseReason> {
        match request {
            // The board with the network knows the other boards, and has their libraries.
            Request::Run {
                destination,
                number,
                cursor,
                run,
            } => {
                // Drops what an earlier run has left; if it is still running, only answers about
                // its start.
                let runs = self.started.contains(&number);
                let kept = |header: &Header| runs && !matches!(header.kind, KernelMessage::Ready | KernelMessage::Busy);
                self.streams
                    .messages()
                    .retain(|header| header.number != number || kept(header));
                let payload = kernel_message::Start { cursor, run }.encode();
                let header = Header {
                    board: destination,
                    length: payload.len() as u32,
                    ..Header::new(KernelMessage::Start, number)
                };
                self.streams.send(DESTINATION_MASTER, &header, &payload).await?;
                self.starting = run.then_some(number);
                let start = Wait::Start {
                    number,
                    destination,
                    run,
                };
                self.streams.wait(start, Some(Instant::now() + START));
            }
            Request::Await { number, deadline } if self.started.contains(&number) => {
                self.streams.wait(Wait::End { number }, deadline);
            }
            Request::Await { .. } => answer(self.kernel, Outcome::NotRunning, 0).await?,
            Request::Send(mut message) => {
                let board = if message.is_result {
                    DESTINATION_MASTER
                } else {
                    message.destination
                };
                message.via = DESTINATION_MASTER;
                self.streams.pass_message(self.kernel, &message, board).await?;
            }
            Request::Receive { number, deadline } => {
                let number = if number == ARGUMENTS { own } else { number };
                self.streams.wait(Wait::Message { number }, deadline);
            }
        }
        Ok(())
    }
}
