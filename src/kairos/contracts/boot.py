"""Boot image: the loader's table of boards (`docs/interfaces.md`, section 1).

Generated from src/contracts/boot.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["MARKER", "NAME", "ASSUMED"]

MARKER = b"KAIROS BOARDS 1\x00"
"""In front of the table, and nowhere else in the loader."""

NAME = 16
"""Bytes of a board's name, with at least one zero behind it."""

ASSUMED = 112
"""Bytes of what no public source confirms of a board, with at least one zero behind it."""
