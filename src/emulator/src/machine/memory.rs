//! DDR and on-chip memory: one host allocation each, mapped into both cores and accessed directly
//! by DMA and ACP.

use std::cell::Cell;

/// Start of the on-chip memory when all four of its blocks are mapped high, as in QEMU.
pub const OCM_BASE: u32 = 0xfffc_0000;
/// Size of the on-chip memory in bytes.
pub const OCM_SIZE: usize = 256 * 1024;
/// Size of the part mapped at 0 after reset (three blocks of four), into which the boot ROM loads.
pub const OCM_LOW: usize = 192 * 1024;
/// DDR below this address is hidden by the on-chip memory, except in [`Layout::Flat`].
const DDR_BEGIN: u32 = 0x0010_0000;

/// The memory map (UG585, section 29.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Everything mapped, for firmware loaded by the emulator itself: DDR from 0, OCM high.
    Flat,
    /// After reset: OCM at 0 and in the last 64 KiB, no DDR until its controller runs.
    Reset,
    /// The same with DDR from 1 MiB on.
    Running,
}

/// A zeroed, page-aligned block of host memory. It is accessed from one thread only; guest cores
/// alias it.
struct Block {
    pointer: *mut u8,
    size: usize,
}

impl Block {
    /// Maps the pages directly: they cost nothing until they are used.
    fn new(size: usize) -> Self {
        // SAFETY: an anonymous private mapping at an address of the system's choice.
        let pointer = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert_ne!(
            pointer,
            libc::MAP_FAILED,
            "the host has no {size} bytes of memory for the guest"
        );
        Self {
            pointer: pointer.cast(),
            size,
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with the same size.
        unsafe { libc::munmap(self.pointer.cast(), self.size) };
    }
}

/// Physical memory of the machine. Bulk accesses outside it read zeros and write nothing.
pub struct Memory {
    ddr: Block,
    ocm: Block,
    layout: Cell<Layout>,
}

/// `(base, size, host pointer)` of a block.
pub type Mapping = (u64, u64, *mut u8);

impl Memory {
    /// Creates DDR of `mib` MiB at address 0, and the OCM.
    pub fn new(mib: usize) -> Self {
        Self {
            ddr: Block::new(mib << 20),
            ocm: Block::new(OCM_SIZE),
            layout: Cell::new(Layout::Flat),
        }
    }

    /// Creates memory in the state after reset, for [`crate::machine::boot_rom`].
    pub fn after_reset(mib: usize) -> Self {
        let memory = Self::new(mib);
        memory.layout.set(Layout::Reset);
        memory
    }

    /// Whether the guest boots from the boot ROM and has to start the DDR controller itself.
    pub fn has_boot_rom(&self) -> bool {
        self.layout.get() != Layout::Flat
    }

    /// Whether DDR is mapped.
    pub fn is_ddr_running(&self) -> bool {
        self.layout.get() != Layout::Reset
    }

    /// Maps or unmaps DDR when its controller starts or is reset. Its contents are kept.
    pub fn set_ddr(&self, running: bool) {
        if self.has_boot_rom() {
            self.layout.set(if running { Layout::Running } else { Layout::Reset });
        }
    }

    /// The mapping of DDR that depends on its controller.
    pub fn ddr(&self) -> Mapping {
        let hidden = DDR_BEGIN as usize;
        // SAFETY: the machine has at least 1 MiB.
        let pointer = unsafe { self.ddr.pointer.add(hidden) };
        (DDR_BEGIN.into(), (self.ddr.size - hidden) as u64, pointer)
    }

    /// All blocks, for mapping into a core; absent ones have size 0.
    pub fn blocks(&self) -> [Mapping; 3] {
        if self.layout.get() == Layout::Flat {
            return [
                (0, self.ddr.size as u64, self.ddr.pointer),
                (OCM_BASE.into(), OCM_SIZE as u64, self.ocm.pointer),
                (0, 0, std::ptr::null_mut()),
            ];
        }
        let ddr = match self.layout.get() {
            Layout::Running => self.ddr(),
            _ => (0, 0, std::ptr::null_mut()),
        };
        // SAFETY: the last block of four lies inside the OCM.
        let last = unsafe { self.ocm.pointer.add(OCM_LOW) };
        let last_base = u64::from(OCM_BASE) + OCM_LOW as u64;
        [
            (0, OCM_LOW as u64, self.ocm.pointer),
            (last_base, (OCM_SIZE - OCM_LOW) as u64, last),
            ddr,
        ]
    }

    /// Address ranges (first, last) between the blocks.
    pub fn gaps(&self) -> Vec<(u64, u64)> {
        let mut blocks = self.blocks();
        blocks.sort_by_key(|block| block.0);
        let mut gaps = Vec::new();
        let mut free = 0;
        for (base, size, _) in blocks.into_iter().filter(|block| block.1 > 0) {
            if base > free {
                gaps.push((free, base - 1));
            }
            free = base + size;
        }
        if free <= u64::from(u32::MAX) {
            gaps.push((free, u32::MAX.into()));
        }
        gaps
    }

    /// Bytes of DDR.
    pub fn ddr_size(&self) -> usize {
        self.ddr.size
    }

    fn locate(&self, address: u32, length: usize) -> Option<*mut u8> {
        for (base, size, pointer) in self.blocks() {
            let offset = u64::from(address).wrapping_sub(base);
            if offset < size && length as u64 <= size - offset {
                // SAFETY: offset lies inside the block.
                return Some(unsafe { pointer.add(offset as usize) });
            }
        }
        None
    }

    /// Fills `buffer` from memory; false (and zeros) if the range is not memory.
    pub fn read(&self, address: u32, buffer: &mut [u8]) -> bool {
        match self.locate(address, buffer.len()) {
            Some(p) => {
                // SAFETY: `locate` checked the whole range; the buffer is host memory of our own.
                unsafe { std::ptr::copy(p, buffer.as_mut_ptr(), buffer.len()) };
                true
            }
            None => {
                buffer.fill(0);
                false
            }
        }
    }

    /// Whether memory contains `data` at `address`.
    pub fn holds(&self, address: u32, data: &[u8]) -> bool {
        self.locate(address, data.len()).is_some_and(|p| {
            // SAFETY: `locate` checked the whole range, and no core runs in the meantime.
            let there = unsafe { std::slice::from_raw_parts(p, data.len()) };
            there == data
        })
    }

    /// Copies `data` to memory; false if the range is not memory.
    pub fn write(&self, address: u32, data: &[u8]) -> bool {
        match self.locate(address, data.len()) {
            Some(p) => {
                // SAFETY: `locate` checked the whole range; other cores may write it too, and
                // `copy` does not interpret the bytes it moves.
                unsafe { std::ptr::copy(data.as_ptr(), p, data.len()) };
                true
            }
            None => false,
        }
    }

    /// Zeroes a range; false if it is not memory. Whole pages are given back to the host, so that what the guest does
    /// not use costs nothing: tables and heaps of the firmware are 41 MB.
    pub fn clear(&self, address: u32, length: usize) -> bool {
        let Some(begin) = self.locate(address, length) else {
            return false;
        };
        // SAFETY: the system has a page size.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let head = begin.align_offset(page).min(length);
        let whole = (length - head) / page * page;
        // SAFETY: `locate` checked the whole range, which is an anonymous private mapping: dropped pages are zero.
        unsafe {
            std::ptr::write_bytes(begin, 0, head);
            let pages = begin.add(head);
            if whole > 0 && libc::madvise(pages.cast(), whole, libc::MADV_DONTNEED) != 0 {
                std::ptr::write_bytes(pages, 0, whole);
            }
            std::ptr::write_bytes(pages.add(whole), 0, length - head - whole);
        }
        true
    }

    /// Reads a little-endian word; 0 where there is no memory.
    pub fn word(&self, address: u32) -> u32 {
        let mut b = [0; 4];
        self.read(address, &mut b);
        u32::from_le_bytes(b)
    }

    /// Stores a little-endian word.
    pub fn set_word(&self, address: u32, value: u32) {
        self.write(address, &value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_across_the_end_of_a_block_is_refused() {
        let m = Memory::new(1);
        assert!(m.write(0xf_fffc, &[1, 2, 3, 4]));
        assert_eq!(m.word(0xf_fffc), 0x0403_0201);
        assert!(!m.write(0xf_fffd, &[0; 4]));
        assert!(m.write(OCM_BASE, &[9]));
        m.set_word(0xffff_fff0, 7);
        assert_eq!(m.word(0xffff_fff0), 7);
        assert_eq!(m.word(0x4000_0000), 0);
    }

    #[test]
    fn cleared_range_is_zero_and_its_neighbours_are_kept() {
        let m = Memory::new(1);
        for (address, length) in [
            (0x1000, 0),
            (0x1001, 2),
            (0x1ffe, 4),
            (0x1003, 0x4005),
            (0x2000, 0x2000),
        ] {
            let last = address + length as u32;
            assert!(m.write(address - 1, &vec![7; length + 2]));
            assert!(m.clear(address, length));
            assert!(m.holds(address, &vec![0; length]), "{address:#x} {length}");
            assert!(
                m.holds(address - 1, &[7]) && m.holds(last, &[7]),
                "{address:#x} {length}"
            );
        }
        assert!(!m.clear(0xf_fffd, 4) && m.clear(OCM_BASE, OCM_SIZE));
    }

    #[test]
    fn access_between_blocks_is_unmapped() {
        let flat = Memory::new(1);
        assert_eq!(flat.gaps(), [(0x10_0000, u64::from(OCM_BASE) - 1)]);
        let reset = Memory::after_reset(2);
        assert_eq!(reset.gaps(), [(OCM_LOW as u64, 0xfffe_ffff)]);
        reset.set_ddr(true);
        assert_eq!(reset.gaps(), [(OCM_LOW as u64, 0xf_ffff), (0x20_0000, 0xfffe_ffff)]);
    }

    #[test]
    fn ddr_is_accessible_once_its_controller_is_up() {
        let m = Memory::after_reset(2);
        assert!(m.write(OCM_LOW as u32 - 4, &[1; 4]) && !m.write(OCM_LOW as u32, &[1; 4]));
        assert!(m.write(0xffff_0000, &[1; 4]) && !m.write(OCM_BASE, &[1; 4]));
        assert!(!m.write(0x10_0000, &[1; 4]));
        m.set_ddr(true);
        assert!(m.write(0x10_0000, &[1; 4]) && m.write(0x1f_fffc, &[2; 4]) && !m.write(0x20_0000, &[1; 4]));
        m.set_ddr(false);
        assert_eq!(m.word(0x1f_fffc), 0);
        m.set_ddr(true);
        assert_eq!(m.word(0x1f_fffc), 0x0202_0202);
    }
}
