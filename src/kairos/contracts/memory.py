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
    "INTERCORE",
    "DEVICE_MAP",
    "DESCRIPTOR_COPY",
    "MAILBOX",
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
    "PL_BLOCK",
    "REMOTE_WINDOW",
    "FIRST_STAGE",
    "BOOT_FIRMWARE",
    "BOOT_GATEWARE",
    "BOOT_IMAGE",
    "LOADER",
]

DDR_END = 0x1000_0000
"""End of the DDR used by the firmware: 256 MiB, the size on the smallest supported board."""

REMOTE_WINDOW_BYTES = 0x1000_0000
"""Size of each board's memory, from address 0 on, in the window to other boards' memory."""

FIRST_STAGE_STACK = 0xFFFF_FE00
"""While booting: upper end of the first stage's stack, in the fourth block of on-chip memory, below the area reserved
by the boot ROM for the waiting core."""

LOW = range(0x00000000, 0x00100000)
"""Low megabyte. A released core 1 starts at address 0: the runtime puts a branch there. Inaccessible afterwards, so
that null pointers fault."""

RUNTIME = range(0x00100000, 0x06000000)
"""Runtime (core 0): image, heap, stacks."""

ETHERNET_DESCRIPTORS = range(0x06000000, 0x06100000)
"""Ethernet descriptors, mapped as device memory."""

ETHERNET_BUFFERS = range(0x06100000, 0x06200000)
"""Ethernet frames to send, not cached."""

REPORT = range(0x06200000, 0x06300000)
"""Last message of a failing core, kept for the next start; not cached; not written by loader or start-up code."""

INTERCORE = range(0x07000000, 0x070E0000)
"""Inter-core memory, cached and shared."""

DEVICE_MAP = range(0x070E0000, 0x070F0000)
"""Names of RTIO channels: length u32, then the value of the key `device_map`, checked; written by the runtime before it
releases core 1 (`src/firmware/pl/src/names.rs`). Length 0: none."""

DESCRIPTOR_COPY = range(0x070F0000, 0x07100000)
"""Copy of the gateware descriptor, made by the runtime before it releases core 1; zero without gateware."""

MAILBOX = range(0x07100000, 0x07200000)
"""Messages that other boards store through the coherent port, if a kernel exports it; cached."""

KERNEL_IMAGE = range(0x08000000, 0x09000000)
"""Kernel core (core 1): its image; the first instruction is its entry point."""

KERNEL_LIBRARY = range(0x09000000, 0x0A000000)
"""The user's kernel library, loaded and relocated."""

KERNEL_HEAP = range(0x0A000000, 0x0B000000)
"""Heap of the kernel core."""

KERNEL_GUARD = range(0x0B000000, 0x0C000000)
"""Guard below the kernel stack, which core 1 unmaps: a stack overflow faults here, unless a single allocation exceeds
the guard."""

KERNEL_STACK = range(0x0C000000, 0x0E000000)
"""Kernel stack, growing down from the end."""

DMA = range(0x0E000000, 0x0FE00000)
"""DMA traces, kept by the kernel core; not cached: the gateware reads them."""

REMOTE = range(0x0FE00000, 0x0FEFF000)
"""Memory that kernels export or copy to other boards; not cached: the gateware accesses it through an HP port."""

REMOTE_RINGS = range(0x0FEFF000, 0x0FF00000)
"""Descriptor rings for copies to other boards, 1 KiB per link; not cached either."""

ANALYZER = range(0x0FF00000, 0x0FF80000)
"""Ring of the analyzer; not cached."""

STREAM = range(0x0FF80000, 0x10000000)
"""Words for the pulse core, written by the kernel core; not cached: the gateware reads them through an HP port."""

PL_DESCRIPTOR = range(0x40000000, 0x40010000)
"""PL, port GP0: descriptor memory, read only."""

PL_REGISTERS = range(0x40010000, 0x40020000)
"""PL, port GP0: registers, found by name in the descriptor."""

PL_BLOCK = range(0x41000000, 0x41100000)
"""Block in the logic, if the gateware has one that kernels may export: an address of the logic's own bus, where other
boards' loads, stores and copies arrive."""

REMOTE_WINDOW = range(0x80000000, 0xC0000000)
"""PL, port GP1: memory of the boards at the other ends of this one's links, 256 MiB each, if the gateware has remote
memory; Strongly-ordered. Otherwise inaccessible."""

FIRST_STAGE = range(0x00000000, 0x00030000)
"""The three blocks of on-chip memory into which the boot ROM loads the first stage of the loader."""

BOOT_FIRMWARE = range(0x08000000, 0x0A000000)
"""Firmware received by the loader, before it is moved to its place."""

BOOT_GATEWARE = range(0x0A000000, 0x0C000000)
"""Bitstream received or read by the loader."""

BOOT_IMAGE = range(0x0C000000, 0x0E000000)
"""Boot image read from the card by the loader."""

LOADER = range(0x0F000000, 0x0F800000)
"""Second stage of the loader."""
