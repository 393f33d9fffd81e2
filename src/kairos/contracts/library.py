"""Kernel libraries: entries of the dynamic section, and bytes of the ELF header, beyond the kernel ABI.

Generated from src/contracts/library.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["DT_CALLS", "DT_CALLS_SIZE", "FINGERPRINT", "FINGERPRINT_BYTES"]

DT_CALLS = 0x6B61_6900
"""Address of a table of u32: places of the branches to stubs, which can go to the firmware's functions directly."""

DT_CALLS_SIZE = 0x6B61_6901
"""Bytes of that table."""

FINGERPRINT = 9
"""Offset in the ELF header, where its padding is, of what tells which lines of the source a library has: a hash of all
that the linker wrote. A library that is kept and gets other arrays keeps it. It is in memory where the library is."""

FINGERPRINT_BYTES = 7
"""Its bytes."""
