//! Data cache maintenance for memory accesses that bypass the caches, from an HP port of the logic.
//!
//! Level 1 by address through CP15 (ARM ARM B4.2.1; broadcast to the other core), level 2 by
//! physical address through the PL310's registers (its TRM, section 3.3.10): each operation is
//! atomic, so both cores may use them.

/// Bytes per line in both caches.
pub const LINE: usize = 32;

/// The addresses of the lines that a range of memory touches.
pub fn lines(start: usize, length: usize) -> impl Iterator<Item = usize> {
    let end = if length == 0 { start } else { start + length };
    let first = if length == 0 { start } else { start & !(LINE - 1) };
    (first..end).step_by(LINE)
}

#[cfg(target_arch = "arm")]
mod maintenance {
    use core::arch::asm;
    use core::ptr::{read_volatile, write_volatile};

    use super::lines;
    use crate::gic::barrier;

    const L2: *mut u32 = 0xF8F0_2000 as *mut u32;
    /// Register offsets in words: cache sync; by address: invalidate, clean, clean and invalidate.
    const SYNC: usize = 0x730 / 4;
    const INVALIDATE: usize = 0x770 / 4;
    const CLEAN: usize = 0x7b0 / 4;
    const CLEAN_INVALIDATE: usize = 0x7f0 / 4;

    #[inline(never)]
    fn level2(register: usize, start: usize, length: usize) {
        for line in lines(start, length) {
            // SAFETY: maintenance of one line; memory is mapped one to one. Data lost by
            // `INVALIDATE` are the caller's responsibility.
            unsafe { write_volatile(L2.add(register), line as u32) };
        }
        // SAFETY: waits until the lines above have reached memory.
        unsafe {
            write_volatile(L2.add(SYNC), 0);
            while read_volatile(L2.add(SYNC)) & 1 != 0 {}
        }
        barrier();
    }

    /// Writes a range back to memory, for a reader that bypasses the caches. Whole lines are
    /// written.
    pub fn clean(start: usize, length: usize) {
        barrier();
        for line in lines(start, length) {
            // SAFETY: changes no value visible through the caches.
            unsafe { asm!("mcr p15, 0, {}, c7, c10, 1", in(reg) line, options(nostack)) };
        }
        barrier();
        level2(CLEAN, start, length);
    }

    /// Writes a range back and drops it from the caches, before a device writes there, so that no
    /// line of it is written back later. Whole lines.
    pub fn release(start: usize, length: usize) {
        for line in lines(start, length) {
            // SAFETY: changes no value visible through the caches.
            unsafe { asm!("mcr p15, 0, {}, c7, c14, 1", in(reg) line, options(nostack)) };
        }
        barrier();
        level2(CLEAN_INVALIDATE, start, length);
    }

    /// Drops an unmodified range from the caches, so that data written by a device become visible.
    /// Whole lines.
    ///
    /// # Safety
    /// Nobody may have written these lines through the caches since [`release`].
    pub unsafe fn refetch(start: usize, length: usize) {
        level2(INVALIDATE, start, length);
        for line in lines(start, length) {
            // SAFETY: by this function's contract nothing is lost.
            unsafe { asm!("mcr p15, 0, {}, c7, c6, 1", in(reg) line, options(nostack)) };
        }
        barrier();
    }
}

#[cfg(target_arch = "arm")]
pub use maintenance::{clean, refetch, release};

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn cache_lines_cover_exactly_the_bytes() {
        for start in 0x1000..0x1000 + 2 * LINE {
            for length in 0..3 * LINE + 2 {
                let found: Vec<_> = lines(start, length).collect();
                let expected: std::collections::BTreeSet<_> =
                    (start..start + length).map(|byte| byte / LINE * LINE).collect();
                assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{start:#x} {length}");
            }
        }
    }
}
