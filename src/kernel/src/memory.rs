//! The kernel's memory by 32-bit address, and cache maintenance.

use core::arch::asm;
use core::ops::Range;

use kairos_board::memory::{KERNEL_HEAP, KERNEL_IMAGE, KERNEL_LIBRARY, KERNEL_STACK};
use kairos_proto::rpc::{BadAddress, Memory, MemoryMut};

/// The megabyte below the stack, which is not mapped: a stack that overflows faults there.
pub const GUARD: Range<usize> = KERNEL_STACK.start - 0x10_0000..KERNEL_STACK.start;

/// Everything a kernel may point into: its library, its stack, this image and its heap.
#[derive(Clone, Copy)]
pub struct KernelMemory;

fn within(range: &Range<usize>, start: usize, end: usize) -> bool {
    range.start <= start && end <= range.end
}

fn check(address: u32, length: u32, first: usize) -> Result<(), BadAddress> {
    let start = address as usize;
    let end = start.checked_add(length as usize);
    match end {
        Some(end) if within(&(first..GUARD.start), start, end) || within(&KERNEL_STACK, start, end) => Ok(()),
        _ => Err(BadAddress { address, length }),
    }
}

impl Memory for KernelMemory {
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
        check(address, length, KERNEL_IMAGE.start)?;
        // SAFETY: mapped memory of this core. The kernel, which may write to it, does not run meanwhile.
        Ok(unsafe { core::slice::from_raw_parts(address as *const u8, length as usize) })
    }
}

impl MemoryMut for KernelMemory {
    fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8], BadAddress> {
        check(address, length, KERNEL_LIBRARY.start)?;
        // SAFETY: as above, and not part of this image; callers hold no other reference into the kernel's memory.
        Ok(unsafe { core::slice::from_raw_parts_mut(address as *mut u8, length as usize) })
    }
}

/// The memory for the library's image.
///
/// # Safety
/// No kernel runs, and the slice of an earlier call is not used any more.
pub unsafe fn library() -> &'static mut [u8] {
    // SAFETY: mapped memory, set apart for the library; by this function's condition nobody else uses it.
    unsafe { core::slice::from_raw_parts_mut(KERNEL_LIBRARY.start as *mut u8, KERNEL_LIBRARY.len()) }
}

/// The heap.
///
/// # Safety
/// As for [`library`].
pub unsafe fn heap() -> &'static mut [u8] {
    // SAFETY: as in `library`.
    unsafe { core::slice::from_raw_parts_mut(KERNEL_HEAP.start as *mut u8, GUARD.start - KERNEL_HEAP.start) }
}

/// Makes code that was written as data visible to this core's instruction fetches: cleans the data cache over the
/// range, then drops instruction cache and branch predictor.
pub fn publish_code(start: u32, size: u32) {
    const LINE: u32 = 32;
    // SAFETY: maintenance of memory that this core owns.
    unsafe {
        for line in (start & !(LINE - 1)..start + size).step_by(LINE as usize) {
            asm!("mcr p15, 0, {}, c7, c11, 1", in(reg) line, options(nostack));
        }
        asm!(
            "dsb",
            "mcr p15, 0, {zero}, c7, c5, 0",
            "mcr p15, 0, {zero}, c7, c5, 6",
            "dsb",
            "isb",
            zero = in(reg) 0,
            options(nostack)
        );
    }
}

/// Unmaps the guard megabyte in the page table, which both cores use and of which only this core uses that entry.
pub fn set_guard() {
    // SAFETY: reads the table's address, clears one entry of it that maps memory nobody uses, cleans it for the table
    // walk, and drops this core's translations.
    unsafe {
        let table: u32;
        asm!("mrc p15, 0, {}, c2, c0, 0", out(reg) table, options(nostack));
        let entry = ((table & !0x3fff) as *mut u32).add(GUARD.start >> 20);
        core::ptr::write_volatile(entry, 0);
        asm!(
            "dsb",
            "mcr p15, 0, {entry}, c7, c10, 1",
            "dsb",
            "mcr p15, 0, {zero}, c8, c7, 0",
            "dsb",
            "isb",
            entry = in(reg) entry,
            zero = in(reg) 0,
            options(nostack)
        );
    }
}
