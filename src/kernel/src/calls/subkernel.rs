//! Subkernels (kernel ABI, section 2.9): starting them on other boards, waiting for them, and
//! exchanging values between boards. The comms core manages the boards; this core sends it requests
//! and waits for the answers.

use kairos_intercore::{Kind, Outcome};
use kairos_pl::player::Failed;
use kairos_proto::exception::report::{Newest, ReportText};
use kairos_proto::exception::{Id, Record, Text};
use kairos_proto::rpc::{encode_values, values, Memory, Sink};

use super::answer::{self, byte, word};
use super::rpc;
use crate::comms::{self, report, send_pieces};
use crate::fault::broken;
use crate::memory::KernelMemory;
use crate::owned::BorrowCell;
use crate::raise;
use crate::rtio::cursor;

/// Longest report of an exception that is raised again here, in bytes; a longer one is not.
const REPORT_MAX: usize = 4096;
/// Number of exceptions whose texts are kept, normally enough for all that are in flight.
const KEPT: usize = 4;
/// Address bits within a library. The bits above hold the subkernel's number.
const LIBRARY_BITS: u32 = 24;

/// Reports that exceptions in flight point into, and the index of the next one to be replaced.
static REPORTS: BorrowCell<([[u8; REPORT_MAX]; KEPT], usize)> = BorrowCell::new(([[0; REPORT_MAX]; KEPT], 0));

/// Clears the state, before a kernel and in a restart.
pub fn reset() {
    REPORTS.reclaim();
    answer::reset();
}

/// The comms core's answer about a distributed trace.
pub enum TraceAnswer {
    Done,
    Failed(Failed),
    /// With the board concerned.
    NoRoom(u8),
    Late(u8),
    Lost(u8),
    /// This board does not know the others.
    NotLocal,
}

/// Waits for the answer.
pub fn trace_answer() -> TraceAnswer {
    match Outcome::try_from(byte()) {
        Ok(Outcome::Done) => TraceAnswer::Done,
        Ok(Outcome::Played) => {
            let (bits, channel, low, high) = (word(), word(), word(), word());
            let time = (u64::from(low) | u64::from(high) << 32) as i64;
            match bits {
                0 => TraceAnswer::Done,
                _ => TraceAnswer::Failed(Failed { bits, channel, time }),
            }
        }
        Ok(Outcome::TooMuch) => TraceAnswer::NoRoom(byte()),
        Ok(Outcome::TimedOut) => TraceAnswer::Late(byte()),
        Ok(Outcome::Lost) => TraceAnswer::Lost(byte()),
        Ok(Outcome::NotLoaded) => {
            byte();
            TraceAnswer::NotLocal
        }
        _ => report("invalid answer about a DMA trace"),
    }
}

fn error(message: &'static str, board: u8) {
    raise::firmware(Id::SubkernelError, message, [i64::from(board), 0, 0]);
}

/// Waits for the answer. Returns true on success; else an exception has been noted.
fn answered() -> bool {
    let outcome = byte();
    match Outcome::try_from(outcome) {
        Ok(Outcome::Done | Outcome::Message) => return true,
        Ok(Outcome::Exception) => raise_again(),
        Ok(Outcome::NotLoaded) => error(
            "Error loading or running the subkernel on destination {0}: see the log",
            byte(),
        ),
        Ok(Outcome::NotRunning) => {
            byte();
            error("Subkernel not running", 0);
        }
        Ok(Outcome::TimedOut) => error("Subkernel timed out", byte()),
        Ok(Outcome::Lost) => error(
            "Lost communication with satellite: destination {0} does not answer, or has restarted",
            byte(),
        ),
        Ok(Outcome::TooMuch) => error(
            "An error occurred during subkernel operation: no room for messages, on destination {0}",
            byte(),
        ),
        Ok(Outcome::Played) | Err(_) => report("invalid answer about a subkernel"),
    }
    false
}

/// Notes the exception that ended a subkernel, with the frames it has passed there.
fn raise_again() {
    let (number, length) = (word(), word());
    answer::begin(length);
    let whole = length as usize <= REPORT_MAX;
    let noted = whole
        && REPORTS.with(|(reports, next)| {
            let place = &mut reports[*next];
            *next = (*next + 1) % KEPT;
            let place = &mut place[..length as usize];
            answer::take(place);
            note(place, number)
        });
    answer::skip();
    if !noted {
        error(
            "An error occurred during subkernel operation: its exception cannot be reported",
            0,
        );
    }
}

/// Notes the exception in `report`, which must stay in place and unchanged while it is in flight.
fn note(report: &[u8], number: u32) -> bool {
    let Some(newest) = Newest::read(report) else {
        return false;
    };
    let text = |said: ReportText| match said {
        ReportText::Host(key) => Text::host(key),
        ReportText::Device(bytes) => Text {
            pointer: bytes.as_ptr() as u32,
            length: bytes.len() as u32,
        },
    };
    let record = Record {
        id: newest.id,
        file: text(newest.file),
        line: newest.line,
        column: newest.column,
        function: text(newest.function),
        message: text(newest.message),
        param: newest.param,
    };
    let frames = newest.frames().map(|mut frame| {
        // Frames of a subkernel started in turn are already marked.
        if frame.address >> LIBRARY_BITS == 0 {
            frame.address |= number << LIBRARY_BITS;
        }
        frame
    });
    raise::record_from_board(record, frames);
    true
}

/// `subkernel_load_run`
extern "C" fn load_run(number: u32, destination: u32, run: u32) {
    let mut request = [0; 16];
    request[..4].copy_from_slice(&number.to_le_bytes());
    (request[4], request[5]) = (destination as u8, run as u8 & 1);
    request[8..].copy_from_slice(&cursor::now_mu().to_le_bytes());
    comms::send(Kind::SubkernelRun, &request);
    answered();
}

/// Sends a request with a number and a time in milliseconds, and waits for the answer.
fn wait(kind: Kind, number: u32, milliseconds: i64) -> bool {
    let mut request = [0; 16];
    request[..4].copy_from_slice(&number.to_le_bytes());
    request[8..].copy_from_slice(&milliseconds.to_le_bytes());
    comms::send(kind, &request);
    answered()
}

/// `subkernel_await_finish`
extern "C" fn await_finish(number: u32, timeout: i64) {
    wait(Kind::SubkernelAwait, number, timeout);
}

fn tag(at: u32) -> &'static [u8] {
    let memory: &'static KernelMemory = &KernelMemory;
    let tag = memory
        .word(at)
        .and_then(|pointer| memory.bytes(pointer, memory.word(at.wrapping_add(4))?));
    tag.unwrap_or_else(|error| broken(format_args!("types of a message: {error}")))
}

/// Counts the bytes of an encoding.
struct Counted(u32);

impl Sink for Counted {
    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len() as u32;
    }
}

/// `subkernel_send_message`
extern "C" fn send_message(number: u32, is_result: u32, destination: u32, count: u32, tag_at: u32, data: u32) {
    let (memory, tag) = (KernelMemory, tag(tag_at));
    // Checked before anything is sent: half a message would corrupt the channel.
    let mut bytes = Counted(0);
    if let Err(error) = encode_values(&mut bytes, &memory, tag, data) {
        broken(format_args!("message to another board: {error}"));
    }
    // A long message has to cross the link before all of it is in the ring.
    answer::expect();
    send_pieces(Kind::SubkernelSend, |message| {
        message.write(&number.to_le_bytes());
        message.write(&[destination as u8, is_result as u8 & 1, count as u8, 0]);
        message.write(&bytes.0.to_le_bytes());
        let _ = encode_values(message, &memory, tag, data);
    });
    answered();
}

/// `subkernel_await_message`: returns the number of values received; `rpc_recv` takes them.
extern "C" fn await_message(number: u32, timeout: i64, tag_at: u32, least: u32, most: u32) -> u32 {
    let tags = match values(tag(tag_at)) {
        Ok(tags) => tags,
        Err(error) => broken(format_args!("types of a message: {error}")),
    };
    if !wait(Kind::SubkernelReceive, number, timeout) {
        return 0;
    }
    let count = u32::from(byte());
    answer::begin(word());
    if (least & 0xff..=most & 0xff).contains(&count) {
        rpc::take_message(tags, count);
    } else {
        answer::skip();
        error("Received more or less arguments than required", 0);
    }
    count
}

raise::raising! {
    subkernel_load_run => load_run;
    subkernel_await_finish => await_finish;
    subkernel_send_message => send_message, stack 3;
    subkernel_await_message => await_message, stack 3;
}
