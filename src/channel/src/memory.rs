//! Memory map of the chip as the firmware uses it (`docs/interfaces.md`, section 1).
//!
//! The linker's scripts of the images are made from it (`src/layout`); `tests/firmware/test_images.py` looks at the linked
//! images.

use core::ops::Range;

/// A range of physical addresses; the MMU maps all of them one to one.
pub type Region = Range<usize>;

/// Low megabyte. A core released from reset starts at address 0: the runtime puts a branch there.
pub const LOW: Region = 0x0000_0000..0x0010_0000;
/// Runtime (core 0): image, heap, stacks.
pub const RUNTIME: Region = 0x0010_0000..0x0600_0000;
/// Ethernet descriptors, one megabyte mapped as device memory.
pub const ETHERNET_DESCRIPTORS: Region = 0x0600_0000..0x0610_0000;
/// Ethernet frames to send, one megabyte mapped as memory that is not cached.
pub const ETHERNET_BUFFERS: Region = 0x0610_0000..0x0620_0000;
/// What a failing core says before a reset, and the next start reports: not cached, and neither cleared nor used while
/// booting.
pub const REPORT: Region = 0x0620_0000..0x0630_0000;
/// The inter-core channel: one [`crate::Shared`] at its start. Cached, shareable.
pub const CHANNEL: Region = 0x0700_0000..0x070e_0000;
/// Names of RTIO channels from the configuration (`kairos_pl::names`), put there by the runtime at boot.
pub const DEVICE_MAP: Region = 0x070e_0000..0x070f_0000;
/// Copy of the gateware descriptor, made by the runtime at boot. All zero when there is no gateware.
pub const DESCRIPTOR_COPY: Region = 0x070f_0000..0x0710_0000;
/// Image of the kernel core. Its first instruction is its entry point.
pub const KERNEL_IMAGE: Region = 0x0800_0000..0x0900_0000;
/// The user's kernel library, relocated.
pub const KERNEL_LIBRARY: Region = 0x0900_0000..0x0a00_0000;
/// Heap of the kernel core.
pub const KERNEL_HEAP: Region = 0x0a00_0000..0x0b00_0000;
/// Below the stack of the kernel core, which unmaps it: a stack that overflows faults there, if what is put onto it at once is no
/// longer than this.
pub const KERNEL_GUARD: Region = 0x0b00_0000..0x0c00_0000;
/// Stack of the kernel core, growing down from the end.
pub const KERNEL_STACK: Region = 0x0c00_0000..0x0e00_0000;
/// DMA traces. Not cached: the gateware reads it.
pub const DMA: Region = 0x0e00_0000..0x0ff0_0000;
/// What the analyzer writes. Not cached.
pub const ANALYZER: Region = 0x0ff0_0000..0x1000_0000;
/// Everything the firmware uses lies below this address: 256 MiB, the smallest supported board.
pub const DDR_END: usize = 0x1000_0000;

/// While booting: what the loader receives or reads before it puts it into place, where later the kernel core is.
pub const BOOT_FIRMWARE: Region = 0x0800_0000..0x0a00_0000;
pub const BOOT_GATEWARE: Region = 0x0a00_0000..0x0c00_0000;
pub const BOOT_IMAGE: Region = 0x0c00_0000..0x0e00_0000;
/// While booting: the three blocks of on-chip memory into which the boot ROM puts the first stage of the loader, and the upper
/// end of its stack, in the fourth, below what the ROM keeps for the core that waits there.
pub const FIRST_STAGE: Region = 0x0000_0000..0x0003_0000;
pub const FIRST_STAGE_STACK: usize = 0xffff_fe00;
/// While booting: second stage of the loader.
pub const LOADER: Region = 0x0f00_0000..0x0f80_0000;

/// Descriptor memory of the gateware, port GP0, read only.
pub const PL_DESCRIPTOR: Region = 0x4000_0000..0x4001_0000;
/// Registers of the gateware, port GP0; each is found by name in the descriptor.
pub const PL_REGISTERS: Region = 0x4001_0000..0x4002_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_ordered_and_do_not_overlap() {
        let all = [
            LOW,
            RUNTIME,
            ETHERNET_DESCRIPTORS,
            ETHERNET_BUFFERS,
            REPORT,
            CHANNEL,
            DEVICE_MAP,
            DESCRIPTOR_COPY,
            KERNEL_IMAGE,
            KERNEL_LIBRARY,
            KERNEL_HEAP,
            KERNEL_GUARD,
            KERNEL_STACK,
            DMA,
            ANALYZER,
            PL_DESCRIPTOR,
            PL_REGISTERS,
        ];
        for pair in all.windows(2) {
            assert!(pair[0].start < pair[0].end && pair[0].end <= pair[1].start, "{pair:x?}");
        }
        assert_eq!(ANALYZER.end, DDR_END);
        let booting = [
            RUNTIME,
            ETHERNET_DESCRIPTORS,
            ETHERNET_BUFFERS,
            REPORT,
            BOOT_FIRMWARE,
            BOOT_GATEWARE,
            BOOT_IMAGE,
            LOADER,
        ];
        for pair in booting.windows(2) {
            assert!(pair[0].end <= pair[1].start, "{pair:x?}");
        }
        const { assert!(LOADER.end <= DDR_END) };
        assert!(core::mem::size_of::<crate::Shared>() <= CHANNEL.len());
    }
}
