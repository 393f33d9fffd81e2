//! `rtio_log`: text as events of the log channel, so that it stands in the analyzer's record (kernel ABI, section 2.12).

use core::ptr::addr_of_mut;

use kairos_kernel::format::{printf, Arguments};

use super::{submit, LOG_CHANNEL};
use crate::fault;
use crate::memory::KernelMemory;

/// Collects characters to words: four each, the first in bits 31..24, what remains right-justified.
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
        fault::broken(format_args!("text for rtio_log: {error}"));
    }
    if word != 0 {
        submit(target, core::iter::once(word));
    }
}

crate::calls::log::variadic!(
    /// `rtio_log(const char *format, ...)`
    rtio_log => write_log
);
