//! `rtio_log`: text as events of the log channel, which appear in the analyzer's recording (kernel
//! ABI, section 2.12).

use kairos_kernel::format::{printf, Arguments};
use kairos_proto::descriptor::{ChannelKind, Descriptor};

use super::output::submit;
use crate::fault::broken;
use crate::memory::KernelMemory;
use crate::owned::Owned;
use crate::raise;

/// Target of the log channel, found at boot.
static TARGET: Owned<Option<u32>> = Owned::new(None);

/// Finds the channel, after reset of this core.
pub fn boot(descriptor: &Descriptor) {
    let log = descriptor.channels().find(|channel| channel.kind == ChannelKind::LOG);
    TARGET.set(log.map(|channel| channel.number << 8));
}

/// `rtio_log(const char *format, ...)`. Packs characters into words of four, the first in bits
/// 31..24; an incomplete last word is right-justified.
extern "C" fn write_log(format: u32, arguments: u32) {
    let Some(target) = TARGET.get() else { return };
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
