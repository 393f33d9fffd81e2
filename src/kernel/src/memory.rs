//! The kernel's memory by 32-bit address, and cache maintenance.

use core::arch::asm;
use core::ops::Range;
use core::ptr::{read_volatile, write_volatile};

use kairos_intercore::memory::{
    INTERCORE, KERNEL_GUARD, KERNEL_HEAP, KERNEL_IMAGE, KERNEL_LIBRARY, KERNEL_STACK, REMOTE_WINDOW,
    REMOTE_WINDOW_BYTES, RUNTIME,
};
use kairos_proto::rpc::{BadAddress, Memory, MemoryMut};

use crate::owned::Owned;

/// The comms core's private memory.
const COMMS: Range<usize> = RUNTIME.start..INTERCORE.start;

/// All memory that a kernel may point into: its library, its stack, this image and its heap.
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
        // SAFETY: mapped memory of this core. The kernel, which may write to it, does not run
        // meanwhile; state of this image, which it may point to by mistake, is only copied, and any
        // bytes are valid.
        Ok(unsafe { core::slice::from_raw_parts(address as *const u8, length as usize) })
    }

    #[inline]
    fn word(&self, address: u32) -> Result<u32, BadAddress> {
        let bytes = self.bytes(address, 4)?;
        match address & 3 {
            // SAFETY: readable, as for the bytes, and aligned.
            0 => Ok(unsafe { bytes.as_ptr().cast::<u32>().read() }),
            _ => Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        }
    }
}

impl MemoryMut for KernelMemory {
    fn bytes_mut(&mut self, address: u32, length: u32) -> Result<&mut [u8], BadAddress> {
        check(address, length, KERNEL_LIBRARY.start)?;
        // SAFETY: mapped memory that is not part of this image, and whose owner, the kernel, does
        // not run; callers hold no other reference into it.
        Ok(unsafe { core::slice::from_raw_parts_mut(address as *mut u8, length as usize) })
    }
}

/// The bytes of a kernel's list with elements of `size` bytes.
fn elements(list: u32, size: u32) -> Result<&'static [u8], BadAddress> {
    let memory: &'static KernelMemory = &KernelMemory;
    if !list.is_multiple_of(4) {
        return Err(BadAddress {
            address: list,
            length: 8,
        });
    }
    check(list, 8, KERNEL_IMAGE.start)?;
    // SAFETY: readable, and aligned.
    let [elements, count] = unsafe { (list as *const [u32; 2]).read() };
    if count == 0 {
        return Ok(&[]);
    }
    let length = count.checked_mul(size).ok_or(BadAddress {
        address: elements,
        length: count,
    })?;
    memory.bytes(elements, length)
}

/// A kernel's list of integers, mutable.
pub fn words_mut(list: u32) -> Result<&'static mut [u32], BadAddress> {
    let words = words(list)?;
    let (start, length) = (words.as_ptr() as u32, words.len());
    if !start.is_multiple_of(4) {
        return Err(BadAddress {
            address: start,
            length: 4,
        });
    }
    check(start, 4 * length as u32, KERNEL_LIBRARY.start)?;
    // SAFETY: checked memory of the kernel, which does not run meanwhile; the other reference ends
    // here.
    Ok(unsafe { core::slice::from_raw_parts_mut(start as *mut u32, length) })
}

/// A kernel's list of integers.
pub fn words(list: u32) -> Result<&'static [u32], BadAddress> {
    let bytes = elements(list, 4)?;
    // SAFETY: checked memory; lists of integers are aligned, and this core reads words at any address.
    Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast::<u32>(), bytes.len() / 4) })
}

/// A kernel's list of doubles.
pub fn doubles(list: u32) -> Result<impl ExactSizeIterator<Item = f64>, BadAddress> {
    let (doubles, _) = elements(list, 8)?.as_chunks();
    Ok(doubles.iter().map(|bytes| f64::from_le_bytes(*bytes)))
}

/// A region of the memory map that belongs to one module, which holds it in a static that is lent
/// like other state.
pub struct Area<const START: usize, const END: usize>(());

impl<const START: usize, const END: usize> Area<START, END> {
    /// # Safety
    /// The region must be mapped memory that begins and ends on a word, and nobody else in this
    /// image may use it. A kernel may, where it has been given its address.
    pub const unsafe fn new() -> Self {
        Self(())
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the region belongs to this value alone (`new`), which is borrowed for as long as
        // the slice; any bytes are valid.
        unsafe { core::slice::from_raw_parts_mut(START as *mut u8, END - START) }
    }

    pub fn doubles(&mut self) -> &mut [f64] {
        // SAFETY: whole doubles of a region that belongs to this value alone (`new`); any bits are
        // valid.
        unsafe { core::slice::from_raw_parts_mut(START as *mut f64, (END - START) / 8) }
    }

    pub fn words(&mut self) -> &mut [u32] {
        // SAFETY: whole words of a region that belongs to this value alone (`new`); any bits are
        // valid.
        unsafe { core::slice::from_raw_parts_mut(START as *mut u32, (END - START) / 4) }
    }
}

/// Makes code that was written as data visible to this core's instruction fetches: cleans the data
/// cache over the range, then invalidates instruction cache and branch predictor.
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

/// This core's page table: one word for each section of a megabyte.
#[repr(C, align(16384))]
struct PageTable([u32; 4096]);
static PAGE_TABLE: Owned<PageTable> = Owned::new(PageTable([0; 4096]));
const SECTION: u32 = 2;
/// Attributes of a section that is Strongly-ordered, accessible to all, and not executable (ARM
/// ARM, B3.5.1, B3.8.2).
const WINDOW: u32 = SECTION | 3 << 10 | 1 << 4;
/// Bit 2 of a section's access permissions: read-only (ARM ARM, B3.7.1).
const READ_ONLY: u32 = 1 << 15;

/// Switches to a page table of this core's own: a copy of the comms core's, but without the guard
/// below the stack, and with the comms core's memory read-only, so that no kernel overwrites it.
/// [`INTERCORE`] follows that memory. `places`: a bit for each place in the window
/// to other boards' memory that may be accessed; all other addresses there fault.
pub fn protect(places: u32) {
    // SAFETY: called once, at reset of this core. The current table is only read here; the new one
    // maps everything that this image uses like the old one, is cleaned for the table walk, and
    // takes effect with the translations invalidated.
    unsafe {
        let theirs: u32;
        asm!("mrc p15, 0, {}, c2, c0, 0", out(reg) theirs, options(nostack));
        let (from, own) = ((theirs & !0x3fff) as *const u32, PAGE_TABLE.as_ptr().cast::<u32>());
        for index in 0..4096 {
            let start = index << 20;
            let entry = read_volatile(from.add(index));
            let entry = match entry & 3 {
                _ if KERNEL_GUARD.contains(&start) => 0,
                _ if REMOTE_WINDOW.contains(&start) => {
                    let place = (start - REMOTE_WINDOW.start) / REMOTE_WINDOW_BYTES;
                    if (places >> place) & 1 != 0 {
                        start as u32 | WINDOW
                    } else {
                        0
                    }
                }
                SECTION if COMMS.contains(&start) => entry | READ_ONLY,
                _ => entry,
            };
            write_volatile(own.add(index), entry);
            asm!("mcr p15, 0, {}, c7, c10, 1", in(reg) own.add(index), options(nostack));
        }
        asm!(
            "dsb",
            "mcr p15, 0, {table}, c2, c0, 0",
            "isb",
            "mcr p15, 0, {zero}, c8, c7, 0",
            "dsb",
            "isb",
            table = in(reg) own as u32 | theirs & 0x3fff,
            zero = in(reg) 0,
            options(nostack)
        );
    }
}
