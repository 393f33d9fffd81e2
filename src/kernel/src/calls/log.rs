//! `core_log`: lines of text for the device's log.

use kairos_board::channel::Kind;
use kairos_kernel::format::{printf, Arguments};

use crate::memory::KernelMemory;
use crate::session::{running, Core};
use crate::timer;

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

/// Calls `$target(format, address of the variable arguments)`: registers r1 to r3 are put before the arguments on the stack.
macro_rules! variadic {
    ($(#[$doc:meta])* $name:ident => $target:path) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "push {{r0-r3}}",
                "add r1, sp, #4",
                "push {{r12, lr}}",
                "bl {target}",
                "pop {{r12, lr}}",
                "add sp, sp, #16",
                "movw r12, #:lower16:{raised}",
                "movt r12, #:upper16:{raised}",
                "ldr r12, [r12]",
                "cmp r12, #0",
                "bxeq lr",
                "b {raise}",
                target = sym $target,
                raised = sym $crate::raise::RAISED,
                raise = sym $crate::raise::raise_from_firmware,
            )
        }
    };
}
pub(crate) use variadic;

variadic!(
    /// `core_log(const char *format, ...)`
    core_log => write_log
);
