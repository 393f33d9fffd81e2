"""Kernel libraries: entries of the dynamic section, and bytes of the ELF header, beyond the kernel ABI.

Generated from src/contracts/library.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["DT_CALLS", "DT_CALLS_SIZE", "FINGERPRINT", "FINGERPRINT_BYTES"]

DT_CALLS = 0x6B61_6900
"""Address of a table of u32: locations of branches to stubs, which may be redirected to the firmware's functions."""

DT_CALLS_SIZE = 0x6B61_6901
"""Size of that table in bytes."""

FINGERPRINT = 9
"""Offset in the ELF header, within its padding, of the fingerprint of a library: a hash of everything that the linker
wrote, which identifies its line numbers. It does not change when a cached library is given other arrays, and is present
in memory where the library is loaded."""

FINGERPRINT_BYTES = 7
"""Length of the fingerprint in bytes."""
