//! Starts a firmware: copies it into place, restores the state after reset, and jumps.

use core::arch::asm;

use aarch32_cpu::register::Sctlr;
use kairos_intercore::memory::RUNTIME;
use kairos_proto::boot_image::Partition;
use kairos_proto::firmware::{Error, Firmware};
use zynq7000_hal::{cache, l2_cache};

use crate::network::Hardware;

/// Starts the firmware in an ELF file.
pub fn elf(file: &[u8], network: &mut Hardware) -> Result<core::convert::Infallible, Error> {
    let firmware = Firmware::parse(file, RUNTIME)?;
    for segment in firmware.segments() {
        place(segment.address, segment.data, segment.size as usize)?;
    }
    run(firmware.entry, network)
}

/// Copies a partition of a boot image to its destination.
pub fn partition(partition: &Partition) -> Result<(), Error> {
    place(partition.load, partition.data, partition.data.len())
}

/// Writes data to an address, followed by zeros up to `size` bytes.
fn place(address: u32, data: &[u8], size: usize) -> Result<(), Error> {
    let start = address as usize;
    let end = start.checked_add(size).filter(|end| *end <= RUNTIME.end);
    if end.is_none() || start < RUNTIME.start || data.len() > size {
        return Err(Error::Occupied(address));
    }
    // SAFETY: within the memory of the runtime, which nothing uses yet.
    let place = unsafe { core::slice::from_raw_parts_mut(start as *mut u8, size) };
    place[..data.len()].copy_from_slice(data);
    place[data.len()..].fill(0);
    Ok(())
}

/// Starts the firmware in memory.
pub fn run(entry: u32, network: &mut Hardware) -> ! {
    log::info!("starting the firmware at {entry:#010x}");
    network.stop();
    // SAFETY: nothing called from here on needs more than registers and a stack in memory. Memory
    // is mapped one to one, so execution continues at the same address with the MMU off.
    unsafe {
        cache::clean_and_invalidate_data_cache();
        l2_cache::disable();
        Sctlr::modify(|register| {
            register.set_c(false);
            register.set_m(false);
            register.set_i(false);
        });
        asm!(
            "dsb",
            "isb",
            "mcr p15, 0, {zero}, c8, c7, 0",  // TLBs
            "mcr p15, 0, {zero}, c7, c5, 0",  // instruction cache
            "mcr p15, 0, {zero}, c7, c5, 6",  // branch predictor
            "dsb",
            "isb",
            "cpsid aif, #0x13",
            "bx {entry}",
            zero = in(reg) 0,
            entry = in(reg) entry,
            options(noreturn)
        )
    }
}
