"""Boot image: the loader's table of boards (`docs/interfaces.md`, section 1).

Generated from src/contracts/boot.toml by src/contracts/generate.py: do not edit.
"""

__all__ = ["MARKER", "NAME", "ASSUMED"]

MARKER = b"KAIROS BOARDS 1\x00"
"""Marker before the table; occurs nowhere else in the loader."""

NAME = 16
"""Bytes of a board's name, zero-terminated."""

ASSUMED = 112
"""Bytes of the text listing the assumptions about a board without public confirmation, zero-terminated."""
