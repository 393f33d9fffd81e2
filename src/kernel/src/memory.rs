//! The kernel's memory by 32-bit address, and cache maintenance.

use core::arch::asm;
use core::ops::Range;

use kairos_board::memory::{KERNEL_GUARD, KERNEL_HEAP, KERNEL_IMAGE, KERNEL_LIBRARY, KERNEL_STACK};
use kairos_proto::rpc::{BadAddress, Memory, MemoryMut};

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
        Some(end) if within(&(first..KERNEL_HEAP.end), start, end) || within(&KERNEL_STACK, start, end) => Ok(()),
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
    core::slice::from_raw_parts_mut(KERNEL_LIBRARY.start as *mut u8, KERNEL_LIBRARY.len())
}

/// The heap.
///
/// # Safety
/// As for [`library`].
pub unsafe fn heap() -> &'static mut [u8] {
    core::slice::from_raw_parts_mut(KERNEL_HEAP.start as *mut u8, KERNEL_HEAP.len())
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

/// Unmaps the guard in the page table, which both cores use; nobody uses that memory.
pub fn set_guard() {
    // SAFETY: reads the table's address, clears entries of it that map memory nobody uses, cleans them for the table walk, and
    // drops this core's translations.
    unsafe {
        let table: u32;
        asm!("mrc p15, 0, {}, c2, c0, 0", out(reg) table, options(nostack));
        let entries = (table & !0x3fff) as *mut u32;
        for megabyte in KERNEL_GUARD.start >> 20..KERNEL_GUARD.end >> 20 {
            let entry = entries.add(megabyte);
            core::ptr::write_volatile(entry, 0);
            asm!("dsb", "mcr p15, 0, {}, c7, c10, 1", in(reg) entry, options(nostack));
        }
        asm!("dsb", "mcr p15, 0, {}, c8, c7, 0", "dsb", "isb", in(reg) 0, options(nostack));
    }
}
