//! DDR and on-chip memory: one host allocation each, mapped into both cores and accessed directly by DMA and ACP.

/// Start of the on-chip memory (all four blocks mapped high, as the firmware and QEMU have it).
pub const OCM_BASE: u32 = 0xfffc_0000;
/// Size of the on-chip memory in bytes.
pub const OCM_SIZE: usize = 256 * 1024;

/// A zeroed, page-aligned block of host memory. It is only touched from one thread; guest cores alias it.
struct Block {
    pointer: *mut u8,
    size: usize,
}

impl Block {
    /// Asks the system for the pages directly: they cost nothing until they are used.
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

/// Physical memory of the machine. Bulk accesses outside of it read zeros and write nothing.
pub struct Memory {
    ddr: Block,
    ocm: Block,
}

impl Memory {
    /// DDR of `mib` MiB at address 0, and the OCM.
    pub fn new(mib: usize) -> Self {
        Self {
            ddr: Block::new(mib << 20),
            ocm: Block::new(OCM_SIZE),
        }
    }

    /// `(base, size, host pointer)` of each block, for mapping into a core.
    pub fn blocks(&self) -> [(u64, u64, *mut u8); 2] {
        [
            (0, self.ddr.size as u64, self.ddr.pointer),
            (OCM_BASE.into(), OCM_SIZE as u64, self.ocm.pointer),
        ]
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

    /// Copies `data` to memory; false if the range is not memory.
    pub fn write(&self, address: u32, data: &[u8]) -> bool {
        match self.locate(address, data.len()) {
            Some(p) => {
                // SAFETY: as in `read`.
                unsafe { std::ptr::copy(data.as_ptr(), p, data.len()) };
                true
            }
            None => false,
        }
    }

    /// A little-endian word; 0 where there is no memory.
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
    fn edges_of_the_blocks() {
        let m = Memory::new(1);
        assert!(m.write(0xf_fffc, &[1, 2, 3, 4]));
        assert_eq!(m.word(0xf_fffc), 0x0403_0201);
        assert!(!m.write(0xf_fffd, &[0; 4]));
        assert!(m.write(OCM_BASE, &[9]));
        m.set_word(0xffff_fff0, 7);
        assert_eq!(m.word(0xffff_fff0), 7);
        assert_eq!(m.word(0x4000_0000), 0);
    }
}
