//! DMA traces with parts on other boards: the parts sent, and the kernel's pending wait.

use embassy_time::{Duration, Instant};
use heapless::Vec;
use kairos_comms::kernel_core::{Failure, KernelCore};
use kairos_comms::link::BOARDS;
use kairos_comms::subkernels::{answer, send_answer, KernelStreams};
use kairos_comms::traces::Part;
use kairos_intercore::memory::DMA;
use kairos_intercore::Outcome;
use kairos_proto::intercore::Answer;
use kairos_proto::kernel_message::{Cursor, Header, Kept, KernelMessage, Played};
use kairos_proto::layout::Layout;

/// Time limit for a board to accept a part.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(10);
/// Most parts that are recorded as sent; others are sent again.
const SENT: usize = 1024;

/// A part that has been sent: trace, board, and stream.
type Sent = (u32, u8, u32);

#[derive(Default)]
pub struct Traces {
    sent: Vec<Sent, SENT>,
    wait: Option<Wait>,
}

/// The kernel's pending wait.
struct Wait {
    number: u32,
    kind: KernelMessage,
    /// Boards that have not answered, and the streams to them.
    boards: Vec<(u8, u32), BOARDS>,
    /// The first failed board's answer.
    failed: Played,
    /// `None` for playback, whose duration is unlimited, as on this board. A board lost meanwhile
    /// is noticed by its stream.
    deadline: Option<Instant>,
}

impl Wait {
    fn new(number: u32, kind: KernelMessage) -> Self {
        Self {
            number,
            kind,
            boards: Vec::new(),
            failed: Played::default(),
            deadline: (kind == KernelMessage::Kept).then(|| Instant::now() + ACCEPT_TIMEOUT),
        }
    }
}

impl Traces {
    /// Ends a session: other boards drop its traces.
    pub fn clear(&mut self) {
        self.sent.clear();
        self.wait = None;
    }

    /// Ends a kernel's wait; returns the boards that play for it.
    pub fn end(&mut self) -> Vec<u8, BOARDS> {
        match self.wait.take() {
            Some(wait) if wait.kind == KernelMessage::Played => wait.boards.iter().map(|(board, _)| *board).collect(),
            _ => Vec::new(),
        }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.wait.as_ref().and_then(|wait| wait.deadline)
    }

    /// Sends the parts that boards do not have. On an error returns the board that does not accept
    /// its part.
    pub async fn keep(&mut self, streams: &mut KernelStreams, number: u32, parts: &[Part]) -> Result<(), u8> {
        let mut wait = Wait::new(number, KernelMessage::Kept);
        for part in parts {
            let stream = streams.id(part.destination);
            let sent = (number, part.destination, stream);
            if self.sent.contains(&sent) {
                continue;
            }
            let inside = part.address >= DMA.start && part.address.saturating_add(part.bytes) <= DMA.end;
            if stream == 0 || !inside {
                return Err(part.destination);
            }
            // SAFETY: memory of the kernel core, which does not touch it until the answer.
            let bytes = unsafe { core::slice::from_raw_parts(part.address as *const u8, part.bytes) };
            let header = Header {
                board: part.destination,
                length: part.bytes as u32,
                ..Header::new(KernelMessage::Trace, number)
            };
            let lost = |_| part.destination;
            streams.send(part.destination, &header, bytes).await.map_err(lost)?;
            let _ = wait.boards.push((part.destination, stream));
        }
        self.wait = Some(wait);
        Ok(())
    }

    /// Makes the boards play. On an error returns the one that does not answer.
    pub async fn play(&mut self, streams: &mut KernelStreams, number: u32, boards: u32, time: i64) -> Result<(), u8> {
        let mut wait = Wait::new(number, KernelMessage::Played);
        for board in (0..BOARDS as u8).filter(|board| boards >> board & 1 != 0) {
            let header = Header {
                board,
                length: Cursor::LENGTH as u32,
                ..Header::new(KernelMessage::Play, number)
            };
            let stream = streams.id(board);
            streams
                .send(board, &header, &Cursor { time }.encode())
                .await
                .map_err(|_| board)?;
            let _ = wait.boards.push((board, stream));
        }
        self.wait = Some(wait);
        Ok(())
    }

    pub async fn erase(&mut self, streams: &mut KernelStreams, number: u32) {
        for (_, board, stream) in self.sent.iter().filter(|(of, ..)| *of == number) {
            if streams.id(*board) == *stream {
                let _ = streams
                    .send(*board, &Header::new(KernelMessage::Erase, number), &[])
                    .await;
            }
        }
        self.sent.retain(|(of, ..)| *of != number);
    }

    /// Answers the kernel if its wait is over.
    pub async fn complete_wait(&mut self, streams: &mut KernelStreams, kernel: &mut KernelCore) -> Result<(), Failure> {
        let mut refused = None;
        while let Some((handle, header)) = streams
            .messages()
            .find(|header| matches!(header.kind, KernelMessage::Kept | KernelMessage::Played))
        {
            let payload = streams.messages().payload(handle);
            let stored = Kept::decode(payload).is_ok_and(|kept| kept.stored);
            let failed = Played::decode(payload).unwrap_or_default();
            streams.messages().remove(handle);
            let Some(wait) = self
                .wait
                .as_mut()
                .filter(|wait| (wait.number, wait.kind) == (header.number, header.kind))
            else {
                continue;
            };
            let Some(handle) = wait.boards.iter().position(|(board, _)| *board == header.board) else {
                continue;
            };
            let (board, stream) = wait.boards.swap_remove(handle);
            match header.kind {
                KernelMessage::Kept if !stored => refused = Some(board),
                KernelMessage::Kept => {
                    if self.sent.is_full() {
                        self.sent.remove(0);
                    }
                    let _ = self.sent.push((header.number, board, stream));
                }
                _ if wait.failed.bits == 0 => wait.failed = failed,
                _ => {}
            }
        }
        let Some(wait) = &self.wait else { return Ok(()) };
        let lost = wait.boards.iter().find(|(board, stream)| streams.id(*board) != *stream);
        let (outcome, board) = match (refused, lost, wait.boards.first()) {
            (Some(board), ..) => (Outcome::TooMuch, board),
            (_, Some((board, _)), _) => (Outcome::Lost, *board),
            (.., Some((board, _))) if wait.deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                (Outcome::TimedOut, *board)
            }
            (.., Some(_)) => return Ok(()),
            (.., None) if wait.kind == KernelMessage::Played => (Outcome::Played, 0),
            (.., None) => (Outcome::Done, 0),
        };
        let failed = wait.failed;
        self.wait = None;
        if outcome != Outcome::Played {
            return answer(kernel, outcome, board).await;
        }
        send_answer(kernel, &Answer::new(outcome, &failed), &[]).await
    }
}
