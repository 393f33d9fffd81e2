//! `core_log`: lines of text for the device's log.

use heapless::Vec;
use kairos_intercore::Kind;
use kairos_kernel::format::{printf, Arguments};
use kairos_proto::rpc::Sink;

use crate::comms::send_pieces;
use crate::memory::KernelMemory;
use crate::owned::BorrowCell;
use crate::raise;

/// Level "info" of the `log` crate.
const INFO: u8 = 3;

/// A line, or the beginning of a long one.
type Line = Vec<u8, 512>;

/// The kernel's incomplete line.
static LINE: BorrowCell<Line> = BorrowCell::new(Line::new());

/// Drops the text left by the previous kernel, before a kernel and in a restart.
pub fn discard() {
    LINE.reclaim();
    LINE.with(Line::clear);
}

/// Sends the unfinished line at the end of a kernel.
pub fn flush() {
    LINE.with(send);
}

/// Appends to the line. Complete lines are sent to the comms core; longer ones in pieces.
fn append(line: &mut Line, bytes: &[u8]) {
    for &byte in bytes {
        // Cannot fail: a full buffer has been sent.
        let _ = line.push(byte);
        if byte == b'\n' || line.is_full() {
            send(line);
        }
    }
}

/// Sends the buffered text.
fn send(line: &mut Line) {
    if !line.is_empty() {
        send_pieces(Kind::Log, |message| {
            message.write(&[INFO]);
            message.write(line);
        });
        line.clear();
    }
}

/// `core_log(const char *format, ...)`
extern "C" fn write_log(format: u32, arguments: u32) {
    LINE.with(|line| {
        let mut write = |bytes: &[u8]| append(line, bytes);
        if printf(&mut write, &KernelMemory, format, Arguments::new(arguments)).is_err() {
            write(b"<unreadable>\n");
        }
    });
}

raise::variadic!(core_log => write_log);
