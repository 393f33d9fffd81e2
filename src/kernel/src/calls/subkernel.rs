//! Subkernels (kernel ABI, section 2.9): starting them on other boards, waiting for them, and
//! exchanging values between boards. The comms core manages the boards; this core sends it requests
//! and waits for the answers.

use kairos_intercore::Kind;
use kairos_pl::player::Failed;
use kairos_proto::exception::report::{Newest, ReportText};
use kairos_proto::exception::{Id, Record, Text};
use kairos_proto::intercore::{Outcome, Report, SubkernelRun, SubkernelSend, SubkernelWait, Values};
use kairos_proto::kernel_message::Played;
use kairos_proto::layout::Layout;
use kairos_proto::rpc::{encode_values, values, Memory, Sink};

use super::answer::{self, board};
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
    match answer::outcome() {
        Some(Outcome::Done) => TraceAnswer::Done,
        Some(Outcome::Played) => {
            let Played { bits, channel, time } = answer::record();
            match bits {
                0 => TraceAnswer::Done,
                _ => TraceAnswer::Failed(Failed { bits, channel, time }),
            }
        }
        Some(Outcome::TooMuch) => TraceAnswer::NoRoom(board()),
        Some(Outcome::TimedOut) => TraceAnswer::Late(board()),
        Some(Outcome::Lost) => TraceAnswer::Lost(board()),
        Some(Outcome::NotLoaded) => {
            board();
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
    match answer::outcome() {
        Some(Outcome::Done | Outcome::Message) => return true,
        Some(Outcome::Exception) => raise_again(),
        Some(Outcome::NotLoaded) => error(
            "Error loading or running the subkernel on destination {0}: see the log",
            board(),
        ),
        Some(Outcome::NotRunning) => {
            board();
            error("Subkernel not running", 0);
        }
        Some(Outcome::TimedOut) => error("Subkernel timed out", board()),
        Some(Outcome::Lost) => error(
            "Lost communication with satellite: destination {0} does not answer, or has restarted",
            board(),
        ),
        Some(Outcome::TooMuch) => error(
            "An error occurred during subkernel operation: no room for messages, on destination {0}",
            board(),
        ),
        Some(Outcome::Played) | None => report("invalid answer about a subkernel"),
    }
    false
}

/// Notes the exception that ended a subkernel, with the frames it has passed there.
fn raise_again() {
    let Report { number, length } = answer::record();
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
    let request = SubkernelRun {
        number,
        destination: destination as u8,
        run: run & 1 != 0,
        cursor: cursor::now_mu(),
    };
    comms::send(Kind::SubkernelRun, &request.encode());
    answered();
}

/// Sends a request with a number and a time in milliseconds, and waits for the answer.
fn wait(kind: Kind, number: u32, milliseconds: i64) -> bool {
    comms::send(kind, &SubkernelWait { number, milliseconds }.encode());
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
    let header = SubkernelSend {
        number,
        destination: destination as u8,
        is_result: is_result & 1 != 0,
        count: count as u8,
        length: bytes.0,
    };
    // A long message has to cross the link before all of it is in the ring.
    answer::expect();
    send_pieces(Kind::SubkernelSend, |message| {
        message.write(&header.encode());
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
    let Values { count, length } = answer::record();
    let count = u32::from(count);
    answer::begin(length);
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
