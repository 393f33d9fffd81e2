//! `rtio_log`: text as events of the log channel, so that it stands in the analyzer's record (kernel ABI, section 2.12).

use core::ptr::addr_of_mut;

use kairos_kernel::format::{printf, Arguments};
use kairos_proto::descriptor::{ChannelKind, Descriptor};

use super::output::submit;
use crate::fault::broken;
use crate::memory::KernelMemory;
use crate::raise;

/// RTIO channel of the log; none if negative.
static mut LOG_CHANNEL: i32 = -1;

/// Finds the channel, after reset of this core.
pub fn boot(descriptor: &Descriptor) {
    let log = descriptor.channels().find(|channel| channel.kind == ChannelKind::LOG);
    // SAFETY: the only write, before any kernel.
    unsafe { addr_of_mut!(LOG_CHANNEL).write(log.map_or(-1, |channel| channel.number as i32)) };
}

/// `rtio_log(const char *format, ...)`. Collects characters to words: four each, the first in bits 31..24, what remains right-justified.
extern "C" fn write_log(format: u32, arguments: u32) {
    // SAFETY: written once at boot.
    let channel = unsafe { addr_of_mut!(LOG_CHANNEL).read() };
    if channel < 0 {
        return;
    }
    let target = (channel as u32) << 8;
    let mut word = 0u32;
    let mut count = 0;
    let mut write = |bytes: &[u8]| {
        for &byte in bytes {
            word = word << 8 | u32::from(byte);
            count += 1;
            if count == 4 {
                submit(target, core::iter::once(word));
                (word, count) = (0, 0);
            }
        }
    };
    let result = printf(&mut write, &KernelMemory, format, Arguments::new(arguments));
    if let Err(error) = result {
        broken(format_args!("text for rtio_log: {error}"));
    }
    if word != 0 {
        submit(target, core::iter::once(word));
    }
}

raise::variadic!(rtio_log => write_log);
