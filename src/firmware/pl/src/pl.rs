//! Programmable logic: its presence, its descriptor, and access to its registers.
//!
//! The runtime calls [`probe`] once at boot, before it releases the kernel core; afterwards both
//! cores use [`descriptor`], which reads the copy in DDR and costs no access to the PL.

use core::ptr::{read_volatile, write_volatile};

use kairos_proto::descriptor::{self, announced_length, Descriptor, Error, HEADER};

use kairos_chip::devcfg;
use kairos_intercore::memory::{DESCRIPTOR_COPY, PL_DESCRIPTOR};

/// Copies the gateware's descriptor to [`DESCRIPTOR_COPY`] and checks it.
///
/// An unprogrammed PL is not accessed, as it would never respond. Without a valid descriptor the
/// copy is cleared.
///
/// # Safety
/// Nobody may use the copy meanwhile: call it before the kernel core is released. The PL must be
/// out of reset.
pub unsafe fn probe() -> Result<Descriptor<'static>, Error> {
    let copy = DESCRIPTOR_COPY.start as *mut u32;
    // SAFETY: the caller has brought the PL out of reset, and nobody uses the copy.
    let found = unsafe { copy_words(copy) }.and_then(|()| descriptor());
    if found.is_err() {
        // SAFETY: the copy's first word, which nobody uses by this function's contract.
        unsafe { write_volatile(copy, 0) };
    }
    found
}

/// Marks the gateware as absent, for both cores, because it cannot be used.
///
/// # Safety
/// As for [`probe`]; in addition no descriptor returned before may be used any more.
pub unsafe fn mark_absent() {
    // SAFETY: the region is reserved for the copy, which nobody uses.
    unsafe { write_volatile(DESCRIPTOR_COPY.start as *mut u32, 0) };
}

/// Copies the descriptor memory word by word, up to the length in its header.
///
/// # Safety
/// `copy` must be [`DESCRIPTOR_COPY`], unused by anybody. The PL must be out of reset.
unsafe fn copy_words(copy: *mut u32) -> Result<(), Error> {
    if !devcfg::is_configured() {
        return Err(Error::Absent);
    }
    let source = PL_DESCRIPTOR.start as *const u32;
    let mut header = [0; HEADER];
    for (word, bytes) in header.chunks_exact_mut(4).enumerate() {
        // SAFETY: the PL is programmed, so the memory responds; the header lies within it.
        bytes.copy_from_slice(&unsafe { read_volatile(source.add(word)) }.to_le_bytes());
    }
    let length = announced_length(&header)?;
    if length > PL_DESCRIPTOR.len().min(DESCRIPTOR_COPY.len()) {
        return Err(Error::Truncated);
    }
    for word in 0..length.div_ceil(4) {
        // SAFETY: the word lies within both memories, as `length` does, and the programmed PL
        // responds.
        unsafe { write_volatile(copy.add(word), read_volatile(source.add(word))) };
    }
    Ok(())
}

fn copy() -> &'static [u8] {
    // SAFETY: the region is reserved for the copy; nobody writes it after `probe`.
    unsafe { core::slice::from_raw_parts(DESCRIPTOR_COPY.start as *const u8, DESCRIPTOR_COPY.len()) }
}

/// The raw bytes of the descriptor found by [`probe`], for another board.
pub fn descriptor_bytes() -> &'static [u8] {
    let copy = copy();
    let length = copy.first_chunk().and_then(|header| announced_length(header).ok());
    &copy[..length.unwrap_or(0).min(copy.len())]
}

/// The descriptor found by [`probe`].
pub fn descriptor() -> Result<Descriptor<'static>, Error> {
    let bytes = copy();
    if bytes[..4] != *descriptor::MAGIC {
        return Err(Error::Absent);
    }
    Descriptor::new(bytes)
}

/// A gateware register, looked up once by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(u32);

impl Register {
    /// Finds the register `name` of at most 32 bits.
    pub fn find(descriptor: &Descriptor, name: &str) -> Option<Self> {
        Self::of(descriptor.register(name)?)
    }

    /// Like [`Self::find`], in a block with several instances: registers of the first have the
    /// plain block name, those of the others have the number appended to it (`satellite_state`,
    /// `satellite1_state`).
    pub fn find_numbered(descriptor: &Descriptor, name: &str, number: usize) -> Option<Self> {
        let (block, field) = name.split_once('_')?;
        let is_it = |name: &str| {
            let between = name.strip_prefix(block).and_then(|name| name.strip_suffix(field));
            match between.and_then(|between| between.strip_suffix('_')) {
                Some("") => number == 0,
                Some(digits) => number > 0 && digits.parse() == Ok(number),
                None => false,
            }
        };
        Self::of(descriptor.registers().find(|register| is_it(register.name))?)
    }

    fn of(register: kairos_proto::descriptor::Register) -> Option<Self> {
        Self::at(register.address).filter(|_| register.width <= 32)
    }

    /// The word at an address of the register space.
    pub fn at(address: u32) -> Option<Self> {
        Self::is_ours(address, 4).then_some(Self(address))
    }

    /// Reads the register.
    pub fn read(self) -> u32 {
        // SAFETY: the address lies in the PL's register space, where reads and writes affect no
        // memory of this core.
        unsafe { read_volatile(self.0 as *const u32) }
    }

    /// Writes the register.
    pub fn write(self, value: u32) {
        // SAFETY: in the same space as for reads, so no memory of this core changes. What the
        // gateware does with the value (a base address for DMA, say) is the caller's concern.
        unsafe { write_volatile(self.0 as *mut u32, value) }
    }

    fn is_ours(address: u32, size: u32) -> bool {
        let range = kairos_intercore::memory::PL_REGISTERS;
        address.is_multiple_of(4)
            && range.contains(&(address as usize))
            && address as usize + size as usize <= range.end
    }
}

/// A register of 33 to 64 bits: high word at the lower address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register64(u32);

impl Register64 {
    /// Finds the register `name` of more than 32 bits.
    pub fn find(descriptor: &Descriptor, name: &str) -> Option<Self> {
        descriptor
            .register(name)
            .filter(|r| r.width > 32 && Register::is_ours(r.address, 8))
            .map(|r| Self(r.address))
    }

    /// Reads the register in two accesses; only for registers that are stable (a latched counter).
    pub fn read(self) -> u64 {
        let (high, low) = (Register(self.0).read(), Register(self.0 + 4).read());
        u64::from(high) << 32 | u64::from(low)
    }

    /// Writes the register in two accesses; only while the logic does not use it.
    pub fn write(self, value: u64) {
        Register(self.0).write((value >> 32) as u32);
        Register(self.0 + 4).write(value as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_outside_register_space_are_not_exported() {
        let bytes = crate::described::bytes(&[
            ("good", 0x4001_0008, 32, 3),
            ("wide", 0x4001_0010, 64, 3),
            ("ddr_", 0x0010_0000, 32, 3),
            ("last", 0x4001_fffc, 64, 3),
            ("odd_", 0x4001_0002, 16, 3),
            ("sa_b", 0x4001_0020, 8, 3),
            ("s1_b", 0x4001_0024, 8, 3),
            ("st_b", 0x4001_0028, 8, 3),
        ]);
        let d = Descriptor::new(&bytes).ok().unwrap();
        assert_eq!(Register::find(&d, "good"), Some(Register(0x4001_0008)));
        assert_eq!(Register64::find(&d, "wide"), Some(Register64(0x4001_0010)));
        for name in ["wide", "ddr_", "odd_", "none"] {
            assert_eq!(Register::find(&d, name), None, "{name}");
        }
        let numbered = |name, number| Register::find_numbered(&d, name, number);
        assert_eq!(numbered("sa_b", 0), Some(Register(0x4001_0020)));
        assert_eq!(numbered("s_b", 1), Some(Register(0x4001_0024)));
        assert_eq!([numbered("s_b", 0), numbered("s_b", 2), numbered("sa_b", 1)], [None; 3]);
        for name in ["good", "last"] {
            assert_eq!(Register64::find(&d, name), None, "{name}");
        }
    }
}
