//! Kernels that this board's kernel core runs for the upstream board. Libraries are kept while the
//! line to that board exists. They are loaded and run at its orders, and messages to other boards
//! pass through it.

use core::future::{pending, poll_fn};
use core::pin::pin;
use core::task::Poll;

use embassy_futures::select::{select, Either};
use embassy_time::{Duration, Instant, Timer};
use heapless::{String, Vec};
use kairos_comms::kernel_core::{Failure, KernelCore, SUPERVISION};
use kairos_comms::link::Link;
use kairos_comms::subkernels::{answer, is_command, Keeps, Lines, Request, Wait, ARGUMENTS};
use kairos_comms::traces::TraceRequest;
use kairos_comms::uncleared::uncleared;
use kairos_intercore::{Frame, Kind, Outcome};
use kairos_links::libraries::Libraries;
use kairos_pl::names;
use kairos_proto::link::{Service, DESTINATION_MASTER};
use kairos_proto::order::{Head, Order};

use crate::player::Tape;

/// Size of the buffer for all libraries, in bytes.
const LIBRARIES: usize = 8 * 1024 * 1024;
/// Size of the buffer for orders that wait to be processed, in bytes.
const MAIL: usize = 256 * 1024;
/// Longest report of an exception, in bytes.
const REPORT: usize = 8192;

/// Most subkernels on other boards that a kernel here may have running.
const STARTED: usize = 16;
/// Time limit for another board to load a library.
const START: Duration = Duration::from_secs(10);

/// Polling interval of a running player.
const LOOK: Duration = Duration::from_micros(10);

/// Why a line has ended.
enum End {
    /// The line is lost, or the upstream board has closed it.
    Lost,
    Kernel(Failure),
}

impl From<Failure> for End {
    fn from(failure: Failure) -> Self {
        End::Kernel(failure)
    }
}

impl From<kairos_comms::wire::Lost> for End {
    fn from(_: kairos_comms::wire::Lost) -> Self {
        End::Lost
    }
}

/// What the kernel core holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Nothing,
    Loaded(u32),
    Running(u32),
}

/// Libraries and traces received over the line.
struct Shelf {
    libraries: Libraries<'static>,
    tape: Tape,
    /// Whether a trace is being received.
    is_trace: bool,
}

impl Keeps for Shelf {
    fn begin(&mut self, head: &Head) {
        self.is_trace = head.order == Order::Trace;
        if self.is_trace {
            return self.tape.begin(head);
        }
        if self.libraries.begin(head.number, 0, head.length as usize).is_err() {
            log::error!("no room for subkernel {} of {} bytes", head.number, head.length);
        }
    }

    fn room(&mut self) -> &mut [u8] {
        match self.is_trace {
            true => self.tape.room(),
            false => self.libraries.room(),
        }
    }

    fn filled(&mut self, count: usize) {
        match self.is_trace {
            true => self.tape.filled(count),
            false => self.libraries.filled(count),
        }
    }

    fn complete(&mut self, head: &Head) {
        if head.order == Order::Trace {
            self.tape.complete(head);
        }
    }
}

/// Starts core 1, so that the first kernel need not wait for it, and a failure to start is noticed.
/// Then serves lines of the upstream board, one at a time.
#[embassy_executor::task]
pub async fn serve(uplink: &'static Link, mut kernel: KernelCore) -> ! {
    if kernel.restart().await.is_ok() {
        log::info!("kernel core ready");
    }
    let mut lines = Lines::new(uncleared!(MAIL));
    let mut shelf = Shelf {
        libraries: Libraries::new(uncleared!(LIBRARIES)),
        tape: Tape::new(),
        is_trace: false,
    };
    loop {
        lines.add(DESTINATION_MASTER, uplink.accept(Service::Kernels).await);
        let mut session = Session {
            kernel: &mut kernel,
            lines: &mut lines,
            shelf: &mut shelf,
            state: State::Nothing,
            started: Vec::new(),
            starting: None,
        };
        if let End::Kernel(failure) = session.serve().await {
            log::warn!("subkernels: {failure}");
        }
        lines.close();
        shelf.libraries.clear();
        shelf.tape.clear();
        kernel.stop().await;
    }
}

struct Session<'a> {
    kernel: &'a mut KernelCore,
    lines: &'a mut Lines,
    shelf: &'a mut Shelf,
    state: State,
    /// Subkernels on other boards that the kernel has started and whose end it has not learned.
    started: Vec<u32, STARTED>,
    /// The subkernel that is being started.
    starting: Option<u32>,
}

impl Session<'_> {
    async fn serve(&mut self) -> End {
        loop {
            if let Err(end) = self.step().await {
                return end;
            }
        }
    }

    async fn step(&mut self) -> Result<(), End> {
        let look = self.shelf.tape.is_playing().then(|| Instant::now() + LOOK);
        let deadline = [self.lines.deadline(), look].into_iter().flatten().min();
        let late = pin!(async {
            match deadline {
                Some(deadline) => Timer::at(deadline).await,
                None => pending().await,
            }
        });
        let event = {
            let _expected = SUPERVISION.expect();
            let (kernel, lines, shelf) = (&mut *self.kernel, &mut *self.lines, &mut *self.shelf);
            let event = poll_fn(|cx| {
                if let Poll::Ready(frame) = kernel.poll_frame(cx) {
                    return Poll::Ready(frame.map(Some));
                }
                lines.poll(cx, shelf).map(|()| Ok(None))
            });
            select(event, late).await
        };
        match event {
            Either::First(Ok(Some(frame))) => self.frame(frame).await?,
            Either::First(Err(failure)) => self.failed(failure).await?,
            Either::First(Ok(None)) | Either::Second(()) => {}
        }
        if self.lines.name(DESTINATION_MASTER) == 0 {
            return Err(End::Lost);
        }
        self.shelf.tape.poll();
        self.answer_tape().await?;
        while let Some((place, head)) = self.lines.mail().find(|head| is_command(head.order)) {
            let mut cursor = [0; 8];
            if let Some(bytes) = self.lines.mail().payload(place).first_chunk() {
                cursor = *bytes;
            }
            self.lines.mail().remove(place);
            self.order(head, cursor).await?;
        }
        // Unread messages may leave no room for the one that the kernel waits for.
        let is_full = self.lines.waiting().is_some() && self.lines.is_full_for(DESTINATION_MASTER);
        let vain = is_full.then(|| (Outcome::TooMuch, names::destination() as u8));
        if let Some(head) = self.lines.settle(self.kernel, vain).await? {
            self.heard(&head);
        }
        Ok(())
    }

    /// Records an answer that the kernel has received about a subkernel of another board.
    fn heard(&mut self, head: &Head) {
        let number = head.number;
        match head.order {
            Order::Ready if self.starting == Some(number) => {
                if !self.started.contains(&number) && self.started.push(number).is_err() {
                    log::warn!("subkernel {number}: no more than {STARTED} can be awaited at a time");
                }
            }
            Order::Finished | Order::Exception | Order::Refused | Order::Lost => {
                self.started.retain(|known| *known != number);
            }
            _ => {}
        }
    }

    async fn answer_tape(&mut self) -> Result<(), End> {
        while let Some((head, content)) = self.shelf.tape.next_answer() {
            let payload = &content[..head.length as usize];
            self.lines.send(DESTINATION_MASTER, &head, payload).await?;
        }
        Ok(())
    }

    async fn order(&mut self, head: Head, cursor: [u8; 8]) -> Result<(), End> {
        match head.order {
            Order::Load | Order::Run => {
                if let State::Running(number) = self.state {
                    let mut text = String::<64>::new();
                    let _ = core::fmt::write(&mut text, format_args!("subkernel {number} is running on its board"));
                    log::error!("subkernel {}: {text}", head.number);
                    return self.report(Order::Busy, head.number, text.as_bytes()).await;
                }
                // A preceding `Load` may have loaded it already.
                let number = head.number;
                if self.state != State::Loaded(number) && !self.load(number).await? {
                    return Ok(());
                }
                if head.order == Order::Run {
                    self.kernel.send(Kind::SetCursor, &cursor, false).await?;
                    self.kernel.send(Kind::Run, &[], false).await?;
                    self.state = State::Running(number);
                }
                Ok(self
                    .lines
                    .send(DESTINATION_MASTER, &Head::new(Order::Ready, number), &[])
                    .await?)
            }
            Order::Play => {
                self.shelf.tape.play(&head, i64::from_le_bytes(cursor));
                self.answer_tape().await
            }
            Order::Forget => {
                self.shelf.tape.forget(head.number);
                Ok(())
            }
            Order::Stop => {
                self.shelf.tape.stop();
                self.kernel.stop().await;
                self.ended();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Loads a library; false if it was refused.
    async fn load(&mut self, number: u32) -> Result<bool, End> {
        self.state = State::Nothing;
        let Some(library) = self.shelf.libraries.bytes(number) else {
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

    async fn refuse(&mut self, number: u32, text: &str) -> Result<(), End> {
        log::error!("subkernel {number}: {text}");
        self.report(Order::Refused, number, text.as_bytes()).await
    }

    async fn report(&mut self, order: Order, number: u32, payload: &[u8]) -> Result<(), End> {
        let head = Head {
            length: payload.len() as u32,
            ..Head::new(order, number)
        };
        Ok(self.lines.send(DESTINATION_MASTER, &head, payload).await?)
    }

    /// Handles a failure of the kernel core.
    async fn failed(&mut self, failure: Failure) -> Result<(), End> {
        self.kernel.stop().await;
        let State::Running(number) = core::mem::replace(&mut self.state, State::Nothing) else {
            return Ok(());
        };
        let mut text = String::<96>::new();
        let _ = core::fmt::write(&mut text, format_args!("{failure}"));
        self.refuse(number, &text).await
    }

    async fn frame(&mut self, frame: Frame) -> Result<(), End> {
        if frame.kind == Kind::Log {
            return Ok(self.kernel.log().await?);
        }
        let State::Running(number) = self.state else {
            return Ok(());
        };
        if let Some(request) = TraceRequest::read(self.kernel, &frame)? {
            return match request {
                // Only the board with the network knows the other boards.
                TraceRequest::Forget { .. } => Ok(()),
                _ => Ok(answer(self.kernel, Outcome::NotLoaded, 0).await?),
            };
        }
        if let Some(request) = Request::read(self.kernel, &frame)? {
            return self.request(number, request).await;
        }
        match frame.kind {
            Kind::Finished => {
                self.ended();
                self.report(Order::Finished, number, &[]).await
            }
            Kind::Exception => {
                let mut report = [0; REPORT];
                let mut length = self.kernel.read(&mut report)?;
                let mut more = frame.more;
                while more {
                    more = self.kernel.next_frame().await?.more;
                    length += self.kernel.read(&mut report[length..])?;
                }
                self.ended();
                self.report(Order::Exception, number, &report[..length]).await
            }
            Kind::RpcSync | Kind::RpcAsync => {
                self.kernel.stop().await;
                self.state = State::Nothing;
                self.refuse(number, "it called the host, which subkernels cannot do: stopped")
                    .await
            }
            _ => Ok(()),
        }
    }

    fn ended(&mut self) {
        self.kernel.ended();
        self.state = State::Nothing;
        self.started.clear();
        self.lines.finish();
    }

    async fn request(&mut self, own: u32, request: Request) -> Result<(), End> {
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
                let kept = |head: &Head| runs && !matches!(head.order, Order::Ready | Order::Busy);
                self.lines.mail().retain(|head| head.number != number || kept(head));
                let mut payload = [u8::from(run); 9];
                payload[..8].copy_from_slice(&cursor);
                let head = Head {
                    board: destination,
                    length: payload.len() as u32,
                    ..Head::new(Order::Start, number)
                };
                self.lines.send(DESTINATION_MASTER, &head, &payload).await?;
                self.starting = run.then_some(number);
                let start = Wait::Start {
                    number,
                    destination,
                    run,
                };
                self.lines.wait(start, Some(Instant::now() + START));
            }
            Request::Await { number, deadline } if self.started.contains(&number) => {
                self.lines.wait(Wait::End { number }, deadline);
            }
            Request::Await { .. } => answer(self.kernel, Outcome::NotRunning, 0).await?,
            Request::Send(mut message) => {
                let board = if message.is_result {
                    DESTINATION_MASTER
                } else {
                    message.destination
                };
                message.line = DESTINATION_MASTER;
                self.lines.pass_message(self.kernel, &message, board).await?;
            }
            Request::Receive { number, deadline } => {
                let number = if number == ARGUMENTS { own } else { number };
                self.lines.wait(Wait::Message { number }, deadline);
            }
        }
        Ok(())
    }
}
