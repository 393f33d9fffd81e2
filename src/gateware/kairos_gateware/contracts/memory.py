"""Memory map of the chip as the firmware uses it (`docs/interfaces.md`, section 1).

Generated from src/contracts/memory.toml by src/contracts/generate.py: do not edit.
"""

__all__ = [
    "DDR_END",
    "REMOTE_WINDOW_BYTES",
    "FIRST_STAGE_STACK",
    "LOW",
    "RUNTIME",
    "ETHERNET_DESCRIPTORS",
    "ETHERNET_BUFFERS",
    "REPORT",
    "CHANNEL",
    "DEVICE_MAP",
    "DESCRIPTOR_COPY",
    "KERNEL_IMAGE",
    "KERNEL_LIBRARY",
    "KERNEL_HEAP",
    "KERNEL_GUARD",
    "KERNEL_STACK",
    "DMA",
    "REMOTE",
    "REMOTE_RINGS",
    "ANALYZER",
    "STREAM",
    "PL_DESCRIPTOR",
    "PL_REGISTERS",
    "REMOTE_WINDOW",
    "FIRST_STAGE",
    "BOOT_FIRMWARE",
    "BOOT_GATEWARE",
    "BOOT_IMAGE",
    "LOADER",
]

DDR_END = 0x1000_0000
"""Everything the firmware uses of the DDR lies below this address: 256 MiB, the smallest supported board."""

REMOTE_WINDOW_BYTES = 0x1000_0000
"""Of each board's memory, from its first byte on, in the window to other boards' memory."""

FIRST_STAGE_STACK = 0xFFFF_FE00
"""While booting: upper end of the first stage's stack, in the fourth block of on-chip memory, below what the boot ROM
keeps for the core that waits there."""

LOW = range(0x00000000, 0x00100000)
"""Low megabyte. A released core 1 starts at address 0: the runtime puts a branch there. Afterwards not accessible (null
pointers fault)."""

RUNTIME = range(0x00100000, 0x06000000)
"""Runtime (core 0): image, heap, stacks."""

ETHERNET_DESCRIPTORS = range(0x06000000, 0x06100000)
"""Ethernet descriptors, mapped as device memory."""

ETHERNET_BUFFERS = range(0x06100000, 0x06200000)
"""Ethernet frames to send, not cached."""

REPORT = range(0x06200000, 0x06300000)
"""What a failing core has said, for the next start; not cached; neither loader nor start-up code writes here."""

CHANNEL = range(0x07000000, 0x070E0000)
"""Inter-core channel, cached and shared."""

DEVICE_MAP = range(0x070E0000, 0x070F0000)
"""Names of RTIO channels: length u32, then the value of the key `device_map`, checked; put there by the runtime before
it releases core 1 (`src/pl/src/names.rs`). Length 0: none."""

DESCRIPTOR_COPY = range(0x070F0000, 0x07100000)
"""Copy of the gateware descriptor, made by the runtime before it releases core 1; zero without gateware."""

KERNEL_IMAGE = range(0x08000000, 0x09000000)
"""Kernel core (core 1): its image; the first instruction is its entry point."""

KERNEL_LIBRARY = range(0x09000000, 0x0A000000)
"""The user's kernel library, loaded and relocated."""

KERNEL_HEAP = range(0x0A000000, 0x0B000000)
"""Heap of the kernel core."""

KERNEL_GUARD = range(0x0B000000, 0x0C000000)
"""Guard below the kernel stack, which core 1 unmaps: a stack that overflows faults there, if what is put onto it at
once is no longer than this."""

KERNEL_STACK = range(0x0C000000, 0x0E000000)
"""Kernel stack, growing down from the end."""

DMA = range(0x0E000000, 0x0FE00000)
"""DMA traces, kept by the kernel core; not cached: the gateware reads them."""

REMOTE = range(0x0FE00000, 0x0FEFF000)
"""What kernels let other boards read and write, and copy to them; not cached: the gateware gets there through an HP
port."""

REMOTE_RINGS = range(0x0FEFF000, 0x0FF00000)
"""Rings of descriptors of copies to other boards, a KiB for each link; likewise."""

ANALYZER = range(0x0FF00000, 0x0FF80000)
"""Ring of the analyzer; not cached."""

STREAM = range(0x0FF80000, 0x10000000)
"""Words that the pulse core reads, put there by the kernel core; not cached: the gateware reads them through an HP
port."""

PL_DESCRIPTOR = range(0x40000000, 0x40010000)
"""PL, port GP0: descriptor memory, read only."""

PL_REGISTERS = range(0x40010000, 0x40020000)
"""PL, port GP0: registers, found by name in the descriptor."""

REMOTE_WINDOW = range(0x80000000, 0xC0000000)
"""PL, port GP1: memory of the boards at the other ends of this one's links, 256 MiB each, where the gateware has remote
memory; Strongly-ordered. Else not accessible."""

FIRST_STAGE = range(0x00000000, 0x00030000)
"""The three blocks of on-chip memory into which the boot ROM puts the first stage of the loader."""

BOOT_FIRMWARE = range(0x08000000, 0x0A000000)
"""A firmware that the loader receives, before it is put into place."""

BOOT_GATEWARE = range(0x0A000000, 0x0C000000)
"""A bitstream that the loader receives or reads."""

BOOT_IMAGE = range(0x0C000000, 0x0E000000)
"""The boot image that the loader has read from the card."""

LOADER = range(0x0F000000, 0x0F800000)
"""Second stage of the loader."""
