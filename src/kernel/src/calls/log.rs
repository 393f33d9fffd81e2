//! `core_log`: lines of text for the device's log.

use kairos_channel::Kind;
use kairos_kernel::format::{printf, Arguments};

use crate::memory::KernelMemory;
use crate::state::{running, Core};
use crate::{raise, timer};

/// Level "info" of the `log` crate.
const INFO: u8 = 3;

/// Appends to the current line. Complete lines go to the comms core, longer ones in pieces.
fn append(core: &mut Core, bytes: &[u8]) {
    for &byte in bytes {
        // There is room: a full buffer has been flushed.
        let _ = core.log_line.push(byte);
        if byte == b'\n' || core.log_line.is_full() {
            flush(core);
        }
    }
}

/// Sends what there is of the current line.
pub fn flush(core: &mut Core) {
    if !core.log_line.is_empty() {
        let mut message = core.sender.message(Kind::Log, timer::sleep_briefly);
        message.write(&[INFO]);
        message.write(&core.log_line);
        message.finish();
        core.log_line.clear();
    }
}

/// `core_log(const char *format, ...)`
extern "C" fn write_log(format: u32, arguments: u32) {
    let core = running();
    let result = printf(
        &mut |bytes| append(core, bytes),
        &KernelMemory,
        format,
        Arguments::new(arguments),
    );
    if result.is_err() {
        append(running(), b"<unreadable>\n");
    }
}

raise::variadic!(core_log => write_log);
