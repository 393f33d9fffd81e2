//! Memory map of the chip as the firmware uses it (`docs/interfaces.md`, section 1).
//!
//! Generated from `src/contracts/memory.toml` by `src/contracts/generate.py`: do not edit.

/// End of the DDR used by the firmware: 256 MiB, the size on the smallest supported board.
pub const DDR_END: usize = 1 << 28;

/// Size of each board's memory, from address 0 on, in the window to other boards' memory.
pub const REMOTE_WINDOW_BYTES: usize = 1 << 28;

/// While booting: upper end of the first stage's stack, in the fourth block of on-chip memory, below the area reserved
/// by the boot ROM for the waiting core.
pub const FIRST_STAGE_STACK: usize = 0xffff_fe00;

/// A range of physical addresses; the MMU maps all of them one to one.
pub type Region = core::ops::Range<usize>;

/// Low megabyte. A released core 1 starts at address 0: the runtime puts a branch there. Inaccessible afterwards, so
/// that null pointers fault.
pub const LOW: Region = 0x0000_0000..0x0010_0000;

/// Runtime (core 0): image, heap, stacks.
pub const RUNTIME: Region = 0x0010_0000..0x0600_0000;

/// Ethernet descriptors, mapped as device memory.
pub const ETHERNET_DESCRIPTORS: Region = 0x0600_0000..0x0610_0000;

/// Ethernet frames to send, not cached.
pub const ETHERNET_BUFFERS: Region = 0x0610_0000..0x0620_0000;

/// Last message of a failing core, kept for the next start; not cached; not written by loader or start-up code.
pub const REPORT: Region = 0x0620_0000..0x0630_0000;

/// Inter-core memory, cached and shared.
pub const INTERCORE: Region = 0x0700_0000..0x070e_0000;

/// Names of RTIO channels: length u32, then the value of the key `device_map`, checked; written by the runtime before
/// it releases core 1 (`src/firmware/pl/src/names.rs`). Length 0: none.
pub const DEVICE_MAP: Region = 0x070e_0000..0x070f_0000;

/// Copy of the gateware descriptor, made by the runtime before it releases core 1; zero without gateware.
pub const DESCRIPTOR_COPY: Region = 0x070f_0000..0x0710_0000;

/// Messages that other boards store through the coherent port, if a kernel exports it; cached.
pub const MAILBOX: Region = 0x0710_0000..0x0720_0000;

/// Kernel core (core 1): its image; the first instruction is its entry point.
pub const KERNEL_IMAGE: Region = 0x0800_0000..0x0900_0000;

/// The user's kernel library, loaded and relocated.
pub const KERNEL_LIBRARY: Region = 0x0900_0000..0x0a00_0000;

/// Heap of the kernel core.
pub const KERNEL_HEAP: Region = 0x0a00_0000..0x0b00_0000;

/// Guard below the kernel stack, which core 1 unmaps: a stack overflow faults here, unless a single allocation exceeds
/// the guard.
pub const KERNEL_GUARD: Region = 0x0b00_0000..0x0c00_0000;

/// Kernel stack, growing down from the end.
pub const KERNEL_STACK: Region = 0x0c00_0000..0x0e00_0000;

/// DMA traces, kept by the kernel core; not cached: the gateware reads them.
pub const DMA: Region = 0x0e00_0000..0x0fe0_0000;

/// Memory that kernels export or copy to other boards; not cached: the gateware accesses it through an HP port.
pub const REMOTE: Region = 0x0fe0_0000..0x0fef_f000;

/// Descriptor rings for copies to other boards, 1 KiB per link; not cached either.
pub const REMOTE_RINGS: Region = 0x0fef_f000..0x0ff0_0000;

/// Ring of the analyzer; not cached.
pub const ANALYZER: Region = 0x0ff0_0000..0x0ff8_0000;

/// Words for the pulse core, written by the kernel core; not cached: the gateware reads them through an HP port.
pub const STREAM: Region = 0x0ff8_0000..0x1000_0000;

/// PL, port GP0: descriptor memory, read only.
pub const PL_DESCRIPTOR: Region = 0x4000_0000..0x4001_0000;

/// PL, port GP0: registers, found by name in the descriptor.
pub const PL_REGISTERS: Region = 0x4001_0000..0x4002_0000;

/// Block in the logic, if the gateware has one that kernels may export: an address of the logic's own bus, where other
/// boards' loads, stores and copies arrive.
pub const PL_BLOCK: Region = 0x4100_0000..0x4110_0000;

/// PL, port GP1: memory of the boards at the other ends of this one's links, 256 MiB each, if the gateware has remote
/// memory; Strongly-ordered. Otherwise inaccessible.
pub const REMOTE_WINDOW: Region = 0x8000_0000..0xc000_0000;

/// The three blocks of on-chip memory into which the boot ROM loads the first stage of the loader.
pub const FIRST_STAGE: Region = 0x0000_0000..0x0003_0000;

/// Firmware received by the loader, before it is moved to its place.
pub const BOOT_FIRMWARE: Region = 0x0800_0000..0x0a00_0000;

/// Bitstream received or read by the loader.
pub const BOOT_GATEWARE: Region = 0x0a00_0000..0x0c00_0000;

/// Boot image read from the card by the loader.
pub const BOOT_IMAGE: Region = 0x0c00_0000..0x0e00_0000;

/// Second stage of the loader.
pub const LOADER: Region = 0x0f00_0000..0x0f80_0000;
